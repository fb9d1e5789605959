"""Paths, which a search grows, its results, and the scores of their steps.

Shapes: N rows (steps of one translation, or translations at one step), V target vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from model_core.config import EOS_ID
from model_core.text.ids import NEVER_WRITTEN
from model_core.trace.steps import Alternative, DecodingStep, Hypothesis


@dataclass(frozen=True)
class Decoded:
    """One translation.

    `ids` are its pieces and, if it ended by itself, </s>; `finished` is False where the length limit cut it off.
    `log_probability` is the sum over `ids`, `score` that sum with the length penalty, and `steps` has one entry an id.
    `beam` has the hypotheses of each step of the whole beam search, which may have gone on after this one ended.
    """

    ids: tuple[int, ...]
    log_probability: float
    score: float
    finished: bool
    steps: tuple[DecodingStep, ...]
    beam: tuple[tuple[Hypothesis, ...], ...] = ()


@dataclass(frozen=True)
class Path:
    """A translation that is still growing, of at most `limit` ids."""

    limit: int
    ids: tuple[int, ...] = ()
    log_probability: float = 0.0
    steps: tuple[DecodingStep, ...] = ()

    @property
    def finished(self) -> bool:
        """It ended by itself, with </s>."""
        return bool(self.ids) and self.ids[-1] == EOS_ID

    @property
    def done(self) -> bool:
        """It ended, or it may not grow any longer."""
        return self.finished or len(self.ids) >= self.limit

    def extend(self, step: DecodingStep) -> Path:
        """The path with one more id: the step's choice."""
        total = self.log_probability + step.log_probability
        return Path(self.limit, (*self.ids, step.chosen_id), total, (*self.steps, step))

    def score(self, length_penalty: float) -> float:
        """Its sum of log-probabilities with the length penalty (`penalised`)."""
        return penalised(self.log_probability, len(self.ids), length_penalty)

    def decoded(self, length_penalty: float, beam: Sequence[tuple[Hypothesis, ...]] = ()) -> Decoded:
        """The path as a result. `beam` has the hypotheses of each step, where there was a beam."""
        steps = self.steps
        if beam:
            steps = tuple(replace(step, hypotheses=beam[index]) for index, step in enumerate(steps))
        return Decoded(self.ids, self.log_probability, self.score(length_penalty), self.finished, steps, tuple(beam))


def penalised(log_probability: float, length: int, alpha: float) -> float:
    """log P / ((5 + length) / 6)^alpha (Wu et al. 2016, section 7); `length` counts ids, </s> among them."""
    return log_probability / ((5 + length) / 6) ** alpha


def forbid(log_probabilities: Tensor) -> Tensor:
    """A copy of `[N, V]` in which padding, <s> and <unk> are -inf. What is left is not renormalised."""
    allowed = log_probabilities.clone()
    for id_ in NEVER_WRITTEN:
        allowed[:, id_] = -math.inf
    return allowed


def ranked(log_probabilities: Tensor, count: int) -> list[list[Alternative]]:
    """Per row of `[N, V]` the `count` most probable ids that may be written, best first; all if there are fewer."""
    values, ids = forbid(log_probabilities).topk(min(count, log_probabilities.shape[-1]), dim=-1)
    return [
        [Alternative(id_, value) for id_, value in zip(*row, strict=True) if value > -math.inf]
        for row in zip(ids.tolist(), values.tolist(), strict=True)
    ]


def score_steps(chosen: Sequence[int], log_probabilities: Tensor, alternatives: int) -> tuple[DecodingStep, ...]:
    """One step per row of `[N, V]`: the id that was chosen there, its log-probability and the most probable ids.

    The chosen id may be any, and it is not among the alternatives where it is less probable than they are.
    """
    ids = torch.tensor(chosen, dtype=torch.int64, device=log_probabilities.device)
    own = log_probabilities.gather(-1, ids[:, None])[:, 0].tolist()
    others = ranked(log_probabilities, alternatives)
    return tuple(DecodingStep(id_, value, tuple(best)) for id_, value, best in zip(chosen, own, others, strict=True))


def ranks(chosen: Sequence[int], log_probabilities: Tensor) -> tuple[int, ...]:
    """The place, from 1, of the id chosen in each row of `[N, V]` among those that may be written, by probability.

    Ids of equal probability share the better rank. The chosen ids have to be such as may be written.
    """
    allowed = forbid(log_probabilities)
    ids = torch.tensor(chosen, dtype=torch.int64, device=allowed.device)
    better = allowed > allowed.gather(-1, ids[:, None])
    return tuple((1 + better.sum(dim=-1)).tolist())
