"""Cross-entropy with label smoothing (Szegedy et al. 2016; Vaswani et al. 2017, section 5.4).

Shapes: N tokens, V vocabulary.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def smoothed_cross_entropy(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Sum over tokens of (1 - e) * -log p(target) + e / V * sum over v of -log p(v), in nats.

    `logits [N, V]` and `targets [N]`, without padding -> a scalar. The sum, not the mean: whoever knows how many tokens
    the global batch has divides by them, so that shards of a batch add up to the batch.
    """
    return F.cross_entropy(logits.float(), targets, reduction="sum", label_smoothing=smoothing)
