"""The key/value cache: what a decoder layer need not compute again at the next step.

Shapes: B batch, G key/value head, T target so far, S source, d_head.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass
class LayerCache:
    """Keys and values of one decoder layer: its own `[B, G, T, d_head]`, and the memory's `[B, G, S, d_head]`."""

    key: Tensor | None = None
    value: Tensor | None = None
    memory_key: Tensor | None = None
    memory_value: Tensor | None = None

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Adds the newest positions' keys and values and returns all of them."""
        self.key = key if self.key is None else torch.cat((self.key, key), dim=2)
        self.value = value if self.value is None else torch.cat((self.value, value), dim=2)
        return self.key, self.value


@dataclass
class KeyValueCache:
    """One `LayerCache` per decoder layer. Belongs to one decoding: never shared between requests."""

    layers: list[LayerCache] = field(default_factory=list)

    @classmethod
    def empty(cls, layers: int) -> KeyValueCache:
        return cls([LayerCache() for _ in range(layers)])

    @property
    def length(self) -> int:
        """How many target positions are stored."""
        key = self.layers[0].key
        return 0 if key is None else key.shape[2]

    def cut(self, length: int) -> None:
        """Forgets the target positions from `length` on; the memory's keys and values stay."""
        for layer in self.layers:
            if layer.key is not None and layer.value is not None:
                kept = length > 0
                layer.key = layer.key[:, :, :length] if kept else None
                layer.value = layer.value[:, :, :length] if kept else None

    def select(self, rows: Tensor, memory: bool = True) -> None:
        """Keeps the given rows of the batch, in the given order: what a beam does to its hypotheses.

        `memory` False leaves the memory's keys and values alone: right where each row is replaced by one of the same
        source, and cheaper.
        """
        for layer in self.layers:
            for name in ("key", "value", "memory_key", "memory_value") if memory else ("key", "value"):
                tensor = getattr(layer, name)
                if tensor is not None:
                    setattr(layer, name, tensor.index_select(0, rows))
