"""One new position through the decoder without nn.Module's bookkeeping: what decoding spends its time on.

For a single row an nn.Module's calls and attribute look-ups cost as much as the arithmetic. Here the weights are looked
up once, and a step is the same sums as `Decoder.forward` with a cache; tests hold the two equal. It knows the plain
decoder only (`LiftedDecoder.fits`), and nobody can watch it.

Shapes: R row (one growing translation), H head, S source, D d_model, d_head = D / H.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from model_core.config import ModelConfig
from model_core.model.attention import attend
from model_core.model.cache import KeyValueCache, LayerCache
from model_core.model.layers import DecoderLayer, Residual
from model_core.model.transformer import Transformer
from model_core.tensors.linear import Linear

RowFunction = Callable[[Tensor], Tensor]
"""`[R, d_in]` -> `[R, d_out]`."""


def affine(linear: Linear) -> RowFunction:
    """`linear` as a plain function of rows."""
    weight, bias = linear.weight, linear.bias
    return lambda rows: torch.addmm(bias, rows, weight)


def normalise(norm: nn.LayerNorm) -> RowFunction:
    """`norm` as a plain function of rows."""
    shape, weight, bias, epsilon = norm.normalized_shape, norm.weight, norm.bias, norm.eps
    return lambda rows: torch.layer_norm(rows, shape, weight, bias, epsilon)


def residual_of(residual: Residual) -> Callable[[Tensor, RowFunction], Tensor]:
    """`residual` without dropout, in its arrangement of the norm."""
    norm = normalise(residual.norm)
    if residual.pre:
        return lambda rows, sublayer: rows + sublayer(norm(rows))
    return lambda rows, sublayer: norm(rows + sublayer(rows))


class LiftedLayer:
    """One decoder layer for one new position a row: `[R, D]` -> `[R, D]`."""

    def __init__(self, layer: DecoderLayer) -> None:
        own, cross, feed_forward = layer.self_attention, layer.cross_attention, layer.feed_forward
        self.heads = own.heads
        self.query, self.key, self.value, self.output = map(affine, (own.query, own.key, own.value, own.output))
        self.cross_query, self.cross_output = affine(cross.query), affine(cross.output)
        self.inner, self.outer = affine(feed_forward.inner), affine(feed_forward.outer)
        residuals = [residual_of(residual) for residual in layer.residuals if isinstance(residual, Residual)]
        self.residual_self, self.residual_cross, self.residual_feed_forward = residuals

    def __call__(self, rows: Tensor, cache: LayerCache, source_mask: Tensor | None) -> Tensor:
        """Extends `cache`, which has the memory's keys and values already."""
        memory_key, memory_value = cache.memory_key, cache.memory_value
        assert memory_key is not None and memory_value is not None

        def attend_self(x: Tensor) -> Tensor:
            key, value = cache.append(self._split(self.key(x)), self._split(self.value(x)))
            return self.output(attend(self._split(self.query(x)), key, value, fused=True).view(x.shape))

        def attend_memory(x: Tensor) -> Tensor:
            query = self._split(self.cross_query(x))
            heads = attend(query, memory_key, memory_value, source_mask, fused=True)
            return self.cross_output(heads.view(x.shape))

        rows = self.residual_self(rows, attend_self)
        rows = self.residual_cross(rows, attend_memory)
        return self.residual_feed_forward(rows, lambda x: self.outer(self.inner(x).relu_()))

    def _split(self, rows: Tensor) -> Tensor:
        """`[R, D]` -> `[R, H, 1, d_head]`: for a single position the heads lie as they must."""
        return rows.view(rows.shape[0], self.heads, 1, -1)


class LiftedDecoder:
    """The whole decoder for one new position per row. Reads the model's weights as they are when it is made."""

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self.layers = [LiftedLayer(layer) for layer in model.decoder.layers if isinstance(layer, DecoderLayer)]

    @staticmethod
    def fits(config: ModelConfig) -> bool:
        """Whether a model of this shape has the decoder that is written here."""
        plain = config.activation == "relu" and config.scaled and config.residuals and config.positions != "rotary"
        return plain and config.key_value_heads in (None, config.heads)

    def __call__(self, ids: Tensor, cache: KeyValueCache, source_mask: Tensor | None = None) -> Tensor:
        """The rows' newest ids `[R]`, the cache of all positions before -> states `[R, D]`; extends the cache.

        `source_mask` is bool `[R, 1, 1, S]`, None where nothing is padding.
        """
        rows = self.model.embed(self.model.target_embedding, ids[:, None], cache.length)[:, 0]
        for layer, stored in zip(self.layers, cache.layers, strict=True):
            rows = layer(rows, stored, source_mask)
        return self.model.decoder.norm(rows)
