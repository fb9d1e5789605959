"""The rooms of the house, and which imports each may make. The table is the design; `imports.py` applies it."""

from __future__ import annotations

from dataclasses import dataclass

OWN = ("app", "viz", "model_core")  # what the table speaks of by package
SCREEN = ("streamlit", "plotly", "viz", "app")


@dataclass(frozen=True)
class Room:
    """The files whose path starts with one of `where`, and what they may import.

    `own`: packages and modules of the product, besides the room itself. `outside`: packages of others, besides the
    standard library; None lets all in. `never`: exceptions from both. `eager`: those imports that stand outside of
    functions and TYPE_CHECKING may name these modules of the product only; None holds them to `own`.
    """

    where: tuple[str, ...]
    own: tuple[str, ...] = ()
    outside: tuple[str, ...] | None = ()
    never: tuple[str, ...] = ()
    eager: tuple[str, ...] | None = None


def _core(*names: str) -> tuple[str, ...]:
    return tuple(f"model_core.{name}" for name in names)


BASE = _core("config", "sites")  # frozen settings and names
MODEL = (*BASE, *_core("tensors", "model"))
WATCHED = (*MODEL, *_core("interventions"))
FILES = _core("files", "shipped")  # reading, writing and finding files of any kind
PLAIN = (*BASE, *FILES, *_core("text", "trace"))  # no tensors: numpy at most
SEARCHED = (*WATCHED, *PLAIN, *_core("search"))
TRANSLATED = (*SEARCHED, *_core("checkpoint", "translation", "sentence", "building"))
ASKING = (*TRANSLATED, *_core("translator", "data"))  # the translator, and all that it stands on

CORE_ROOMS = (
    Room(("model_core/__init__.py",), own=("model_core",), never=SCREEN, eager=()),
    Room(("model_core/__main__.py",), own=_core("cli")),
    Room(("model_core/sites.py", "model_core/files.py", "model_core/shipped.py")),
    Room(("model_core/config/",), own=_core("sites")),
    Room(("model_core/tensors/",), own=BASE, outside=("torch",)),
    Room(("model_core/model/",), own=MODEL, outside=("torch",)),
    Room(("model_core/interventions/",), own=MODEL, outside=("torch",)),
    Room(("model_core/building.py",), own=MODEL, outside=("torch",)),
    Room(("model_core/text/",), own=BASE, outside=("sentencepiece", "regex")),
    Room(("model_core/trace/",), own=PLAIN, outside=("numpy", "safetensors"), never=("safetensors.torch",)),
    Room(("model_core/search/",), own=SEARCHED, outside=("torch", "numpy"), never=FILES),
    Room(
        ("model_core/checkpoint/",),
        own=(*MODEL, *FILES, *_core("text")),
        outside=("torch", "safetensors"),
    ),
    Room(("model_core/data/",), own=(*FILES, *_core("config", "text"))),
    Room(("model_core/translation.py", "model_core/sentence.py"), own=TRANSLATED, outside=("torch", "numpy")),
    Room(("model_core/translator.py",), own=TRANSLATED, outside=("torch", "numpy")),
    Room(("model_core/experiments/", "model_core/adapters/"), own=ASKING, outside=None, never=SCREEN),
    # `heads` is statistics of arrays; the rest of the experiments ask a translator, which training must not.
    Room(("model_core/training/",), own=(*ASKING, *_core("experiments.heads")), outside=None, never=SCREEN),
    Room(("model_core/cli/",), own=("model_core",), outside=None, never=(*SCREEN, "model_core.__main__")),
)

LABELS = ("viz.theme", "viz.wording")  # how labels, numbers and counts are written, for everybody on the screen's side
# Figures and components know traces and the experiments' results; `reach_faults` sees to it that these are plain types.
SHOWN = _core("trace", "text", "sites", "experiments")
# Pages ask these: each answers with numbers and tokens, so that no page handles tensors or knows the model's parts.
# `training.live` is the training that one watches, with its settings.
ASKED = (
    *_core("translator", "config", "checkpoint", "trace", "text", "sites", "experiments", "data.homographs"),
    *_core("training.live", "training.live_settings", "shipped"),
)
DRAWING = ("numpy", "pandas", "plotly")
PAGE = ("streamlit", *DRAWING)

SCREEN_ROOMS = (
    Room(("app.py",), own=("viz",), outside=("streamlit",)),
    Room(("viz/theme.py", "viz/wording.py")),
    Room(("viz/link.py", "viz/link_kinds.py", "viz/link_values.py"), own=(*ASKED, "viz.link_kinds", "viz.link_values")),
    Room(("viz/figures/",), own=(*SHOWN, *LABELS), outside=DRAWING),
    Room(("viz/components/",), own=(*SHOWN, *LABELS), outside=("streamlit", "numpy")),
    Room(("viz/pages/",), own=(*ASKED, "viz"), outside=PAGE),
    Room(("viz/panels/",), own=(*ASKED, "viz"), outside=PAGE, never=("viz.pages",)),
    # It loads the models, and says with how many threads they work.
    Room(("viz/translators.py",), own=(*ASKED, "viz"), outside=(*PAGE, "torch"), never=("viz.pages", "viz.panels")),
    Room(("viz/",), own=(*ASKED, "viz"), outside=PAGE, never=("viz.pages", "viz.panels")),
)
ROOMS = (*CORE_ROOMS, *SCREEN_ROOMS)
