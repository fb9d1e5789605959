"""What components share: the look of the buttons that save, how numbers are written, and whether the page is dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from viz.components.source import script, style

VIZ = Path(__file__).parent.parent.parent / "viz"


@pytest.mark.parametrize("folder", ["matrix", "model_diagram", "tinted"])
def test_the_look_of_the_buttons_that_save_is_written_once_and_may_be_overruled(folder: str) -> None:
    own, shared = style(folder), (VIZ / "components" / "save.css").read_text(encoding="utf-8")
    assert style(folder, saves=True) == f"{shared}\n{own}", "what comes later wins"
    assert not re.search(r"^\.save\b", own, re.MULTILINE)
    assert "saves=True)" in (VIZ / "components" / folder / "__init__.py").read_text(encoding="utf-8").split("css=")[1]


def test_a_script_stands_behind_what_all_have_in_common() -> None:
    common = (VIZ / "components" / "common.js").read_text(encoding="utf-8")
    assert script("chips", "chips.js").startswith(common)
    assert "function saveSvg" in script("matrix", "matrix.js", saves=True)
    assert "function saveSvg" not in script("chips", "chips.js")


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
