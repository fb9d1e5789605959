"""Colours for a component's script, which takes those of the page's theme."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from viz.theme import DARK, LIGHT, Palette

Colours = TypeVar("Colours")


def of_both_themes(colours: Callable[[Palette], Colours]) -> dict[str, Colours]:
    """`colours` of the palettes under "light" and "dark"."""
    return {"light": colours(LIGHT), "dark": colours(DARK)}
