"""Dropout that spends one random byte an element instead of one random draw."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

BYTE_VALUES = 256


def dropout(values: Tensor, rate: float) -> Tensor:
    """Zeroes elements at random and scales the others so that the expectation stays (Srivastava et al. 2014).

    On the CPU PyTorch draws the mask one number at a time, a fifth of a training step; here each 64-bit draw decides
    eight elements, so the rate is rounded to a multiple of 1/256 (0.1 becomes 26/256 = 0.1016). CUDA has no such
    trouble and takes the built-in. Any shape; the same shape and type come back.
    """
    if rate == 0.0:
        return values
    if values.is_cuda:
        return F.dropout(values, rate)
    dropped = round(rate * BYTE_VALUES)
    words = torch.empty((values.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
    keep = words.view(torch.uint8)[: values.numel()].view(values.shape) >= dropped
    return values * keep.to(values.dtype).mul_(BYTE_VALUES / (BYTE_VALUES - dropped))


class Dropout(nn.Module):
    """`dropout` while training, the identity otherwise."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, values: Tensor) -> Tensor:
        return dropout(values, self.rate) if self.training else values
