"""A matrix as a heatmap in the page: small or 256 columns wide, with its labels, its range, and a cell to choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st
from numpy.typing import ArrayLike
from streamlit.components.v2 import component

from viz.components.colours import of_both_themes
from viz.components.handshake import remembered
from viz.components.matrix.choice import Cell, read_cell, settle_cell
from viz.components.matrix.pack import fitted, pack_matrix
from viz.components.packing import packed
from viz.components.source import script, style

__all__ = ["Cell", "fitted_limits", "matrix"]

_COMPONENT = component(
    "regard_matrix",
    js=script("matrix", "draw.js", "matrix.js"),
    css=style("matrix", "save", "caption"),
)


def matrix(
    values: ArrayLike,
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    *,
    key: str,
    name: str,
    masked: ArrayLike | None = None,
    limits: tuple[float, float] | None = None,
    diverging: bool = False,
    selected: Cell | None = None,
    height: int | None = None,
    corner: str = "",
    row: int | None = None,
    column: int | tuple[int, int] | None = None,
    on_pick: Callable[[int, int], None] | None = None,
) -> Cell | None:
    """Draws `values [R, C]` with R `rows` and C `columns` as labels (None: no labels; hover then shows the numbers,
    from 1) and returns the chosen cell as (row, column) from 0.

    The result is the cell that a person has just picked (click, or arrow keys and Enter), else `selected`, else the one
    chosen before if the matrix still has it. `on_pick(row, column)` is called before the rerun at each pick, also of
    the cell that is chosen already: what a switch needs. Two matrices in a page need two keys.

    `masked [R, C]` (True = masked; values that are not finite always are) hatches cells. `limits` are the ends of the
    colours, which the legend states; without them the values', and with `diverging` the same distance on both sides
    of 0. Labels are thinned where they would overlap. `name` says what the matrix is, to screen readers and in the
    saved PNG's name; `corner` stands above it. A whole `row` and `column` (from 0) can be framed; a pair as `column`
    frames the columns from the first up to the second. `height` is that of the cells in pixels; by default rows are 18
    to 28 pixels high, and thinner where there are many.

    For tests: `data-testid="matrix"` with `data-name`, `data-row`, `data-column` (the chosen cell's, from 0, or empty),
    `data-low` and `data-high`; its `[role=status]` describes the cell that is pointed at or chosen.

    Raises:
        ValueError: `values` is not a matrix with at least one cell, or labels or mask do not fit it.
    """
    header, cells = pack_matrix(values, rows, columns, name, masked, limits, diverging)
    shape = (header["shape"][0], header["shape"][1])
    agreement = remembered(key, lambda before, state: settle_cell(before, selected, read_cell(state), shape))
    header |= {"key": key, "token": agreement.token, "selected": agreement.sent, "height": height, "corner": corner}
    header |= {"row": row, "column": column}
    header["colors"] = of_both_themes(
        lambda palette: {"scale": palette.diverging if diverging else palette.sequential, "hatch": palette.hatch}
    )

    def hear_pick() -> None:
        report = read_cell(st.session_state.get(key))
        if on_pick is not None and report is not None and report.value is not None:
            on_pick(*report.value)

    _COMPONENT(key=key, data=packed(header, cells), on_cell_change=hear_pick)
    return agreement.chosen


def fitted_limits(values: ArrayLike, diverging: bool) -> tuple[float, float]:
    """The range of the finite values, symmetric about 0 where the colours diverge: for several matrices to share."""
    array = np.asarray(values, dtype=np.float32)
    return fitted(array[np.isfinite(array)], diverging)
