"""The named points of a model, and what carries those who watch or change them through one call of it.

A point is named by where it lies: "encoder.embedding", "decoder.3.cross_attention.weights", "decoder.logits".
Layers and heads count from 0.

Shapes: B batch, T token (Q query, K key), H head, G key/value head, D d_model, F d_ff, V vocabulary, d_head = D / H.

    STACK.embedding                         [B, T, D]       what enters the first layer
    STACK.LAYER.SUBLAYER.residual_before    [B, T, D]       the residual stream that enters the sublayer
    STACK.LAYER.SUBLAYER.output             [B, T, D]       what the sublayer returns, before it is added to the stream
    STACK.LAYER.SUBLAYER.residual_after     [B, T, D]
    STACK.LAYER.ATTENTION.queries           [B, H, Q, d_head]
    STACK.LAYER.ATTENTION.keys, .values     [B, G, K, d_head]   with a cache: those of the newest positions
    STACK.LAYER.ATTENTION.scores            [B, H, Q, K]    before the mask
    STACK.LAYER.ATTENTION.mask              [B, H, Q, K]    bool, True = may attend
    STACK.LAYER.ATTENTION.weights           [B, H, Q, K]    after the softmax
    STACK.LAYER.ATTENTION.heads             [B, H, Q, d_head]   each head's output, before W_O
    STACK.LAYER.feed_forward.hidden         [B, T, F]       after the activation
    STACK.final_norm                        [B, T, D]       what the stack returns, whether it has a final norm or not
    decoder.logits                          [B, T, V]       before the softmax
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from torch import Tensor

from model_core.model.cache import KeyValueCache


class Address(str):
    """Where a sublayer stands, such as "decoder.3.cross_attention": known to it from its construction."""

    stack: str
    layer: int
    sublayer: str

    def __new__(cls, stack: str = "encoder", layer: int = 0, sublayer: str = "self_attention") -> Address:
        address = super().__new__(cls, f"{stack}.{layer}.{sublayer}")
        address.stack, address.layer, address.sublayer = stack, layer, sublayer
        return address

    def __getnewargs__(self) -> tuple[Any, ...]:  # so that a copied model keeps its addresses
        return self.stack, self.layer, self.sublayer


class Acting(Protocol):
    """Whoever watches or changes values at a point."""

    def apply(self, point: str, value: Tensor, start: int) -> Tensor:
        """The value to use in place of `value`, of the same shape; `start` is the position of its first query row."""
        ...


class Call:
    """One call of a model, as it goes through its layers: who watches or changes its points, and the decoder's cache.

    Belongs to one request. `acting` has for the name of a point those who act there, in their order; make one by
    `model_core.interventions.make_call`, which refuses points that the model lacks. `start` is the position of the
    first row that the decoder computes now.
    """

    def __init__(
        self, acting: Mapping[str, Sequence[Acting]] | None = None, cache: KeyValueCache | None = None
    ) -> None:
        self.acting = acting or {}
        self.cache = cache
        self.start = 0 if cache is None else cache.length

    def with_cache(self, cache: KeyValueCache) -> Call:
        """The same interventions, for decoding what `cache` has not seen yet."""
        return Call(self.acting, cache)

    def acts(self, address: str, *names: str) -> bool:
        """Whether somebody acts at one of the named points of an address."""
        return bool(self.acting) and any(f"{address}.{name}" in self.acting for name in names)

    def point(self, address: str, name: str, value: Tensor) -> Tensor:
        """The value to go on with at a point: `value`, unless somebody changes it."""
        if self.acting:
            for one in self.acting.get(point := f"{address}.{name}", ()):
                value = one.apply(point, value, self.start if address.startswith("decoder") else 0)
        return value


PLAIN = Call()
"""Nobody watches, and nothing is cached."""
