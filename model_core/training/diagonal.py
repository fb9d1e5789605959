"""The share of cross-attention that follows the letters of a copy task.

Shapes: L layer, B sequence, H head, T target step, S source position, n letters.

The source is `<s> l1 ... ln </s>` and target step t (from 0) writes letter t + 1, and </s> after the last one. So the
source position that step t has to look at is t + 1: a diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model_core.interventions import make_call, record_attention
from model_core.model.transformer import Transformer
from model_core.training.batching import Example, make_batch


@dataclass(frozen=True)
class Diagonal:
    """`weight`: the mean attention on the position to look at. `largest`: the share of steps where none has more."""

    weight: float
    largest: float


def diagonal(weights: Tensor) -> Diagonal:
    """Of one map or several of one size, `[..., n + 1, n + 2]`."""
    steps = torch.arange(weights.shape[-2])
    on_it = weights[..., steps, steps + 1]
    return Diagonal(float(on_it.mean()), float((weights.argmax(dim=-1) == steps + 1).float().mean()))


@dataclass(frozen=True)
class CrossAttention:
    """For each decoder layer the diagonal of each head, and of the mean over the heads."""

    heads: tuple[tuple[Diagonal, ...], ...]
    means: tuple[Diagonal, ...]


@torch.inference_mode()
def cross_attention(model: Transformer, sequences: Sequence[Sequence[int]]) -> CrossAttention:
    """Measured while the model is made to copy sequences of ids, each step of each sequence counting alike."""
    by_length: dict[int, list[Example]] = {}
    for sequence in sequences:
        by_length.setdefault(len(sequence), []).append(Example(list(sequence), list(sequence)))
    measured: list[tuple[int, Tensor]] = []
    for length, examples in by_length.items():
        batch, record = make_batch(examples), record_attention(["cross"])
        model.states(batch.source, batch.decoder_input, call=make_call(model.config, record))
        measured.append((len(examples) * (length + 1), record.weights("cross")))
    config = model.config
    return CrossAttention(
        heads=tuple(
            tuple(_pooled([(steps, maps[layer, :, head]) for steps, maps in measured]) for head in range(config.heads))
            for layer in range(config.decoder_depth)
        ),
        means=tuple(
            _pooled([(steps, maps[layer].mean(dim=1)) for steps, maps in measured])
            for layer in range(config.decoder_depth)
        ),
    )


def _pooled(maps: Sequence[tuple[int, Tensor]]) -> Diagonal:
    """The diagonal over maps of several sizes, by their numbers of steps."""
    total = sum(steps for steps, _ in maps)
    parts = [(steps / total, diagonal(weights)) for steps, weights in maps]
    return Diagonal(sum(share * d.weight for share, d in parts), sum(share * d.largest for share, d in parts))
