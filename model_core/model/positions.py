"""Sinusoidal positional encoding (Vaswani et al. 2017, section 3.5). Shapes: T position, D d_model."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model_core.model.dropout import Dropout


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


class PositionalEncoding(nn.Module):
    """Adds the encoding of each position, then drops out. Any length works: rows past the stored table are computed."""

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
