"""Beam search for one sentence: which hypotheses live on. Ids and scores only, no model and no tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from model_core.config import EOS_ID, DecodingConfig
from model_core.search.hypotheses import Decoded, Path, penalised
from model_core.trace.steps import Alternative, DecodingStep, Hypothesis


class Candidate(NamedTuple):
    """A live path and an id that may follow it."""

    log_probability: float
    row: int
    step: DecodingStep


class Beam:
    """The live paths of one sentence, the finished ones, and every hypothesis that was looked at.

    Of the live paths' continuations the 2 x width most probable are looked at. Those among the first `width` that end
    are finished, and the first `width` that don't end live on; the others are pruned (marked `kept=False`). The search
    is done when `width` paths are finished, at the length limit, or when no live path could still enter the n best.
    A width of 1 is greedy search.
    """

    def __init__(self, path: Path, config: DecodingConfig) -> None:
        self.config, self.limit = config, path.limit
        self.live: list[Path] = [path]
        self.finished: list[Path] = []
        self.history: list[tuple[Hypothesis, ...]] = []
        self._places = [-1]  # where the live paths stand among the last step's hypotheses
        for step in path.steps:  # a forced beginning: one hypothesis a step
            self._force(step, path)

    def _force(self, step: DecodingStep, path: Path) -> None:
        length = len(self.history) + 1
        total = sum(earlier.log_probability for earlier in path.steps[:length])
        self.history.append((self._hypothesis(step.chosen_id, self._places[0], total, length, True),))
        self._places = [0]

    def _hypothesis(self, id_: int, parent: int, total: float, length: int, kept: bool) -> Hypothesis:
        score = penalised(total, length, self.config.length_penalty)
        return Hypothesis(id_, parent, total, score, id_ == EOS_ID, kept)

    def advance(self, ranked: Sequence[Sequence[Alternative]]) -> list[int]:
        """Given each live path's most probable ids (2 x width at least), makes one step.

        Returns the row of `live` that each path now alive came from.
        """
        candidates = self._candidates(ranked)
        keep = self._keep(candidates)
        self.history.append(self._hypotheses(candidates, keep))
        parents, live, places = [], [], []
        for place in keep:
            row, step = candidates[place].row, candidates[place].step
            path = self.live[row].extend(step)
            if path.finished:
                self.finished.append(path)
            else:
                parents.append(row)
                live.append(path)
                places.append(place)
        self.live, self._places = live, places
        return parents

    def _candidates(self, ranked: Sequence[Sequence[Alternative]]) -> list[Candidate]:
        """The 2 x width most probable continuations, best first."""
        count, shown = 2 * self.config.beam_width, self.config.alternatives
        candidates = []
        for row, (path, following) in enumerate(zip(self.live, ranked, strict=True)):
            alternatives = tuple(following[:shown])
            for id_, value in ((entry.id, entry.log_probability) for entry in following[:count]):
                step = DecodingStep(id_, value, alternatives)
                candidates.append(Candidate(path.log_probability + value, row, step))
        candidates.sort(key=lambda candidate: -candidate.log_probability)
        return candidates[:count]

    def _keep(self, candidates: Sequence[Candidate]) -> list[int]:
        """The places of the candidates that finish or live on."""
        width = self.config.beam_width
        keep, living = [], 0
        for place, candidate in enumerate(candidates):
            if candidate.step.chosen_id == EOS_ID:
                if place < width:
                    keep.append(place)
            elif living < width:
                keep.append(place)
                living += 1
        return keep

    def _hypotheses(self, candidates: Sequence[Candidate], keep: Sequence[int]) -> tuple[Hypothesis, ...]:
        length = len(self.history) + 1
        return tuple(
            self._hypothesis(
                entry.step.chosen_id, self._places[entry.row], entry.log_probability, length, place in keep
            )
            for place, entry in enumerate(candidates)
        )

    @property
    def done(self) -> bool:
        """Nothing that may still come could change the n best."""
        at_limit = len(self.history) >= self.limit
        return at_limit or not self.live or len(self.finished) >= self.config.beam_width or self._hopeless()

    def _hopeless(self) -> bool:
        """No live path can enter the n best: its sum only falls, and no length up to the limit is penalised less."""
        wanted, alpha = self.config.n_best, self.config.length_penalty
        if len(self.finished) < wanted:
            return False
        worst = sorted((path.score(alpha) for path in self.finished), reverse=True)[wanted - 1]
        return penalised(self.live[0].log_probability, self.limit, alpha) <= worst

    def _best(self) -> list[Path]:
        """Finished paths by their scores, then those that are not finished by theirs."""
        return [
            path
            for group in (self.finished, self.live)
            for path in sorted(group, key=lambda path: -path.score(self.config.length_penalty))
        ]

    def best_ids(self) -> list[int]:
        """The ids of what looks best at the moment: the best live path until the search is done."""
        return list((self._best() if self.done else self.live)[0].ids)

    def results(self) -> list[Decoded]:
        """The n best, best first; one that the limit cut off comes only where too few are finished."""
        alpha = self.config.length_penalty
        return [path.decoded(alpha, self.history) for path in self._best()[: self.config.n_best]]
