"""A training that is looked at while it goes on, at one instant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model_core.training.snapshots import Snapshot

Phase = Literal["waiting", "training", "paused", "finished", "stopped", "lost", "failed"]
Wish = Literal["go on", "pause", "stop"]
OVER: tuple[Phase, ...] = ("finished", "stopped", "lost", "failed")


@dataclass(frozen=True)
class LiveState:
    """A run at one instant. `line` is its place among those that wait, from 1; 0 where it does not wait.

    `pending` says that it was asked for something (to pause, to go on, to stop) that it has not done yet. `seconds` is
    the time spent learning; `message` says why a run is over, where that was not its last step.
    """

    phase: Phase
    step: int
    steps: int
    seconds: float
    snapshots: tuple[Snapshot, ...]
    line: int = 0
    pending: bool = False
    message: str = ""

    @property
    def over(self) -> bool:
        return self.phase in OVER

    @property
    def steps_per_second(self) -> float | None:
        """None before there is anything to measure."""
        return self.step / self.seconds if self.step and self.seconds > 0 else None
