"""All that a link can hold: every name after the "?", its type and range, its default, and its page.

This is the only description of it. `viz.linked` reads and writes the link by these keys. Needs no streamlit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_args

from model_core.config import Strategy
from model_core.trace import SITES, Site
from model_core.training.live import MOST, LiveSettings
from viz.link_kinds import Decimal, Kind, Named, OneOf, Position, Several, Switch, Text, Whole
from viz.link_values import Cell, Cells, ForcedPieces, ForcedStart, Heads, HeadSet, Ids, TurnedCells

T = TypeVar("T")
Page = Literal["attend", "decode", "masks", "positions", "meaning", "inside", "learn"]
EVERY_PAGE = None


@dataclass(frozen=True, eq=False)
class Key(Generic[T]):
    """One name in a link.

    `page` is the page that it belongs to, or EVERY_PAGE. `kind` says how its values are spelled and which there are.
    `default` is its value where the link has none that can be read, and stands in no link. What belongs to every page,
    and what is `remembered`, is kept for the next visit to a page. What is `bound` is written by Streamlit, when its
    widget is used; nothing else may change it.
    """

    name: str
    page: Page | None
    kind: Kind[T]
    default: T
    remembered: bool = False
    bound: bool = False

    def value(self, texts: Sequence[str]) -> T:
        """The value of the texts under this name in a link; the default where there are none, or none can be read."""
        found = self.kind.read(texts) if texts else None
        return self.default if found is None else found

    def change(self, value: T, default: T | None = None) -> LinkChange:
        """This value in a link. The key's default, or the `default` of the widget, is left out of it."""
        plain = value == self.default or (default is not None and value == default)
        return LinkChange(self, () if plain else tuple(self.kind.spell(value)))

    @property
    def options(self) -> tuple[T, ...]:
        """The values of a choice. Raises TypeError where the key is none."""
        if not isinstance(self.kind, OneOf):
            raise TypeError(f"{self.name} is no choice of a few values.")
        return self.kind.options


@dataclass(frozen=True)
class LinkChange:
    """A key's new texts in a link; none take it out."""

    key: Key[Any]
    texts: tuple[str, ...]


_declared: list[Key[Any]] = []


def _key(
    name: str, page: Page | None, kind: Kind[T], default: T, *, remembered: bool = False, bound: bool = False
) -> Key[T]:
    key = Key(name, page, kind, default, remembered or page is EVERY_PAGE, bound)
    _declared.append(key)
    return key


# Every page.
Mean = Literal["mean"]
MEAN: Mean = "mean"
CHECKPOINT: Key[str | None] = _key("checkpoint", EVERY_PAGE, Text(), None)
TEXT: Key[str | None] = _key("text", EVERY_PAGE, Text(), None)
LETTERS: Key[str | None] = _key("letters", EVERY_PAGE, Text(), None)  # the sentence of a model that copies
SITE: Key[Site | None] = _key("site", EVERY_PAGE, OneOf(SITES), None)
LAYER: Key[int | None] = _key("layer", EVERY_PAGE, Position(), None)
HEAD: Key[int | Mean | None] = _key("head", EVERY_PAGE, Named[int | Mean]({MEAN: MEAN}, Position()), None)
TOKEN: Key[int | None] = _key("token", EVERY_PAGE, Position(), None)  # of the source
STEP: Key[int | None] = _key("step", EVERY_PAGE, Position(), None)  # a row of the decoder

# Attend.
View = Literal["Heatmap", "Lines", "Three sites", "Heads"]
Scale = Literal["linear", "root"]
Range = Literal["0 to 1", "fitted"]
Statistic = Literal["nats", "entropy", "first", "previous", "same", "diagonal", "last"]
Side = Literal["query", "key"]
ATTEND_VIEW: Key[View] = _key("view", "attend", OneOf(get_args(View)), "Heatmap", bound=True)
WORDS = _key("words", "attend", Switch(), False, bound=True)
HIDE = _key("hide", "attend", Switch(), False, bound=True)
RENORMALISE = _key("renormalise", "attend", Switch(), False, bound=True)
SCALE: Key[Scale] = _key("scale", "attend", OneOf(get_args(Scale)), "linear", bound=True)
RANGE: Key[Range] = _key("range", "attend", OneOf(get_args(Range)), "0 to 1", bound=True)
STATISTIC: Key[Statistic] = _key("statistic", "attend", OneOf(get_args(Statistic)), "entropy")
LINES_HEADS: Key[HeadSet | None] = _key("heads", "attend", Heads(), None)
LINES_MASS: Key[int | None] = _key("mass", "attend", Whole(1, 100), None)  # percent of a row's weight
LINES_PIN: Key[Side | None] = _key("pin", "attend", OneOf(get_args(Side)), None)

# Decode.
Writer = Literal["the model writes", "you write"]
WRITER: Key[Writer] = _key("writer", "decode", OneOf(get_args(Writer)), "the model writes", bound=True)
TARGET = _key("target", "decode", Text(), "", bound=True)
STRATEGY: Key[Strategy] = _key("strategy", "decode", OneOf(get_args(Strategy)), "beam", bound=True)
BEAM = _key("beam", "decode", Whole(2, 12), 5)
PENALTY = _key("penalty", "decode", Decimal(0.0, 2.0), 0.6, bound=True)
TEMPERATURE = _key("temperature", "decode", Decimal(0.1, 3.0), 1.0, bound=True)
TOP_K = _key("topk", "decode", Whole(0, 1000), 0)
TOP_P = _key("topp", "decode", Decimal(0.05, 1.0), 1.0, bound=True)
DRAW_SEED = _key("seed", "decode", Whole(0, 999_999), 0)
FORCE: Key[ForcedStart] = _key("force", "decode", ForcedPieces(), ForcedStart())
HYPOTHESIS: Key[tuple[int, ...]] = _key("hypothesis", "decode", Ids(), ())

# Masks.
Row = Literal["first", "second"]
Reach = Literal["this head", "this layer", "all layers"]
SECOND: Key[str | None] = _key("second", "masks", Text(), None, bound=True)  # None: the page's own example
SECOND_LETTERS: Key[str | None] = _key("letters2", "masks", Text(), None, bound=True)
ROW: Key[Row] = _key("row", "masks", OneOf(get_args(Row)), "first")
PADDING = _key("padding", "masks", Switch(), True)
CAUSAL = _key("causal", "masks", Switch(), True)
OFF: Key[TurnedCells] = _key("off", "masks", Cells(), TurnedCells())
ON: Key[TurnedCells] = _key("on", "masks", Cells(), TurnedCells())
REACH: Key[Reach] = _key("reach", "masks", OneOf(get_args(Reach)), "all layers", bound=True)

# Positions. What is None is as in the model.
POSITION_RANGE = Whole(4, 256)
PositionsView = Literal["encoding", "sentence", "experiment", "order"]
PositionsChange = Literal["off", "shuffled", "shifted", "off and shuffled"]
Measure = Literal["dot product", "cosine"]
POSITIONS_VIEW: Key[PositionsView | None] = _key("view", "positions", OneOf(get_args(PositionsView)), None)
BASE: Key[int | None] = _key("base", "positions", Whole(1, 999_999_999), None)
D_MODEL: Key[int | None] = _key("d_model", "positions", Whole(1, 999_999), None)
POSITION_COUNT: Key[int | None] = _key("positions", "positions", POSITION_RANGE, None)
DIMENSIONS: Key[tuple[int, ...] | None] = _key("dimensions", "positions", Several(Whole(0, 999_999)), None)
MEASURE: Key[Measure] = _key("measure", "positions", OneOf(get_args(Measure)), "dot product", bound=True)
CHANGE: Key[PositionsChange] = _key("change", "positions", OneOf(get_args(PositionsChange)), "off", bound=True)
SHIFT = _key("shift", "positions", Whole(1, 200), 10, bound=True)
SHUFFLE_SEED = _key("seed", "positions", Whole(0, 9999), 1)
BOTH = _key("both", "positions", Switch(), False, bound=True)
BACK = _key("back", "positions", Switch(), False, bound=True)
ALL_CHANGES = _key("all", "positions", Switch(), False, bound=True)
ORDER_SEED = _key("order", "positions", Whole(0, 9999), 1)

# Meaning.
SenseMap = Literal["between the senses", "widest (PCA)"]
SENTENCES: Key[str | None] = _key("sentences", "meaning", Text(), None, remembered=True)  # one a line
WORD: Key[str | None] = _key("word", "meaning", Text(), None, remembered=True)
DEPTH: Key[int | None] = _key("depth", "meaning", Whole(0, 999), None, remembered=True)  # None: the encoder's output
SENSE_MAP: Key[SenseMap] = _key("map", "meaning", OneOf(get_args(SenseMap)), "between the senses", remembered=True)

# Inside a head.
Projection = Literal["Q", "K", "V"]
STAGE = _key("stage", "inside", Position(11), 0)
PROJECTION: Key[Projection] = _key("projection", "inside", OneOf(get_args(Projection)), "Q", bound=True)
CELL: Key[tuple[int, int] | None] = _key("cell", "inside", Cell(), None)
SHAPE: Key[str | None] = _key("shape", "inside", Text(), None)  # of the model that is built, as `settings_of` reads it

# Learn.
_PROPOSED = LiveSettings()
RATE = _key("rate", "learn", OneOf((0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02)), _PROPOSED.learning_rate)
LAYERS = _key("layers", "learn", OneOf((1, 2, 3)), _PROPOSED.layers)
HEADS = _key("heads", "learn", OneOf((1, 2, 4, 8)), _PROPOSED.heads)
WIDTH = _key("width", "learn", OneOf((16, 32, 64)), _PROPOSED.width)
SMOOTHING = _key("smoothing", "learn", OneOf((0.0, 0.1, 0.2, 0.4)), _PROPOSED.label_smoothing)
STEPS = _key("steps", "learn", OneOf((50, 100, 200, 400, 800, 1200)), _PROPOSED.steps)
TRAINING_SEED = _key("seed", "learn", Whole(1, MOST["seed"]), _PROPOSED.seed)
WITH_POSITIONS = _key("positions", "learn", Switch(), _PROPOSED.positions)
AT: Key[int | None] = _key("at", "learn", Whole(0, 999_999), None)  # the step of the training; None: the last one
RUN: Key[str | None] = _key("run", "learn", Text(), None)  # the training that was started last

KEYS: tuple[Key[Any], ...] = tuple(_declared)


def keys_of(page: Page | None) -> tuple[Key[Any], ...]:
    """The keys that a link to a page can hold: those of every page, and its own."""
    return tuple(key for key in KEYS if key.page in (EVERY_PAGE, page))


def read_link(page: Page | None, query: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The whole link to a page as values by name. `query` has the texts of each name, as `urllib.parse.parse_qs` gives
    them; names that are no keys of the page are left out, and what can't be read is the default."""
    return {key.name: key.value(query.get(key.name, ())) for key in keys_of(page)}
