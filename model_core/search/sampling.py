"""Choosing the next id of each translation: the most probable one, or one drawn at random.

Shapes: R row (one growing translation), V target vocabulary.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from model_core.config import DecodingConfig
from model_core.search.hypotheses import forbid, ranked, score_steps
from model_core.trace.steps import DecodingStep


class Choose(Protocol):
    """Chooses one id a row."""

    def __call__(self, log_probabilities: Tensor, paths: Sequence[int], position: int) -> Sequence[DecodingStep]:
        """Log-probabilities `[R, V]`, the path that each row belongs to, how many ids these have -> one step a row."""
        ...


class Greedy:
    """Chooses the most probable id."""

    def __init__(self, alternatives: int) -> None:
        self.alternatives = alternatives

    def __call__(self, log_probabilities: Tensor, paths: Sequence[int], position: int) -> Sequence[DecodingStep]:
        """See `Choose`."""
        rows = ranked(log_probabilities, max(1, self.alternatives))
        return [DecodingStep(row[0].id, row[0].log_probability, tuple(row[: self.alternatives])) for row in rows]


def truncate(log_probabilities: Tensor, temperature: float, top_k: int, top_p: float) -> tuple[Tensor, Tensor]:
    """The distribution to draw from: probabilities `[R, V]` from the largest to the smallest, and their ids.

    First the temperature (softmax(log P / temperature)), then the `top_k` largest (0: all; Fan et al. 2018), then the
    fewest largest of these that hold at least `top_p` of their mass (Holtzman et al. 2020). Each row sums to 1.
    """
    values, ids = forbid(log_probabilities).double().sort(dim=-1, descending=True, stable=True)
    if top_k:
        values, ids = values[:, :top_k], ids[:, :top_k]
    probabilities = (values / temperature).softmax(dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    probabilities = probabilities.masked_fill(before >= top_p, 0.0)
    return probabilities / probabilities.sum(dim=-1, keepdim=True), ids


@dataclass(frozen=True)
class DrawnFrom:
    """The distribution of a sampler at one step: the number of ids that are left, and the share of those asked about.

    A share is the probability with which an id is drawn; 0 says that top-k or top-p cut it off.
    """

    count: int
    shares: tuple[float, ...]


def drawn_from(
    log_probabilities: Tensor, asked: Sequence[Sequence[int]], config: DecodingConfig
) -> tuple[DrawnFrom, ...]:
    """One entry a row of `[R, V]`, with the shares of the ids that are `asked` about there."""
    probabilities, ids = truncate(log_probabilities, config.temperature, config.top_k, config.top_p)
    shares = torch.zeros(log_probabilities.shape, dtype=probabilities.dtype, device=probabilities.device)
    shares.scatter_(-1, ids, probabilities)
    counts = (probabilities > 0.0).sum(dim=-1).tolist()
    return tuple(
        DrawnFrom(count, tuple(row[list(wanted)].tolist()))
        for count, row, wanted in zip(counts, shares, asked, strict=True)
    )


def draw(probabilities: Tensor, uniform: Tensor) -> Tensor:
    """The index at which the running sum of each row of `[R, V]` passes its number in [0, 1): `[R, 1]`."""
    passed = probabilities.cumsum(dim=-1) <= uniform[:, None]
    # The running sum of a row may end a rounding below 1: then its last possible index it is.
    last = probabilities.gt(0.0).sum(dim=-1, keepdim=True) - 1
    return passed.sum(dim=-1, keepdim=True).minimum(last)


def seed_of(seed: int, source: Sequence[int], sample: int) -> int:
    """A seed for one sample of one sentence. Nothing else in the batch has a say in it, and neither has the order."""
    text = f"{seed}|{sample}|{','.join(map(str, source))}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


class Sampler:
    """Draws ids. A sentence's draws depend on the seed, on its ids and on the number of the sample, on nothing else."""

    def __init__(
        self, config: DecodingConfig, sources: Sequence[Sequence[int]], samples: Sequence[int], limits: Sequence[int]
    ) -> None:
        self.config = config
        self.uniforms = []
        for source, sample, limit in zip(sources, samples, limits, strict=True):
            generator = torch.Generator().manual_seed(seed_of(config.seed, source, sample))
            self.uniforms.append(torch.rand(limit, dtype=torch.float64, generator=generator).tolist())

    def __call__(self, log_probabilities: Tensor, paths: Sequence[int], position: int) -> Sequence[DecodingStep]:
        """See `Choose`."""
        config = self.config
        probabilities, ids = truncate(log_probabilities, config.temperature, config.top_k, config.top_p)
        uniform = probabilities.new_tensor([self.uniforms[path][position] for path in paths])
        chosen = ids.gather(-1, draw(probabilities, uniform))[:, 0].tolist()
        return score_steps(chosen, log_probabilities, config.alternatives)
