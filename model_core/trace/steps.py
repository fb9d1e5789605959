"""The steps of a decoding: what was chosen, what else was likely, and the beam's hypotheses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

TraceStrategy = Literal["greedy", "beam", "sample", "forced"]
STRATEGIES: tuple[TraceStrategy, ...] = get_args(TraceStrategy)


@dataclass(frozen=True)
class Alternative:
    """A token that the model might have written at a step, and its log-probability (natural logarithm)."""

    id: int
    log_probability: float


@dataclass(frozen=True)
class Hypothesis:
    """One candidate of one step of a beam search.

    `id` is its last token; `parent` the index of what it continues among the hypotheses of the step before (-1 at the
    first step); `log_probability` the sum over its tokens; `score` that sum after the length penalty; `kept` is False
    where it was weighed but did not stay in the beam.
    """

    id: int
    parent: int
    log_probability: float
    score: float
    finished: bool
    kept: bool


@dataclass(frozen=True)
class DecodingStep:
    """One predicted token: what was chosen, what else was likely (best first), and the beam's candidates if any."""

    chosen_id: int
    log_probability: float
    alternatives: tuple[Alternative, ...]
    hypotheses: tuple[Hypothesis, ...] = ()
