"""Which step is shown: the component's report, and a step kept to those there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viz.components import memory


@dataclass(frozen=True)
class Reported(memory.Reported[int]):
    """Where the component says it stands."""

    @classmethod
    def read(cls, state: Any) -> Reported | None:
        """From the component's state; None where it holds no step, or none that a component would report."""
        value = state.get("at") if isinstance(state, Mapping) else None
        if not isinstance(value, Mapping):
            return None
        step, token = value.get("step"), value.get("token")
        if not isinstance(step, int) or isinstance(step, bool) or not isinstance(token, str):
            return None
        return cls(step, token)


def settle(before: memory.Memory[int] | None, wish: int, reported: Reported | None, count: int) -> memory.Memory[int]:
    """Who wins (see `viz.components.memory`), kept to the `count` steps there are."""
    return memory.settle(before, wish, reported, lambda step: min(max(step, 0), count - 1))
