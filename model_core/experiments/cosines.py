"""The likeness of two vectors, whatever their lengths. Shapes: D dimension, N vector. Numpy only.

A vector of zeros points nowhere and is alike to nothing: its cosines are 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def cosine(first: NDArray[np.floating], second: NDArray[np.floating]) -> float:
    """Cosine of the angle between two vectors `[D]`."""
    return float(_unit(first) @ _unit(second))


def cosines(first: NDArray[np.floating], second: NDArray[np.floating]) -> NDArray[np.float32]:
    """The cosine between vectors that stand at the same place of two arrays: `[..., D]` -> `[...]`."""
    return (_unit(first) * _unit(second)).sum(axis=-1).astype(np.float32)


def cosine_matrix(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Cosines of all pairs: `[..., N, D]` -> `[..., N, N]`."""
    unit = _unit(vectors)
    return unit @ np.swapaxes(unit, -1, -2)


def _unit(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """`[..., D]` at length 1, in float64; zeros stay zeros."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=-1, keepdims=True)
    return np.divide(wide, lengths, out=np.zeros(wide.shape), where=lengths > 0)
