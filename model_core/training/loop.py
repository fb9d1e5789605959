"""The training loop: batches in, a better model out; stops at any step and goes on to the same losses.

Nothing random is carried from step to step: an epoch's batches follow from (seed, epoch), a step's dropout from
(seed, step, rank). So the saved state is only the weights, their running average and the optimizer's moments.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import torch

from model_core.config import TrainingConfig
from model_core.model.transformer import Transformer
from model_core.training.average import RunningAverage
from model_core.training.batching import Batch
from model_core.training.distributed import Workers
from model_core.training.progress import ProgressLine, TrainingLog, Window
from model_core.training.state import Progress, load_state, save_state, state_path
from model_core.training.step import StepResult, TrainingError, make_optimizer, train_step

LOG_EVERY = 50


class Task(Protocol):
    """The subject of a training: an epoch's batches, and a judgement of the model."""

    def epoch(self, index: int) -> Sequence[Callable[[], Batch]]:
        """The batches of epoch `index`, made when called; the same ones each time it is asked."""
        ...

    def validate(self, model: Transformer) -> dict[str, float]:
        """Figures under the log's column names, "validation_loss" among them."""
        ...


class Trainer:
    """One training run of one model in one folder.

    `improved` is called with the running average's model and the figures after each validation that is the best so far,
    `after_step` with the model after every step. Both get the run's progress.
    """

    def __init__(
        self,
        model: Transformer,
        task: Task,
        config: TrainingConfig,
        folder: Path,
        *,
        workers: Workers | None = None,
        improved: Callable[[Transformer, dict[str, float], Progress], None] | None = None,
        after_step: Callable[[Transformer, StepResult, Progress], None] | None = None,
    ) -> None:
        self.model, self.task, self.config, self.folder = model, task, config, folder
        self.workers = workers or Workers()
        self.improved, self.after_step = improved, after_step
        self.optimizer = make_optimizer(model, config)
        self.average = RunningAverage(model)
        self.progress = Progress()
        self._stop = False
        self.state_path = state_path(folder)
        if self.state_path.exists():
            self.progress = load_state(self.state_path, model, self.average.weights, self.optimizer)

    def stop(self) -> None:
        """Asks the run to save and end after the step that it is in. May be called from a signal handler or thread."""
        self._stop = True

    def step(self, batch: Batch) -> StepResult:
        """One optimizer step on one global batch, of which this process takes its rows.

        Raises:
            TrainingError: the loss or the gradient is no longer a number; the weights are left as they were.
        """
        config, workers, step = self.config, self.workers, self.progress.step
        torch.manual_seed(((config.seed * 1_000_003 + step) * 1_009 + workers.rank) % 2**63)
        result = train_step(self.model, self.optimizer, batch, config, step, workers)
        self.average.update(self.model, step, config.average_decay)
        self.progress.step += 1
        self.progress.target_tokens += result.tokens
        return result

    def _batches(self) -> Iterator[Batch]:
        """From where the run stands to its last step, epoch after epoch."""
        while True:
            batches = self.task.epoch(self.progress.epoch)
            if not batches:
                raise TrainingError(f"Epoch {self.progress.epoch} has no examples to train on: look at the corpus.")
            while self.progress.batch < len(batches):
                batch = batches[self.progress.batch]()
                self.progress.batch += 1
                yield batch
            self.progress.epoch += 1
            self.progress.batch = 0

    def run(self) -> Progress:
        """Trains until the last step, until early stopping, or until `stop()`; then saves.

        Raises:
            TrainingError: there is nothing to train on, or the loss is no longer a number.
        """
        log = TrainingLog(self.folder / "log.csv", self.progress.step) if self.workers.first else None
        line = ProgressLine(self.config.steps)
        window = Window(self.progress.window_loss, self.progress.window_tokens)
        started = time.monotonic() - self.progress.seconds
        batches = self._batches()
        while self.progress.step < self.config.steps and not self._finished():
            result = self.step(next(batches))
            if self.after_step is not None:
                self.after_step(self.model, result, self.progress)
            window.add(result.loss, result.tokens)
            self.progress.seconds = time.monotonic() - started
            if self._due(LOG_EVERY):
                self._log(log, line, window)
                window = Window()
            self.progress.window_loss, self.progress.window_tokens = window.loss_sum, window.tokens
            if self._due(self.config.validate_every):
                before = time.monotonic()
                self._validate(log, line)
                window.leave_out(time.monotonic() - before)
            if self.progress.step % self.config.save_every == 0:
                self._save()
        self._save()
        return self.progress

    def _due(self, every: int) -> bool:
        return self.progress.step % every == 0 or self.progress.step == self.config.steps

    def _finished(self) -> bool:
        patience = self.config.patience
        return self.workers.any(self._stop or bool(patience and self.progress.validations_since_best >= patience))

    def _save(self) -> None:
        if self.workers.first:
            save_state(self.state_path, self.model, self.average.weights, self.optimizer, self.progress)

    def _log(self, log: TrainingLog | None, line: ProgressLine, window: Window) -> None:
        if log is None:
            return
        progress, rate = self.progress, window.tokens_per_second
        log.add(
            step=progress.step,
            epoch=progress.epoch,
            learning_rate=f"{self.optimizer.param_groups[0]['lr']:.3e}",
            loss=f"{window.loss:.4f}",
            tokens_per_second=f"{rate:.0f}",
            seconds=f"{progress.seconds:.0f}",
        )
        left = (self.config.steps - progress.step) * progress.seconds / max(progress.step, 1)
        line.show(progress.step, window.loss, rate, left)

    def _validate(self, log: TrainingLog | None, line: ProgressLine) -> None:
        """The first process judges the running average; all of them keep account, so that they stop together."""
        progress, figures = self.progress, {"validation_loss": math.inf}
        with self.average.lent_to(self.model) as model:
            if self.workers.first:
                figures = self.task.validate(model)
            loss = self.workers.from_first(figures["validation_loss"])
            progress.validations_since_best += 1
            if loss < progress.best_loss:
                progress.best_loss, progress.best_step, progress.validations_since_best = loss, progress.step, 0
                if self.improved is not None and self.workers.first:
                    self.improved(model, figures, progress)
        if log is not None:
            cells = {name: f"{value:.4f}" for name, value in figures.items()}
            log.add(step=progress.step, epoch=progress.epoch, seconds=f"{progress.seconds:.0f}", **cells)
            line.note(f"step {progress.step}: " + ", ".join(f"{name} {value}" for name, value in cells.items()))
