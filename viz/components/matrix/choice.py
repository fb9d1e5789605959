"""Which cell is chosen, when the person in front of the page and the page's script may both say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viz.components.handshake import Agreement, Report, is_whole, read_report, settle

Cell = tuple[int, int]


def read_cell(state: Any) -> Report[Cell | None] | None:
    """From the component's state; None where it holds no cell, or none that a component would make."""
    return read_report(state, "cell", _cell_of)


def _cell_of(written: Mapping[str, Any]) -> Cell | None:
    row, column = written.get("row"), written.get("column")
    return (row, column) if is_whole(row) and is_whole(column) else None


def settle_cell(
    before: Agreement[Cell | None] | None,
    wish: Cell | None,
    report: Report[Cell | None] | None,
    shape: tuple[int, int],
) -> Agreement[Cell | None]:
    """Who wins (see `settle`); without a wish, what was chosen before stays. A cell that a matrix of this `shape` does
    not have is none."""
    wish = wish or (before.chosen if before is not None else None)
    return settle(before, wish, report, lambda cell: _fit(cell, shape))


def _fit(cell: Cell | None, shape: tuple[int, int]) -> Cell | None:
    inside = cell is not None and 0 <= cell[0] < shape[0] and 0 <= cell[1] < shape[1]
    return (cell[0], cell[1]) if cell is not None and inside else None
