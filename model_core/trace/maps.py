"""The attention of one site: every layer's and head's map.

Shapes: L layer, H head, Q query, K key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model_core.sites import SITES, Site
from model_core.text.pieces import Tokens
from model_core.trace.arrays import field_values, finite_float32, frozen_copy, require, set_fields


@dataclass(frozen=True, eq=False, repr=False)
class AttentionMaps:
    """Every layer's and head's attention at one site.

    `weights [L, H, Q, K]` float32, `allowed [Q, K]` bool (True = the query may attend to the key). Both are kept as
    read-only copies. A row of weights sums to 1 unless a hook changed it.

    Raises:
        TraceError: shapes do not fit the tokens, `allowed` is not boolean, or a weight is not a finite number.
    """

    site: Site
    weights: NDArray[np.float32]
    allowed: NDArray[np.bool_]
    query_tokens: Tokens
    key_tokens: Tokens

    def __post_init__(self) -> None:
        require(self.site in SITES, f"There is no site {self.site!r}; the sites are {', '.join(SITES)}.")
        set_fields(self, query_tokens=tuple(self.query_tokens), key_tokens=tuple(self.key_tokens))
        set_fields(
            self, weights=finite_float32(f"{self.site}'s weights", self.weights), allowed=frozen_copy(self.allowed)
        )
        self._check_shapes()

    def _check_shapes(self) -> None:
        wanted = (len(self.query_tokens), len(self.key_tokens))
        tokens = f"{wanted[0]} query tokens and {wanted[1]} key tokens"
        require(
            self.weights.ndim == 4 and self.weights.shape[2:] == wanted and min(self.weights.shape[:2]) > 0,
            f"{self.site}'s weights have shape {list(self.weights.shape)}, which does not fit {tokens}: "
            f"it has to be [layers, heads, {wanted[0]}, {wanted[1]}].",
        )
        require(
            self.allowed.dtype == np.bool_ and self.allowed.shape == wanted,
            f"{self.site}'s allowed is {self.allowed.dtype} of shape {list(self.allowed.shape)}, which does not fit "
            f"{tokens}: it has to be bool of shape {list(wanted)}.",
        )

    def __repr__(self) -> str:
        queries, keys = self.weights.shape[2:]
        return f"<AttentionMaps {self.site}: {self.layers} layers, {self.heads} heads, {queries} queries, {keys} keys>"

    @property
    def layers(self) -> int:
        return self.weights.shape[0]

    @property
    def heads(self) -> int:
        return self.weights.shape[1]

    def map(self, layer: int | None, head: int | None = None) -> NDArray[np.float32]:
        """One map `[Q, K]`; head None is the mean over the heads, layer None the mean over the layers.

        Raises:
            IndexError: there is no such layer or head; they count from 0.
        """
        for name, index, size in (("layer", layer, self.layers), ("head", head, self.heads)):
            if index is not None and not 0 <= index < size:
                raise IndexError(f"There is no {name} {index} in {self.site}: it has {name}s 0 to {size - 1}.")
        chosen = self.weights[slice(None) if layer is None else slice(layer, layer + 1)]
        chosen = chosen[:, slice(None) if head is None else slice(head, head + 1)]
        return frozen_copy(chosen.mean(axis=(0, 1), dtype=np.float64), np.float32)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), field_values(self)
