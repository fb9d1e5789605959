"""Scaled dot-product and multi-head attention (Vaswani et al. 2017, section 3.2).

Shapes: B batch, H head, Q query, K key, D d_model, d_head = D / H.
Masks are boolean, True = may attend, and broadcast over `[B, H, Q, K]`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model_core.model.dropout import dropout as drop
from model_core.model.linear import Linear

Tap = Callable[[Tensor], Tensor]
"""Is given the weights `[B, H, Q, K]` and returns the weights to use: to watch them, or to change them."""

MaskTap = Callable[[Tensor, Tensor | None], Tensor | None]
"""Is given the scores `[B, H, Q, K]` before the mask, and the mask (None: all allowed), and returns the mask to use."""


def attention_scores(query: Tensor, key: Tensor) -> Tensor:
    """QK^T / sqrt(d_head): `[B, H, Q, d_head]`, `[B, H, K, d_head]` -> `[B, H, Q, K]`."""
    # Q is divided rather than QK^T: the same product, and fewer numbers to divide.
    return query / math.sqrt(query.shape[-1]) @ key.transpose(-2, -1)


def attention_weights(query: Tensor, key: Tensor, allowed: Tensor | None = None) -> Tensor:
    """softmax(QK^T / sqrt(d_head)) over the keys: `[B, H, Q, d_head]`, `[B, H, K, d_head]` -> `[B, H, Q, K]`.

    Where `allowed` is False the weight is exactly 0. A row that may attend to nothing gives NaN: the functions of
    `masks.py` refuse to make one.
    """
    return masked_softmax(attention_scores(query, key), allowed)


def masked_softmax(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """The softmax of scores `[B, H, Q, K]` over the keys that are allowed."""
    if allowed is not None:
        scores = scores.masked_fill(allowed.logical_not(), -math.inf)
    return scores.softmax(dim=-1)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    allowed: Tensor | None = None,
    *,
    dropout: float = 0.0,
    tap: Tap | None = None,
    mask_tap: MaskTap | None = None,
    fused: bool | None = None,
) -> Tensor:
    """softmax(QK^T / sqrt(d_head)) V, by the fastest exact path: `[B, H, Q, d_head]`.

    A `tap` sees (and may replace) the weights and a `mask_tap` the mask, so they need the explicit path. Without them,
    `fused` None takes PyTorch's fused kernel on CUDA and the explicit path on the CPU, where it is faster at sentence
    length.

    Raises:
        ValueError: a tap is given together with `fused=True`.
    """
    tapped = tap is not None or mask_tap is not None
    if fused is None:
        fused = query.is_cuda and not tapped
    if fused:
        if tapped:
            raise ValueError("The fused kernel never shows its weights: leave `fused` out to tap them.")
        return F.scaled_dot_product_attention(query, key, value, attn_mask=allowed, dropout_p=dropout)
    scores = attention_scores(query, key)
    if mask_tap is not None:
        allowed = mask_tap(scores, allowed)
    weights = masked_softmax(scores, allowed)
    if tap is not None:
        weights = tap(weights)
    weights = drop(weights, dropout)
    return weights.to(value.dtype) @ value


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1 ... head_H) W_O, head_i = Attention(Q W_Qi, K W_Ki, V W_Vi).

    The H matrices W_Qi are the H blocks of d_head columns of one matrix `query` (likewise `key` and `value`).
    """

    def __init__(
        self, d_model: int, heads: int, dropout: float = 0.0, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        if d_model % heads:
            raise ValueError(f"d_model {d_model} does not split evenly over {heads} heads.")
        self.heads = heads
        self.dropout = dropout
        self.query = Linear(d_model, d_model, generator)
        self.key = Linear(d_model, d_model, generator)
        self.value = Linear(d_model, d_model, generator)
        self.output = Linear(d_model, d_model, generator)

    def split(self, states: Tensor) -> Tensor:
        """`[B, T, D]` -> `[B, H, T, d_head]`."""
        batch, length, d_model = states.shape
        return states.view(batch, length, self.heads, d_model // self.heads).transpose(1, 2)

    def merge(self, heads: Tensor) -> Tensor:
        """`[B, H, T, d_head]` -> `[B, T, D]`."""
        batch, count, length, d_head = heads.shape
        return heads.transpose(1, 2).reshape(batch, length, count * d_head)

    def project_query(self, states: Tensor) -> Tensor:
        """`[B, Q, D]` -> `[B, H, Q, d_head]`."""
        return self.split(self.query(states))

    def project_key_value(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """`[B, K, D]` -> keys and values, each `[B, H, K, d_head]`."""
        return self.split(self.key(states)), self.split(self.value(states))

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        allowed: Tensor | None = None,
        tap: Tap | None = None,
        mask_tap: MaskTap | None = None,
    ) -> Tensor:
        """Attention over projected heads, concatenated and projected: -> `[B, Q, D]`."""
        dropout = self.dropout if self.training else 0.0
        heads = attend(query, key, value, allowed, dropout=dropout, tap=tap, mask_tap=mask_tap)
        return self.output(self.merge(heads))

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        allowed: Tensor | None = None,
        tap: Tap | None = None,
        mask_tap: MaskTap | None = None,
    ) -> Tensor:
        """`queries [B, Q, D]` attend to `keys [B, K, D]`, which give the values too -> `[B, Q, D]`."""
        return self.attend(self.project_query(queries), *self.project_key_value(keys), allowed, tap, mask_tap)
