"""Interventions, which watch or change a model while it computes, and the call that carries them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from model_core.config import ModelConfig
from model_core.model.cache import KeyValueCache
from model_core.model.points import Call


class Intervention:
    """Watches or changes values at some points of one request, and remembers where it acted and how much it changed.

    A subclass says in `points` where it acts and in `change` what it does there. `changes` has for each point at which
    it acted the largest absolute difference that it made (1 where it turned a cell of a mask).
    """

    def __init__(self) -> None:
        self.changes: dict[str, float] = {}

    def points(self, config: ModelConfig) -> Sequence[str]:
        """The points at which it acts. Raises PointError where a model of this shape has no such point or head."""
        raise NotImplementedError

    def change(self, point: str, value: Tensor, start: int) -> Tensor:
        """The value to use in place of `value`, of the same shape; `start` is the position of its first query row."""
        raise NotImplementedError

    @property
    def largest_change(self) -> float:
        """0 where it changed nothing, or was never reached."""
        return max(self.changes.values(), default=0.0)

    def apply(self, point: str, value: Tensor, start: int) -> Tensor:
        """`change`, with its result checked and its size remembered."""
        used = self.change(point, value, start)
        if used.shape != value.shape:
            raise ValueError(
                f"{type(self).__name__} returned a value of shape {list(used.shape)} for {point}, which has "
                f"{list(value.shape)}."
            )
        size = 0.0 if used is value or not value.numel() else _largest_difference(value, used)
        self.changes[point] = max(self.changes.get(point, 0.0), size)
        return used


def _largest_difference(before: Tensor, after: Tensor) -> float:
    if before.dtype == torch.bool:
        return float(before.ne(after).any())
    return float((after.detach().float() - before.detach().float()).abs().nan_to_num(0.0, math.inf).max())


Interventions = Intervention | Sequence[Intervention]
"""One, or several in their order: each is given what the one before it returned."""


def listed(interventions: Interventions) -> tuple[Intervention, ...]:
    """The interventions in their order, whether one or several were given."""
    return (interventions,) if isinstance(interventions, Intervention) else tuple(interventions)


def make_call(config: ModelConfig, interventions: Interventions = (), cache: KeyValueCache | None = None) -> Call:
    """A call of a model of this shape with the interventions.

    Raises:
        PointError: before anything is computed, where one names a point or head that such a model lacks.
    """
    acting: dict[str, list[Intervention]] = {}
    for intervention in listed(interventions):
        for point in intervention.points(config):
            acting.setdefault(point, []).append(intervention)
    return Call(acting, cache)
