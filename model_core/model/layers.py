"""Encoder and decoder layers (Vaswani et al. 2017, section 3.1), in both arrangements of the norm.

Shapes: B batch, T target, S source, D d_model, F d_ff.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from model_core.config import ModelConfig, Norm
from model_core.model.attention import MultiHeadAttention
from model_core.model.cache import LayerCache
from model_core.model.dropout import Dropout
from model_core.model.hooks import AttentionHook, mask_tap_at, tap_at
from model_core.model.linear import Linear


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, the same at every position (section 3.3): `[B, T, D]` -> `[B, T, D]`."""

    def __init__(self, d_model: int, d_ff: int, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.inner = Linear(d_model, d_ff, generator)
        self.outer = Linear(d_ff, d_model, generator)

    def forward(self, states: Tensor) -> Tensor:
        return self.outer(self.inner(states).relu())


class Residual(nn.Module):
    """Wraps a sublayer f: pre-norm x + drop(f(norm(x))), post-norm norm(x + drop(f(x)))."""

    def __init__(self, d_model: int, dropout: float, norm: Norm) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)
        self.pre = norm == "pre"

    def forward(self, states: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.pre:
            return states + self.dropout(sublayer(self.norm(states)))
        return self.norm(states + self.dropout(sublayer(states)))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward: `[B, S, D]` -> `[B, S, D]`."""

    def __init__(self, config: ModelConfig, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.d_model, config.heads, config.attention_dropout, generator)
        self.feed_forward = FeedForward(config.d_model, config.d_ff, generator)
        self.residuals = nn.ModuleList(Residual(config.d_model, config.dropout, config.norm) for _ in range(2))

    def forward(
        self, states: Tensor, allowed: Tensor | None, layer: int = 0, hook: AttentionHook | None = None
    ) -> Tensor:
        tap, mask_tap = tap_at(hook, "encoder_self", layer), mask_tap_at(hook, "encoder_self", layer)
        states = self.residuals[0](states, lambda x: self.self_attention(x, x, allowed, tap, mask_tap))
        return self.residuals[1](states, self.feed_forward)


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention over the memory, feed-forward: `[B, T, D]` -> `[B, T, D]`."""

    def __init__(self, config: ModelConfig, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.d_model, config.heads, config.attention_dropout, generator)
        self.cross_attention = MultiHeadAttention(config.d_model, config.heads, config.attention_dropout, generator)
        self.feed_forward = FeedForward(config.d_model, config.d_ff, generator)
        self.residuals = nn.ModuleList(Residual(config.d_model, config.dropout, config.norm) for _ in range(3))

    def forward(
        self,
        states: Tensor,
        memory: Tensor,
        allowed: Tensor | None,
        memory_allowed: Tensor | None,
        layer: int = 0,
        hook: AttentionHook | None = None,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """With a `cache`, `states` are the newest positions only; the cache is extended by them."""
        cache = LayerCache() if cache is None else cache
        start = 0 if cache.key is None else cache.key.shape[2]

        def attend_self(x: Tensor) -> Tensor:
            key, value = cache.append(*self.self_attention.project_key_value(x))
            query = self.self_attention.project_query(x)
            tap, mask_tap = tap_at(hook, "decoder_self", layer), mask_tap_at(hook, "decoder_self", layer, start)
            return self.self_attention.attend(query, key, value, allowed, tap, mask_tap)

        def attend_memory(x: Tensor) -> Tensor:
            if cache.memory_key is None or cache.memory_value is None:
                cache.memory_key, cache.memory_value = self.cross_attention.project_key_value(memory)
            query = self.cross_attention.project_query(x)
            tap, mask_tap = tap_at(hook, "cross", layer), mask_tap_at(hook, "cross", layer, start)
            key, value = cache.memory_key, cache.memory_value
            return self.cross_attention.attend(query, key, value, memory_allowed, tap, mask_tap)

        states = self.residuals[0](states, attend_self)
        states = self.residuals[1](states, attend_memory)
        return self.residuals[2](states, self.feed_forward)
