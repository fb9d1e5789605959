"""How one cell of a matrix came about: the products, the exponentials or the rule behind it.

Sums are made in float64 of the float32 numbers that the page shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model_core.experiments.anatomy import HeadAnatomy
from viz.panels.inside.labels import Labels
from viz.wording import counted
from viz.wording import significant as number

Numbers = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class CellOrigin:
    """`lines` are equations and sentences that end at the cell's value. Where the cell is a sum of many numbers, `bars`
    holds them (float64, with a label each, `marked` being the cell's own), and `table` the columns of their table."""

    lines: tuple[str, ...]
    bars: NDArray[np.float64] | None = None
    labels: tuple[str, ...] = ()
    bars_are: str = ""
    terms_are: str = ""
    table: dict[str, Sequence[Any]] = field(default_factory=dict)
    marked: int | None = None


def product_sum(
    left: Numbers, right: Numbers, labels: Sequence[str], names: tuple[str, str, str], cell: float, bias: float | None
) -> CellOrigin:
    """A row times a column: `left [N]`, `right [N]`; `names` are those of the terms, of the left and of the right."""
    products = left.astype(np.float64) * right.astype(np.float64)
    total = float(products.sum())
    sum_line = f"The sum of {counted(len(products), 'product')} is {number(total)}."
    if bias is not None:
        total += bias
        sum_line += f" Plus the bias {number(bias)}: {number(total)}."
    terms_are, left_name, right_name = names
    table = {terms_are: list(labels), left_name: left, right_name: right, "product": products}
    lines = (sum_line, f"The cell holds {number(cell)}.")
    bars_are = f"{left_name} × {right_name}"
    return CellOrigin(lines, products, tuple(labels), bars_are, terms_are, table)


def normed_cell(a: HeadAnatomy, values: Numbers, row: int, column: int, cell: float) -> CellOrigin:
    """LayerNorm (Ba et al. 2016) of one row of `values [Q, D]` at one dimension."""
    wide = values[row].astype(np.float64)
    mean, spread = float(wide.mean()), float(np.sqrt(wide.var() + a.norm_epsilon))
    gain, shift = float(a.norm_weight[column]), float(a.norm_bias[column])
    value = (float(wide[column]) - mean) / spread * gain + shift
    return CellOrigin(
        (
            f"The row's {len(wide)} numbers have mean {number(mean)} and standard deviation {number(spread)}.",
            f"({number(wide[column])} − {number(mean)}) / {number(spread)} × {number(gain)} (learned gain) + "
            f"{number(shift)} (learned shift) = {number(value)}",
            f"The cell holds {number(cell)}.",
        )
    )


def scaled_cell(a: HeadAnatomy, row: int, column: int) -> CellOrigin:
    """One dot product over the square root of the head's width."""
    product, root = float(a.products[row, column]), float(np.sqrt(a.d_head))
    return CellOrigin(
        (
            f"{number(product)} / √{a.d_head} = {number(product)} / {number(root)} = {number(product / root)}",
            f"The cell holds {number(a.scaled[row, column])}.",
        )
    )


def masked_cell(a: HeadAnatomy, row: int, column: int) -> CellOrigin:
    """Why a query may, or may not, look at a key."""
    if not a.allowed[row, column]:
        return CellOrigin(
            (
                f"Key {column + 1} comes after query {row + 1}: when the model predicts what follows position "
                f"{row + 1}, position {column + 1} has not been written yet.",
                f"The score {number(a.scaled[row, column])} becomes −∞, and e^−∞ is exactly 0.",
            )
        )
    reason = {
        "decoder_self": f"Key {column + 1} does not come after query {row + 1}: it is there to be looked at.",
        "encoder_self": "The encoder reads the whole sentence, and a single sentence has no padding to hide.",
        "cross": "The decoder may look at the whole source, and a single source has no padding to hide.",
    }[a.site]
    return CellOrigin((reason, f"The score stays {number(a.scaled[row, column])}."))


def softmax_cell(a: HeadAnatomy, labels: Labels, row: int, column: int) -> CellOrigin:
    """The exponentials of a row of scores, their sum, and the share of one of them."""
    scores = a.masked[row].astype(np.float64)
    highest = float(scores.max())
    grown = np.exp(scores - highest)
    share = grown[column] / grown.sum()
    return CellOrigin(
        (
            f"Each score has the row's highest, {number(highest)}, taken off before e is raised to it: the shares stay "
            "the same and nothing overflows.",
            f"The sum of {counted(len(grown), 'exponential')} is {number(grown.sum())}; "
            f"{number(grown[column])} / {number(grown.sum())} = {number(share)}",
            f"The cell holds {number(a.weights[row, column])}.",
        ),
        grown,
        labels.keys,
        "e^(score − highest score)",
        "key",
        {"key": list(labels.keys), "score": scores, "exponential": grown, "weight": grown / grown.sum()},
        marked=column,
    )


def concatenated_cell(a: HeadAnatomy, row: int, column: int) -> CellOrigin:
    """Whose output stands at a dimension of the concatenation."""
    head, inner = divmod(column, a.d_head)
    whose = "the chosen head" if head == a.head else "another head"
    return CellOrigin(
        (
            f"Dimension {column + 1} is dimension {inner + 1} of head {head + 1}, {whose}: "
            f"heads stand side by side, {a.d_head} dimensions each.",
            f"The cell holds {number(a.heads[row, column])}; nothing was computed.",
        )
    )


def added_cell(a: HeadAnatomy, row: int, column: int) -> CellOrigin:
    """The residual connection at one dimension, and in post-norm what the norm makes of it."""
    before, output = float(a.stream[row, column]), float(a.output[row, column])
    line = f"{number(before)} (as it came) + {number(output)} (what attention adds) = {number(before + output)}"
    if a.pre_norm:
        return CellOrigin((line, f"The cell holds {number(a.result[row, column])}."))
    return CellOrigin((line, *normed_cell(a, a.added, row, column, float(a.result[row, column])).lines))
