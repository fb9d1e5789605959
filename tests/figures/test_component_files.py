"""Scripts and styles that components share, and where the pages' own rules are written."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from viz.components.source import script, style

VIZ = Path(__file__).parent.parent.parent / "viz"
COMPONENTS = VIZ / "components"


def declared(text: str) -> list[str]:
    """The names that scripts declare outside all functions."""
    return re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", text, re.MULTILINE)


SHARED = sorted((COMPONENTS / "shared").glob("*.js"))
SHARED_NAMES = {name for path in SHARED for name in declared(path.read_text(encoding="utf-8"))}
FOLDERS = sorted(path.parent.name for path in COMPONENTS.glob("*/__init__.py"))


def test_a_script_stands_behind_the_shared_ones_that_it_uses_directly_or_not() -> None:
    chips = script("chips", "chips.js")
    assert chips.endswith((COMPONENTS / "chips" / "chips.js").read_text(encoding="utf-8"))
    assert "function wordsOf" in chips, "used by it"
    assert "function make(" in chips, "used by wordsOf"
    assert "function saveSvg" not in chips and "class Handshake" not in chips
    assert "function svgOfBoxes" in script("matrix", "matrix.js"), "used by what saves"


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_components_share_is_declared_once(folder: str) -> None:
    names = [path.name for path in (COMPONENTS / folder).glob("*.js")]
    own = Counter(name for file in names for name in declared((COMPONENTS / folder / file).read_text(encoding="utf-8")))
    assert names and max(own.values(), default=1) == 1
    assert not set(own) & SHARED_NAMES, "a script that declares a name twice does not load"


@pytest.mark.parametrize("path", SHARED, ids=lambda path: path.stem)
def test_every_shared_name_is_used(path: Path) -> None:
    everything = "\n".join(file.read_text(encoding="utf-8") for file in COMPONENTS.rglob("*.js"))
    unused = [
        name for name in declared(path.read_text(encoding="utf-8")) if len(re.findall(rf"\b{name}\b", everything)) < 2
    ]
    assert not unused


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_style_sheet_may_overrule_the_shared_ones_in_front_of_it(folder: str) -> None:
    shared = [path.stem for path in (COMPONENTS / "shared").glob("*.css")]
    texts = [(COMPONENTS / "shared" / f"{name}.css").read_text(encoding="utf-8") for name in ("view", *shared)]
    own = (COMPONENTS / folder / f"{folder}.css").read_text(encoding="utf-8")
    assert style(folder, *shared) == "\n".join([*texts, own])
    assert "var(--st-border-color" not in own and "font-family: var(--st-font," not in own, "view.css has them"


@pytest.mark.parametrize(
    ("pattern", "home"),
    [
        (r"st\.context\.theme", "appearance.py"),
        (r"""replace\(["']-["'], ["']−["']\)""", "wording.py"),
        (r"had to be removed", "messages.py"),
        (r"reached its length limit before it ended; its last step", "messages.py"),
        (r"a-z0-9", "wording.py"),
    ],
)
def test_what_pages_share_is_written_once(pattern: str, home: str) -> None:
    found = [path.name for path in VIZ.rglob("*.py") if re.search(pattern, path.read_text(encoding="utf-8"))]
    assert found == [home]
