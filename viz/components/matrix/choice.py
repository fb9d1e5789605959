"""Which cell is chosen, when the person in front of the page and the page's script may both say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viz.components import memory

Cell = tuple[int, int]


@dataclass(frozen=True)
class Picked(memory.Reported[Cell | None]):
    """What the component in the page reports: a cell, and the pick's number."""

    @classmethod
    def read(cls, state: Any) -> Picked | None:
        """From the component's state; None where it holds no cell, or none that a component would make."""
        value = state.get("cell") if isinstance(state, Mapping) else None
        if not isinstance(value, Mapping):
            return None
        row, column, token, number = (value.get(name) for name in ("row", "column", "token", "number"))
        if not (isinstance(row, int) and isinstance(column, int) and isinstance(number, int)):
            return None
        return cls((row, column), token, number) if isinstance(token, str) else None


def settle(
    before: memory.Memory[Cell | None] | None, wish: Cell | None, picked: Picked | None, shape: tuple[int, int]
) -> memory.Memory[Cell | None]:
    """Who wins (see `viz.components.memory`); without a wish, what was chosen before stays. A cell that a matrix of
    this `shape` does not have is none."""
    wish = wish or (before.chosen if before is not None else None)
    return memory.settle(before, wish, picked, lambda cell: _fit(cell, shape))


def _fit(cell: Cell | None, shape: tuple[int, int]) -> Cell | None:
    inside = cell is not None and 0 <= cell[0] < shape[0] and 0 <= cell[1] < shape[1]
    return (cell[0], cell[1]) if cell is not None and inside else None
