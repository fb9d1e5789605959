"""A word's senses as places: a plane that follows the vectors through the layers, and how well the senses part.

Shapes: L layer, N sentence, D d_model. Numpy only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane through N vectors that keeps most of their variance: `centre [D]`, orthonormal `axes [2, D]`, and the
    share of the variance that lies in it (`explained`, 0 to 1)."""

    centre: NDArray[np.float64]
    axes: NDArray[np.float64]
    explained: float

    def coordinates(self, vectors: NDArray[np.floating]) -> NDArray[np.float64]:
        """`[..., D]` -> `[..., 2]`. Any vectors may be looked at, not only those that the plane was fitted on."""
        return (vectors - self.centre) @ self.axes.T


def widest_plane(vectors: NDArray[np.floating]) -> Plane:
    """The first two principal components of `vectors [N, D]`, by a singular value decomposition (Pearson 1901).

    Raises:
        ValueError: fewer than three vectors, or of fewer than two dimensions.
    """
    if vectors.ndim != 2 or vectors.shape[0] < 3 or vectors.shape[1] < 2:
        raise ValueError(f"A plane needs at least [3, 2] numbers, not {list(vectors.shape)}.")
    wide = vectors.astype(np.float64)
    centre = wide.mean(axis=0)
    _, spread, axes = np.linalg.svd(wide - centre, full_matrices=False)
    total = float((spread**2).sum())
    return Plane(centre, axes[:2], float((spread[:2] ** 2).sum()) / total if total > 0 else 1.0)


def turned_like(plane: Plane, places: NDArray[np.float64], vectors: NDArray[np.floating]) -> Plane:
    """The same plane, its axes turned or mirrored so that `vectors [N, D]` lie as near to `places [N, 2]` as they can.

    Orthogonal Procrustes (Schönemann 1966): the turn R that makes ||A R - B|| least is U V^T, where A^T B = U S V^T.
    Distances in the plane and `explained` stay as they are.
    """
    left, _, right = np.linalg.svd(plane.coordinates(vectors).T @ places)
    return Plane(plane.centre, (left @ right).T @ plane.axes, plane.explained)


def planes_by_layer(vectors: NDArray[np.floating]) -> list[Plane]:
    """One plane a layer of `vectors [L + 1, N, D]`, each turned like the one before, so that points drift, not jump."""
    planes: list[Plane] = []
    for layer in vectors:
        plane = widest_plane(layer)
        if planes:
            plane = turned_like(plane, planes[-1].coordinates(vectors[len(planes) - 1]), layer)
        planes.append(plane)
    return planes


def nearest_own_sense(vectors: NDArray[np.floating], senses: Sequence[str]) -> float:
    """Share of `vectors [N, D]` nearer (Euclidean) to the centroid of their own sense than to any other's.

    Leave-one-out: a vector does not count towards the centroid that it is measured against. Where the own sense and
    others, k in all, are equally near, up to rounding, the vector counts as 1 / k, whatever the senses are called.

    Raises:
        ValueError: fewer than two senses, or a sense with one sentence only.
    """
    names, own, counts = np.unique(np.array(senses), return_inverse=True, return_counts=True)
    if len(names) < 2 or counts.min() < 2:
        listed = ", ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))
        raise ValueError(f"At least 2 senses of 2 sentences each are needed, not {listed}.")
    wide = vectors.astype(np.float64)
    sums = np.stack([wide[own == sense].sum(axis=0) for sense in range(len(names))])
    distances = np.linalg.norm(wide[:, None] - sums / counts[:, None], axis=-1)
    rows = np.arange(len(wide))
    without = (sums[own] - wide) / (counts[own] - 1)[:, None]
    distances[rows, own] = np.linalg.norm(wide - without, axis=-1)
    rounding = 1e-9 * float(np.abs(wide).max())
    nearest = distances <= distances.min(axis=1, keepdims=True) + rounding
    return float((nearest[rows, own] / nearest.sum(axis=1)).mean())


@dataclass(frozen=True, eq=False)
class Probe:
    """A linear probe (Alain & Bengio 2016): ridge regression from a vector `[D]` to a score a sense, +1 for the own one
    and -1 for others, in the order of `names`.

    `left_out [N, S]` are the scores that each of the N vectors gets from a regression that was fitted without it. Only
    the regression leaves it out: the centre and the size by which all vectors were scaled before are those of all N.
    """

    names: tuple[str, ...]
    left_out: NDArray[np.float64]
    centre: NDArray[np.float64]
    weights: NDArray[np.float64]
    offset: NDArray[np.float64]

    def scores(self, vectors: NDArray[np.floating]) -> NDArray[np.float64]:
        """`[..., D]` -> `[..., S]`."""
        return (vectors - self.centre) @ self.weights + self.offset


def fit_probe(vectors: NDArray[np.floating], senses: Sequence[str], ridge: float = 0.1) -> Probe:
    """Fits on `vectors [N, D]`, moved to a mean of 0 and scaled to a mean square length of 1, with `ridge` on weights
    and offset.

    Leaving one out needs no second fit: with the hat matrix A = K (K + ridge I)^-1 the score of a left-out row is
    y - (y - A y) / (1 - a_ii) (Hastie, Tibshirani & Friedman 2009, section 7.10). That is exact for the regression on
    the moved and scaled points; a fit from the start on N - 1 vectors would move and scale by theirs, and its scores
    would differ a little. The targets of ±1 take no part in centre and size, so no sense leaks through these.

    Raises:
        ValueError: fewer than two senses.
    """
    names = tuple(sorted(set(senses)))
    if len(names) < 2:
        raise ValueError(f"A probe tells at least 2 senses apart, not {len(names)}.")
    wide = vectors.astype(np.float64)
    centre = wide.mean(axis=0)
    size = float(np.sqrt(((wide - centre) ** 2).sum(axis=1).mean())) or 1.0
    points = (wide - centre) / size
    targets = np.where(np.array(senses)[:, None] == np.array(names), 1.0, -1.0)
    kernel = points @ points.T + 1.0  # the 1 is the offset
    inverse = np.linalg.inv(kernel + ridge * np.eye(len(kernel)))
    dual, hat = inverse @ targets, np.diagonal(kernel @ inverse)
    left_out = targets - (targets - kernel @ dual) / (1.0 - hat)[:, None]
    return Probe(names, left_out, centre, points.T @ dual / size, dual.sum(axis=0))


def told_sense(probe: Probe, scores: NDArray[np.float64]) -> list[str]:
    """The sense with the highest of `scores [N, S]` in each row; of equal ones the first in `names`."""
    return [probe.names[index] for index in scores.argmax(axis=1)]


def places_between_senses(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """`[..., S]` -> `[..., 2]`: each sense a corner of a regular polygon, on the unit circle from the left.

    A vector with +1 for one sense and -1 for all others lies at that sense's corner; two senses make a line.
    """
    angles = np.pi - 2 * np.pi * np.arange(scores.shape[-1]) / scores.shape[-1]
    return scores @ np.column_stack([np.cos(angles), np.sin(angles)]) / 2
