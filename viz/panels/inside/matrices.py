"""The matrices of one head as a page shows them, each with its name, its labels and what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from model_core.experiments.anatomy import Array, HeadAnatomy
from viz.panels.inside.cells import CellOrigin
from viz.panels.inside.labels import Labels


@dataclass(frozen=True, eq=False)
class ShownMatrix:
    """A matrix on the page: `name` in plain letters, `tex` as a formula has it, `note` what it is.

    Of an operand, `by_row` says that a cell of the result is made from its row of the same number, `by_column` that it
    is made from its column of the same number; the columns from the first of `framed` up to the second are framed.
    """

    name: str
    tex: str
    values: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    note: str
    masked: NDArray[np.bool_] | None = None
    diverging: bool = True
    limits: tuple[float, float] | None = None
    by_row: bool = False
    by_column: bool = False
    framed: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Stage:
    """One step: a sentence, matrices from left to right with operators (texts) between them, and the origin
    of a cell of the last matrix, if it was computed here. `stacked` matrices stand below each other: they are wide."""

    sentence: str
    parts: tuple[ShownMatrix | str, ...]
    origin: Callable[[int, int], CellOrigin] | None = None
    stacked: bool = False

    @property
    def matrices(self) -> tuple[ShownMatrix, ...]:
        return tuple(part for part in self.parts if isinstance(part, ShownMatrix))

    @property
    def result(self) -> ShownMatrix:
        return self.matrices[-1]


def stream(a: HeadAnatomy, labels: Labels) -> ShownMatrix:
    """The residual stream that enters the sublayer."""
    above = "the embeddings with their positions" if a.layer == 0 else f"what layer {a.layer} gave back"
    came = "the stream after this layer's self-attention" if a.site == "cross" else above
    return ShownMatrix("stream", "x", a.stream, labels.queries, labels.model, came)


def inputs(a: HeadAnatomy, labels: Labels, by_row: bool = False) -> ShownMatrix:
    """The input of the queries."""
    return ShownMatrix("X", "X", a.queries, labels.queries, labels.model, "one row a token", by_row=by_row)


def memory(a: HeadAnatomy, labels: Labels, by_row: bool = False) -> ShownMatrix:
    """The input of keys and values in cross-attention."""
    return ShownMatrix(
        "Memory", "Y", a.keys, labels.keys, labels.model, "the encoder's output, a row a token", by_row=by_row
    )


def scores(
    name: str,
    tex: str,
    values: Array,
    labels: Labels,
    note: str,
    masked: NDArray[np.bool_] | None = None,
    by_row: bool = False,
) -> ShownMatrix:
    """A matrix of a row a query and a column a key."""
    return ShownMatrix(name, tex, values, labels.queries, labels.keys, note, masked, by_row=by_row)


def head_matrix(a: HeadAnatomy, labels: Labels, which: str, by_column: bool = False) -> ShownMatrix:
    """The head's columns of the layer's W_Q, W_K or W_V."""
    values = {"Q": a.w_query, "K": a.w_key, "V": a.w_value}[which]
    note = f"columns {a.head * a.d_head + 1} to {(a.head + 1) * a.d_head} of the layer's matrix"
    return ShownMatrix(f"W_{which}", f"W_{which}", values, labels.model, labels.head, note, by_column=by_column)


def weights(a: HeadAnatomy, labels: Labels, by_row: bool = False) -> ShownMatrix:
    """The head's attention weights, on the scale from 0 to 1."""
    shown = scores("Weights", "A", a.weights, labels, "each row sums to 1", ~a.allowed, by_row)
    return replace(shown, diverging=False, limits=(0.0, 1.0))
