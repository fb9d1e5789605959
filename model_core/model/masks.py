"""Who may attend to whom. True = may attend, everywhere in this project.

Shapes: B batch, Q query, K key, T target. A mask broadcasts over `[B, H, Q, K]` (H head).
A row that may attend to nothing has no softmax (0 / 0 = NaN), so the functions here refuse to make one.
"""

from __future__ import annotations

import torch
from torch import Tensor

Mask = Tensor | None
"""None lets everybody attend to everything, and is faster."""


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Keys that are not padding: `ids [B, K]` -> bool `[B, 1, 1, K]`.

    Raises:
        ValueError: a sequence is nothing but padding (its rows would be fully masked).
    """
    allowed = ids.ne(pad_id)
    if empty := allowed.any(dim=-1).logical_not().nonzero().flatten().tolist():
        raise ValueError(
            f"Sequences {empty} of the batch of {ids.shape[0]} are nothing but padding (id {pad_id}): every row of "
            "their attention would be masked. Give each at least one token."
        )
    return allowed[:, None, None, :]


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """Position q may attend to k <= q: bool `[T, T]`, the lower triangle (section 3.2.3 of the paper)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def decoder_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Causal and not padding: `ids [B, T]` -> bool `[B, 1, T, T]`.

    Raises:
        ValueError: a row could attend to nothing, because a sequence starts with padding or is nothing but padding.
    """
    allowed = padding_mask(ids, pad_id) & causal_mask(ids.shape[1], ids.device)
    if not bool(allowed[:, 0, 0, 0].all()):
        raise ValueError(
            "A decoder input starts with padding, so its first row could attend to nothing: pad on the right."
        )
    return allowed


def over_heads(mask: Tensor) -> Tensor:
    """A mask that says nothing of heads, `[B, Q, K]`, as one that broadcasts over them, `[B, 1, Q, K]`."""
    return mask.bool()[:, None] if mask.dim() == 3 else mask.bool()
