"""What the components are made of: their scripts and styles, read from their folders."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def script(folder: str, *names: str, saves: bool = False) -> str:
    """The scripts of a component in the order given, behind what all have in common; `saves` adds saving as a file."""
    shared = [_HERE / "common.js", *([_HERE / "save.js", _HERE / "boxes.js"] if saves else [])]
    return "\n".join(path.read_text(encoding="utf-8") for path in (*shared, *(_HERE / folder / name for name in names)))


def style(folder: str) -> str:
    """The component's style sheet, which has its folder's name."""
    return (_HERE / folder / f"{folder}.css").read_text(encoding="utf-8")
