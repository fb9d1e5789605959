"""The description of the link: complete, unambiguous, and able to read whatever a link says."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from model_core.experiments.masks import MaskCell
from viz.components.head_view.shown import Side as HeadSide
from viz.figures.positions import Similarity
from viz.link import EVERY_PAGE, HEAD, KEYS, LAYER, MEAN, Key, LinkChange, Page, keys_of, read_link
from viz.link_kinds import Decimal, OneOf, Position, Several, Switch, Text, Whole, within
from viz.link_values import ForcedStart, HeadSet, TurnedCells
from viz.navigation import ENTRIES
from viz.panels.inside.stages import PROJECTIONS, STAGES

ROOT = Path(__file__).parents[2]
LINKS: list[tuple[str, str, str, Any]] = [  # page, name, text in the link, value
    ("attend", "checkpoint", "copy", "copy"),
    ("attend", "text", "How are you?", "How are you?"),
    ("attend", "text", "", ""),
    ("masks", "letters", "a b c", "a b c"),
    ("learn", "site", "decoder_self", "decoder_self"),
    ("inside", "layer", "3", 2),
    ("attend", "head", "8", 7),
    ("attend", "head", "mean", MEAN),
    ("meaning", "token", "1", 0),
    ("decode", "step", "12", 11),
    ("attend", "view", "Three sites", "Three sites"),
    ("attend", "words", "true", True),
    ("attend", "hide", "true", True),
    ("attend", "renormalise", "true", True),
    ("attend", "scale", "root", "root"),
    ("attend", "range", "fitted", "fitted"),
    ("attend", "statistic", "nats", "nats"),
    ("attend", "heads", "1,3", HeadSet((0, 2))),
    ("attend", "heads", "all", HeadSet(everything=True)),
    ("attend", "heads", "none", HeadSet()),
    ("attend", "mass", "60", 60),
    ("attend", "pin", "key", "key"),
    ("decode", "writer", "you write", "you write"),
    ("decode", "target", "Ça va ?", "Ça va ?"),
    ("decode", "strategy", "sample", "sample"),
    ("decode", "beam", "7", 7),
    ("decode", "penalty", "1.2", 1.2),
    ("decode", "penalty", "1", 1.0),
    ("decode", "temperature", "0.7", 0.7),
    ("decode", "topk", "40", 40),
    ("decode", "topp", "0.9", 0.9),
    ("decode", "seed", "999999", 999_999),
    ("decode", "force", "12-300f-8-41f", ForcedStart((12, 300, 8, 41), (1, 3))),
    ("decode", "hypothesis", "12-55-2", (12, 55, 2)),
    ("masks", "second", "No.", "No."),
    ("masks", "second", "", ""),
    ("masks", "letters2", "c a", "c a"),
    ("masks", "row", "second", "second"),
    ("masks", "padding", "false", False),
    ("masks", "causal", "false", False),
    ("masks", "off", "cross-3-2", TurnedCells(frozenset({MaskCell("cross", 2, 1)}))),
    ("masks", "on", "decoder_self-1-5-2-8", TurnedCells(frozenset({MaskCell("decoder_self", 0, 4, 1, 7)}))),
    ("masks", "reach", "this head", "this head"),
    ("positions", "view", "order", "order"),
    ("positions", "base", "30", 30),
    ("positions", "d_model", "32", 32),
    ("positions", "positions", "256", 256),
    ("positions", "measure", "cosine", "cosine"),
    ("positions", "change", "off and shuffled", "off and shuffled"),
    ("positions", "shift", "200", 200),
    ("positions", "seed", "9", 9),
    ("positions", "both", "true", True),
    ("positions", "back", "true", True),
    ("positions", "all", "true", True),
    ("positions", "order", "7", 7),
    ("meaning", "sentences", "Birds sing.\nWe won!", "Birds sing.\nWe won!"),
    ("meaning", "word", "bank", "bank"),
    ("meaning", "depth", "0", 0),
    ("meaning", "map", "widest (PCA)", "widest (PCA)"),
    ("inside", "stage", "11", 10),
    ("inside", "projection", "V", "V"),
    ("inside", "cell", "3.1", (2, 0)),
    ("inside", "shape", "src=32000,tgt=32000,N=6", "src=32000,tgt=32000,N=6"),
    ("learn", "rate", "0.0005", 0.0005),
    ("learn", "layers", "3", 3),
    ("learn", "heads", "8", 8),
    ("learn", "width", "16", 16),
    ("learn", "smoothing", "0.1", 0.1),
    ("learn", "steps", "1200", 1200),
    ("learn", "seed", "9999", 9999),
    ("learn", "positions", "false", False),
    ("learn", "at", "75", 75),
    ("learn", "run", "0badcafe", "0badcafe"),
]
NONSENSE = (
    "",
    "1e400",
    "-inf",
    "nan",
    "-1",
    "2.5.1",
    "９",
    "²",
    "9" * 5000,
    "true ",
    "<b>",
    "\x00",
    "0x10",
    "-",
    ".",
    ",",
)


def key_of(page: str, name: str) -> Key[Any]:
    return next(key for key in KEYS if key.name == name and key.page in (EVERY_PAGE, page))


@pytest.mark.parametrize(("page", "name", "text", "value"), LINKS)
def test_links_of_before_still_say_the_same_and_values_are_spelled_as_before(
    page: Page, name: str, text: str, value: Any
) -> None:
    assert read_link(page, {name: [text]})[name] == value
    key = key_of(page, name)
    assert key.change(value) == LinkChange(key, () if value == key.default else (text,))


def test_several_dimensions_are_repeated_under_their_name() -> None:
    key = key_of("positions", "dimensions")
    assert read_link("positions", {"dimensions": ["3", "x", "5", "3"]})["dimensions"] == (3, 5)
    assert key.change((3, 5)).texts == ("3", "5")
    assert read_link("positions", {"dimensions": ["none"]})["dimensions"] == () and key.change(()).texts == ("none",)
    assert read_link("positions", {"dimensions": ["x", "none"]})["dimensions"] is None


def test_every_key_of_a_page_is_tried_above() -> None:
    tried = {id(key_of(page, name)) for page, name, _, _ in LINKS} | {id(key_of("positions", "dimensions"))}
    assert [key.name for key in KEYS if id(key) not in tried] == []


def test_a_name_means_one_thing_on_a_page() -> None:
    assert {entry.name for entry in ENTRIES} == set(get_args(Page))
    for page in get_args(Page):
        names = [key.name for key in keys_of(page)]
        assert len(names) == len(set(names)), page


@pytest.mark.parametrize("page", get_args(Page))
@pytest.mark.parametrize("text", NONSENSE)
def test_what_cannot_be_read_is_the_default(page: Page, text: str) -> None:
    defaults = read_link(page, {})
    assert defaults == {key.name: key.default for key in keys_of(page)}
    for name, value in read_link(page, {key.name: [text] for key in keys_of(page)}).items():
        key = key_of(page, name)
        if isinstance(key.kind, Text):
            assert value == text
        elif isinstance(value, TurnedCells):
            assert not value.cells
        else:
            assert value == key.default, name


def test_names_that_a_page_does_not_know_are_left_out() -> None:
    assert "stage" not in read_link("attend", {"stage": ["3"], "utm_source": ["x"]})
    assert read_link("inside", {"stage": ["3"]})["stage"] == 2


def test_the_last_of_several_texts_counts() -> None:
    assert LAYER.value(["1", "4"]) == 3 and HEAD.value([]) is None


def test_a_default_of_the_widget_is_left_out_as_well() -> None:
    base = key_of("positions", "base")
    assert base.change(10_000, default=10_000).texts == () and base.change(30, default=10_000).texts == ("30",)
    assert LAYER.change(None).texts == () and LAYER.change(0).texts == ("1",)


@pytest.mark.parametrize("text", ["0", "6", "-1", "two", "³", "1e1", ""])
def test_a_position_that_is_not_there_is_none(text: str) -> None:
    assert Position(5).parse(text) is None and Position(5).parse("5") == 4
    assert within(4, 5) == 4 and within(5, 5) is None and within(None, 5) is None


def test_kinds_read_what_they_spell() -> None:
    for kind, value in ((Whole(2, 12), 7), (Decimal(0, 2), 0.6), (Decimal(0, 2), 2.0), (Switch(), True), (Text(), "")):
        assert kind.read(kind.spell(value)) == value
    assert Several(OneOf(("a", "b"))).read(["b", "c", "a"]) == ("b", "a")
    assert Switch().parse("TRUE") is True
    with pytest.raises(TypeError, match="layer is no choice"):
        LAYER.options  # noqa: B018


def test_what_is_offered_is_what_a_link_can_hold() -> None:
    assert key_of("inside", "stage").kind == Position(len(STAGES))
    assert key_of("inside", "projection").options == PROJECTIONS
    assert key_of("positions", "measure").options == get_args(Similarity)
    assert key_of("attend", "pin").options == get_args(HeadSide)


def test_the_description_needs_no_streamlit() -> None:
    code = "import sys, viz.link, viz.selection, viz.languages; sys.exit('streamlit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_only_the_link_module_touches_the_link() -> None:
    """And so no name can be used that the description lacks."""
    faults = []
    for path in sorted((ROOT / "viz").rglob("*.py")):
        if path.name == "linked.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            touches = isinstance(node, ast.Attribute) and node.attr == "query_params"
            binds = isinstance(node, ast.keyword) and node.arg == "bind"
            if touches or binds or (isinstance(node, ast.Constant) and node.value == "query-params"):
                faults.append(f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', '')}")
    assert not faults
