"""Encoder and decoder layers (Vaswani et al. 2017, section 3.1), in both arrangements of the norm.

Shapes: B batch, T target, S source, D d_model, F d_ff.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from model_core.config import ModelConfig
from model_core.model.attention import MultiHeadAttention
from model_core.model.masks import Mask
from model_core.model.points import PLAIN, Address, Call
from model_core.tensors.dropout import Dropout
from model_core.tensors.linear import Linear

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "gelu": nn.GELU, "swiglu": nn.SiLU}


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, the same at every position (section 3.3): `[B, T, D]` -> `[B, T, D]`.

    GELU in the place of the maximum (Hendrycks & Gimpel 2016, arXiv:1606.08415), or SwiGLU, whose hidden units are
    SiLU(x W_g + b_g) * (x W_1 + b_1) (Shazeer 2020, arXiv:2002.05202).
    """

    def __init__(self, config: ModelConfig, address: Address | None = None) -> None:
        super().__init__()
        self.address = address or Address(sublayer="feed_forward")
        self.inner = Linear(config.d_model, config.d_ff)
        self.outer = Linear(config.d_ff, config.d_model)
        self.gate = Linear(config.d_model, config.d_ff) if config.activation == "swiglu" else None
        self.activation = ACTIVATIONS[config.activation]()
        self.dropout = Dropout(config.feed_forward_dropout)

    def forward(self, states: Tensor, call: Call = PLAIN) -> Tensor:
        hidden = self.inner(states)
        hidden = self.activation(hidden) if self.gate is None else self.activation(self.gate(states)) * hidden
        return self.outer(self.dropout(call.point(self.address, "hidden", hidden)))


class Residual(nn.Module):
    """Wraps a sublayer f: pre-norm x + drop(f(norm(x))), post-norm norm(x + drop(f(x))); without x if it is off."""

    def __init__(self, config: ModelConfig, address: Address | None = None) -> None:
        super().__init__()
        self.address = address or Address()
        self.norm = nn.LayerNorm(config.d_model)
        self.dropout = Dropout(config.dropout)
        self.pre, self.on = config.norm == "pre", config.residuals

    def forward(self, states: Tensor, sublayer: Callable[[Tensor], Tensor], call: Call = PLAIN) -> Tensor:
        states = call.point(self.address, "residual_before", states)
        output = call.point(self.address, "output", sublayer(self.norm(states) if self.pre else states))
        states = states + self.dropout(output) if self.on else self.dropout(output)
        return call.point(self.address, "residual_after", states if self.pre else self.norm(states))


class EncoderLayer(nn.Module):
    """1 self-attention, 2 feed-forward: `[B, S, D]` -> `[B, S, D]`."""

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__()
        addresses = [Address("encoder", layer, name) for name in ("self_attention", "feed_forward")]
        self.self_attention = MultiHeadAttention(config, addresses[0])
        self.feed_forward = FeedForward(config, addresses[1])
        self.residuals = nn.ModuleList(Residual(config, address) for address in addresses)

    def forward(self, states: Tensor, mask: Mask = None, call: Call = PLAIN) -> Tensor:
        states = self.residuals[0](states, lambda x: self.self_attention(x, None, mask, call), call)
        return self.residuals[1](states, lambda x: self.feed_forward(x, call), call)


class DecoderLayer(nn.Module):
    """1 masked self-attention, 2 cross-attention over the memory, 3 feed-forward: `[B, T, D]` -> `[B, T, D]`."""

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__()
        names = ("self_attention", "cross_attention", "feed_forward")
        addresses = [Address("decoder", layer, name) for name in names]
        self.self_attention = MultiHeadAttention(config, addresses[0])
        self.cross_attention = MultiHeadAttention(config, addresses[1])
        self.feed_forward = FeedForward(config, addresses[2])
        self.residuals = nn.ModuleList(Residual(config, address) for address in addresses)

    def forward(self, states: Tensor, memory: Tensor, mask: Mask, memory_mask: Mask, call: Call = PLAIN) -> Tensor:
        """With a cache in the call, `states` are the newest positions only."""
        states = self.residuals[0](states, lambda x: self.self_attention(x, None, mask, call), call)
        states = self.residuals[1](states, lambda x: self.cross_attention(x, memory, memory_mask, call), call)
        return self.residuals[2](states, lambda x: self.feed_forward(x, call), call)
