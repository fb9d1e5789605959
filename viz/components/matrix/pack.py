"""A matrix as bytes that matrix.js can read, with its description. Shapes: R row, C column.

Layout: a line of JSON, then R x C float32 values (little endian, row by row), then R x C bytes, 1 where masked,
unless nothing is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viz.theme import visible
from viz.wording import significant, slug


def pack_matrix(
    values: ArrayLike,
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    name: str,
    masked: ArrayLike | None = None,
    limits: tuple[float, float] | None = None,
    diverging: bool = False,
) -> tuple[dict[str, Any], bytes]:
    """The header's content and the bytes after it; see `matrix` for the arguments and errors."""
    array = np.ascontiguousarray(values, dtype="<f4")
    if array.ndim != 2 or not array.size:
        raise ValueError(f"A matrix has rows and columns; {name} has shape {list(array.shape)}.")
    hidden = ~np.isfinite(array)
    if masked is not None:
        mask = np.asarray(masked, dtype=np.bool_)
        if mask.shape != array.shape:
            raise ValueError(f"{name} has shape {list(array.shape)}, its mask {list(mask.shape)}: they must agree.")
        hidden |= mask
    for labels, size, axis in ((rows, array.shape[0], "rows"), (columns, array.shape[1], "columns")):
        if labels is not None and len(labels) != size:
            raise ValueError(f"{name} has {size} {axis}, but {len(labels)} labels were given for them.")
    low, high = limits or fitted(array[~hidden], diverging)
    header = {
        "name": name,
        "file": f"regard-{slug(name, 'matrix')}",
        "alt": matrix_alt(array, rows, columns, name, hidden, diverging),
        "shape": [*array.shape],
        "rows": None if rows is None else [visible(label) for label in rows],
        "columns": None if columns is None else [visible(label) for label in columns],
        "limits": [float(low), float(high)],
    }
    return header, array.tobytes() + (hidden.astype(np.uint8).tobytes() if hidden.any() else b"")


def fitted(values: NDArray[np.float32], diverging: bool) -> tuple[float, float]:
    """The ends of the colours for these values, never one point; symmetric about 0 where the colours diverge."""
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    if diverging:
        reach = max(-low, high) or 1.0
        return -reach, reach
    return (low, high) if low < high else (min(low, 0.0), high if high > 0.0 else 1.0)


def matrix_alt(
    values: NDArray[np.float32],
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    name: str,
    masked: NDArray[np.bool_],
    diverging: bool = False,
) -> str:
    """One sentence with the shape and the main number: the largest value, or the one farthest from 0."""
    count = f"{name}: {values.shape[0]} x {values.shape[1]}"
    hidden = int(masked.sum())
    count += f", {hidden} masked" if hidden else ""
    if masked.all():
        return f"{count}."
    strength = np.where(masked, -np.inf, np.abs(values) if diverging else values)
    row, column = (int(i) for i in np.unravel_index(int(strength.argmax()), values.shape))
    superlative = "the value farthest from 0" if diverging else "the largest value"
    place = f"row {row + 1}{_quoted(rows, row)}, column {column + 1}{_quoted(columns, column)}"
    return f"{count}; {superlative} is {significant(float(values[row, column]), 4)}, at {place}."


def _quoted(labels: Sequence[str] | None, index: int) -> str:
    label = visible(labels[index]) if labels is not None else ""
    return f" “{label}”" if label and label != str(index + 1) else ""
