"""Moments of a copy training: traces of one example while the model learns, so that learning can be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from model_core.files import write_atomically
from model_core.model.transformer import Transformer
from model_core.text.tokenizer import Tokenizer
from model_core.training.snapshots import example_trace, load_snapshot

STEPS = (0, 10, 25, 50, 75, 100, 125, 150, 200, 300, 600)  # dense while it learns; the last step comes on top


@dataclass(frozen=True)
class Moment:
    """One moment in figures: `right` of its `tokens` would have been written right (each after a right beginning).

    `log_probability` is that of the right copy, per token; `diagonal` the share of steps whose mean attention over the
    heads of the last layer is largest where it has to be.
    """

    step: int
    file: str
    log_probability: float
    right: int
    tokens: int
    diagonal: float


class Moments:
    """Keeps a trace of `EXAMPLE`, with the right copy as its target, at each of the steps."""

    def __init__(self, folder: Path, tokenizer: Tokenizer, last_step: int) -> None:
        self.folder, self.tokenizer = folder, tokenizer
        self.steps = (*(step for step in STEPS if step < last_step), last_step)

    def path(self, step: int) -> Path:
        return self.folder / f"moment-{step:05d}.safetensors"

    def keep(self, model: Transformer, step: int) -> None:
        """Writes the trace of a model that has made `step` steps, if this is one of the moments."""
        if step not in self.steps:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path(step), example_trace(model, self.tokenizer, step).to_bytes())

    def kept(self, last_step: int) -> list[Moment]:
        """The moments up to `last_step` that were kept, in their order."""
        return [self._read(step) for step in self.steps if step <= last_step and self.path(step).exists()]

    def _read(self, step: int) -> Moment:
        path = self.path(step)
        snapshot = load_snapshot(path, step)
        largest = snapshot.diagonal().largest
        return Moment(step, path.name, snapshot.log_probability, snapshot.right, len(snapshot.predicted), largest)
