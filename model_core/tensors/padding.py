"""Rows of ids of different lengths as one tensor. Shapes: B row, T longest row."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from model_core.config import PAD_ID


def pad(rows: Sequence[Sequence[int]], *, length: int | None = None, device: torch.device | None = None) -> Tensor:
    """int64 ids `[B, T]`, padded on the right with PAD_ID to the longest row, or to `length`.

    Raises:
        ValueError: there is no row, or one is longer than `length`.
    """
    if not rows:
        raise ValueError("There is nothing to pad: give at least 1 row of ids.")
    longest = max(map(len, rows))
    width = longest if length is None else length
    if longest > width:
        raise ValueError(f"A row of {longest} ids can't be padded to {width}: give a length of {longest} or more.")
    return torch.tensor([[*row, *[PAD_ID] * (width - len(row))] for row in rows], dtype=torch.int64, device=device)
