"""What the components are made of: their scripts and styles, read from their folders."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def script(folder: str, *names: str, saves: bool = False) -> str:
    """The scripts of a component in the order given, behind what all have in common; `saves` adds saving as a file."""
    shared = [_HERE / "common.js", *([_HERE / "save.js", _HERE / "boxes.js"] if saves else [])]
    return "\n".join(path.read_text(encoding="utf-8") for path in (*shared, *(_HERE / folder / name for name in names)))


def style(folder: str, *, saves: bool = False) -> str:
    """The component's style sheet, which has its folder's name; `saves` puts that of the buttons that save before it,
    for components whose buttons have no look of their own."""
    shared = [_HERE / "save.css"] if saves else []
    return "\n".join(path.read_text(encoding="utf-8") for path in (*shared, _HERE / folder / f"{folder}.css"))
