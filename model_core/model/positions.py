"""How the order of tokens gets into the model: sinusoids (Vaswani et al. 2017, section 3.5), a learned table (their
table 3, row E), rotated queries and keys (Su et al. 2021, arXiv:2104.09864), or not at all.

Shapes: B batch, H head, T position, D d_model, d_head = D / H.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model_core.config import ModelConfig
from model_core.tensors.dropout import Dropout


def sinusoidal_encoding(length: int, d_model: int, base: float = 10000.0, start: int = 0) -> Tensor:
    """PE(pos, 2i) = sin(pos / base^(2i / D)), PE(pos, 2i + 1) = cos(pos / base^(2i / D)).

    Returns float32 `[length, D]` for positions start ... start + length - 1, computed in float64 so that far positions
    keep their digits.

    Raises:
        ValueError: `d_model` is odd, or a length is negative.
    """
    if d_model % 2:
        raise ValueError(f"d_model must be even, because sine and cosine come in pairs; it is {d_model}.")
    if length < 0 or start < 0:
        raise ValueError(f"Positions count from 0: length {length} and start {start} must not be negative.")
    position = torch.arange(start, start + length, dtype=torch.float64)[:, None]
    exponent = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angle = position / base**exponent
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()


def rotate(heads: Tensor, start: int = 0, base: float = 10000.0) -> Tensor:
    """Turns the pair (2i, 2i + 1) of the head's numbers at position pos by the angle pos / base^(2i / d_head).

    `[B, H, T, d_head]`, whose first row stands at position `start`; the product of a turned query and a turned key
    depends on how far apart they stand only (RoPE, equation 34).
    """
    encoding = sinusoidal_encoding(heads.shape[2], heads.shape[3], base, start).to(heads)
    sine, cosine = encoding[:, 0::2], encoding[:, 1::2]
    even, odd = heads[..., 0::2], heads[..., 1::2]
    return torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), dim=-1).flatten(-2)


class PositionalEncoding(nn.Module):
    """Adds the sinusoids of each position, then drops out. Any length works: rows past the table are computed."""

    table: Tensor

    def __init__(self, d_model: int, dropout: float = 0.0, base: float = 10000.0, stored: int = 512) -> None:
        super().__init__()
        self.base = base
        self.dropout = Dropout(dropout)
        self.register_buffer("table", sinusoidal_encoding(stored, d_model, base), persistent=False)

    def rows(self, length: int, start: int = 0) -> Tensor:
        """The encodings of positions start ... start + length - 1: `[length, D]`."""
        if start + length <= self.table.shape[0]:
            return self.table[start : start + length]
        return sinusoidal_encoding(length, self.table.shape[1], self.base, start).to(self.table)

    def forward(self, embedded: Tensor, start: int = 0) -> Tensor:
        """`embedded [B, T, D]`, whose first column stands at position `start` -> `[B, T, D]`."""
        return self.dropout(embedded + self.rows(embedded.shape[1], start).to(embedded.dtype))


class LearnedPositions(PositionalEncoding):
    """Adds a learned row for each position. There are as many as the table has; a longer sentence is refused."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config.d_model, config.dropout, stored=0)
        self.weight = nn.Parameter(torch.empty(config.max_positions, config.d_model))

    def rows(self, length: int, start: int = 0) -> Tensor:
        """Raises ValueError for a position that was never learned."""
        if start + length > len(self.weight):
            raise ValueError(f"This model learned {len(self.weight)} positions, too few for {start + length} tokens.")
        return self.weight[start : start + length]


class NoPositions(PositionalEncoding):
    """Adds nothing: the order is told elsewhere (rotary), or nowhere."""

    def __init__(self, d_model: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, dropout, stored=1)

    def rows(self, length: int, start: int = 0) -> Tensor:
        return torch.zeros(length, self.table.shape[1], device=self.table.device)

    def forward(self, embedded: Tensor, start: int = 0) -> Tensor:
        return self.dropout(embedded)


def make_positions(config: ModelConfig) -> PositionalEncoding:
    """The module that adds positions to the embeddings."""
    if config.positions == "sinusoidal":
        return PositionalEncoding(config.d_model, config.dropout, config.position_base)
    learned = config.positions == "learned"
    return LearnedPositions(config) if learned else NoPositions(config.d_model, config.dropout)
