"""Scaled dot-product and multi-head attention (Vaswani et al. 2017, section 3.2).

Shapes: B batch, H head, G key/value head, Q query, K key, D d_model, d_head = D / H.
Masks are boolean, True = may attend, and broadcast over `[B, H, Q, K]`.
"""

from __future__ import annotations

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model_core.config import ModelConfig
from model_core.model.masks import Mask
from model_core.model.points import PLAIN, Address, Call
from model_core.model.positions import rotate
from model_core.tensors.dropout import dropout as drop
from model_core.tensors.linear import Linear


def attention_scores(query: Tensor, key: Tensor, scaled: bool = True) -> Tensor:
    """QK^T / sqrt(d_head): `[B, H, Q, d_head]`, `[B, H, K, d_head]` -> `[B, H, Q, K]`; not `scaled`: QK^T."""
    # Q is divided rather than QK^T: the same product, and fewer numbers to divide.
    return (query / math.sqrt(query.shape[-1]) if scaled else query) @ key.transpose(-2, -1)


def attention_weights(query: Tensor, key: Tensor, mask: Mask = None, scaled: bool = True) -> Tensor:
    """softmax(QK^T / sqrt(d_head)) over the keys: `[B, H, Q, d_head]`, `[B, H, K, d_head]` -> `[B, H, Q, K]`.

    Where `mask` is False the weight is exactly 0. A row that may attend to nothing gives NaN: the functions of
    `masks.py` refuse to make one.
    """
    return masked_softmax(attention_scores(query, key, scaled), mask)


def masked_softmax(scores: Tensor, mask: Mask) -> Tensor:
    """The softmax of scores `[B, H, Q, K]` over the keys that are allowed."""
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -math.inf)
    return scores.softmax(dim=-1)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Mask = None,
    *,
    dropout: float = 0.0,
    scaled: bool = True,
    fused: bool | None = None,
) -> Tensor:
    """softmax(QK^T / sqrt(d_head)) V, by the fastest exact path: `[B, H, Q, d_head]`.

    `fused` None takes PyTorch's fused kernel on CUDA and the explicit path on the CPU, where it is faster at sentence
    length.
    """
    if query.is_cuda if fused is None else fused:
        scale = None if scaled else 1.0
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout, scale=scale)
    weights = drop(attention_weights(query, key, mask, scaled), dropout)
    return weights.to(value.dtype) @ value


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1 ... head_H) W_O, head_i = Attention(Q W_Qi, K W_Ki, V W_Vi).

    The H matrices W_Qi are the H blocks of d_head columns of one matrix `query`. `key` and `value` likewise have one
    block per key/value head: H of them, or fewer that several query heads share (Shazeer 2019, arXiv:1911.02150;
    Ainslie et al. 2023, arXiv:2305.13245).
    """

    def __init__(self, config: ModelConfig, address: Address | None = None) -> None:
        super().__init__()
        self.address = address or Address()
        self.heads, self.key_value_heads = config.heads, config.key_value_heads or config.heads
        self.dropout, self.scaled = config.attention_dropout, config.scaled
        self.rotary = config.positions == "rotary" and self.address.sublayer == "self_attention"
        self.position_base = config.position_base
        width = self.key_value_heads * config.d_head
        self.query = Linear(config.d_model, config.d_model)
        self.key = Linear(config.d_model, width)
        self.value = Linear(config.d_model, width)
        self.output = Linear(config.d_model, config.d_model)

    def forward(self, states: Tensor, memory: Tensor | None = None, mask: Mask = None, call: Call = PLAIN) -> Tensor:
        """`states [B, Q, D]` attend to themselves, or to `memory [B, K, D]` if that is given -> `[B, Q, D]`."""
        query = call.point(self.address, "queries", self.project_query(states, call.start))
        key, value = self.keys_and_values(states, memory, call)
        heads = self.attend(query, self.shared(key), self.shared(value), mask, call)
        return self.output(self.merge(call.point(self.address, "heads", heads)))

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Mask, call: Call) -> Tensor:
        """`attend` of this file; step by step where somebody watches or changes a step."""
        dropout, point = self.dropout if self.training else 0.0, partial(call.point, self.address)
        if not call.acts(self.address, "scores", "mask", "weights"):
            return attend(query, key, value, mask, dropout=dropout, scaled=self.scaled)
        scores = point("scores", attention_scores(query, key, self.scaled))
        if call.acts(self.address, "mask"):
            whole = torch.ones((), dtype=torch.bool, device=scores.device) if mask is None else mask
            mask = point("mask", whole.expand(scores.shape))
            if not bool(mask.any(dim=-1).all()):
                raise ValueError(f"At {self.address} a changed mask leaves a query without any key to attend to.")
        weights = point("weights", masked_softmax(scores, mask))
        return drop(weights, dropout).to(value.dtype) @ value

    def keys_and_values(
        self, states: Tensor, memory: Tensor | None = None, call: Call = PLAIN
    ) -> tuple[Tensor, Tensor]:
        """Keys and values `[B, G, K, d_head]`; with a cache in the call, only what it does not hold is computed."""
        stored = None if call.cache is None else call.cache.layers[self.address.layer]
        if memory is not None and stored is not None and stored.memory_key is not None:
            assert stored.memory_value is not None
            return stored.memory_key, stored.memory_value
        key, value = self.project_key_value(states if memory is None else memory, call.start)
        key, value = call.point(self.address, "keys", key), call.point(self.address, "values", value)
        if stored is None:
            return key, value
        if memory is None:
            return stored.append(key, value)
        stored.memory_key, stored.memory_value = key, value
        return key, value

    def project_query(self, states: Tensor, start: int = 0) -> Tensor:
        """`[B, Q, D]`, whose first row stands at position `start` -> `[B, H, Q, d_head]`."""
        query = self.split(self.query(states), self.heads)
        return rotate(query, start, self.position_base) if self.rotary else query

    def project_key_value(self, states: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """`[B, K, D]` -> keys and values, each `[B, G, K, d_head]`."""
        key, value = (self.split(linear(states), self.key_value_heads) for linear in (self.key, self.value))
        return rotate(key, start, self.position_base) if self.rotary else key, value

    def shared(self, heads: Tensor) -> Tensor:
        """Each key/value head once for every query head that shares it: `[B, G, K, d_head]` -> `[B, H, K, d_head]`."""
        times = self.heads // self.key_value_heads
        return heads if times == 1 else heads.repeat_interleave(times, dim=1)

    def split(self, states: Tensor, heads: int) -> Tensor:
        """`[B, T, heads * d_head]` -> `[B, heads, T, d_head]`."""
        batch, length, width = states.shape
        return states.view(batch, length, heads, width // heads).transpose(1, 2)

    def merge(self, heads: Tensor) -> Tensor:
        """`[B, H, T, d_head]` -> `[B, T, D]`."""
        batch, count, length, d_head = heads.shape
        return heads.transpose(1, 2).reshape(batch, length, count * d_head)
