"""One copy training, step by step, that keeps what there is to see of it. Knows no threads."""

from __future__ import annotations

import math
import time

import torch

from model_core.building import make_model
from model_core.training.batching import Example, make_batch
from model_core.training.copy_task import BATCHES_AN_EPOCH, CopyTask, copy_tokenizer
from model_core.training.live_settings import LiveSettings
from model_core.training.snapshots import EXAMPLE, Snapshot, take_snapshot
from model_core.training.step import TrainingError, batch_loss, make_optimizer, train_step

SNAPSHOTS = 40  # at most, besides that of the untrained model
HELD_OUT = 48


class LiveTraining:
    """Learns from the first step to the last as often as `step()` is called; nothing in it is random but the seed.

    `snapshots` begins with the untrained model and gets another one every `every` steps and at the last. `seconds` is
    the time in `step()`, snapshots included.
    """

    def __init__(self, settings: LiveSettings) -> None:
        self.settings, self.config = settings, settings.training_config()
        self.tokenizer = copy_tokenizer()
        self.task = CopyTask(self.tokenizer, settings.seed, held_out=HELD_OUT)
        self.model = make_model(settings.model_config(), seed=settings.seed)
        self.optimizer = make_optimizer(self.model, self.config)
        self.every = math.ceil(settings.steps / SNAPSHOTS)
        self.steps_made, self.seconds = 0, 0.0
        self._losses: list[float] = []
        self.snapshots: list[Snapshot] = [self._look()]

    @property
    def done(self) -> bool:
        return self.steps_made >= self.settings.steps

    def step(self) -> None:
        """One optimizer step, and a snapshot if one is due.

        Raises:
            TrainingError: the loss, the gradient, or what a snapshot would show is no longer a number.
        """
        started = time.perf_counter()
        self._losses.append(self._learn())
        self.steps_made += 1
        if self.steps_made % self.every == 0 or self.done:
            self._check_step()
            self.snapshots.append(self._look())
            self._losses = []
        self.seconds += time.perf_counter() - started

    def _learn(self) -> float:
        """The loss per token of the step's batch, before the step."""
        epoch, place = divmod(self.steps_made, BATCHES_AN_EPOCH)
        batch = self.task.epoch(epoch)[place]()
        remedies = ("learning_rate",)  # a person who watches can't change the gradient clip
        return train_step(self.model, self.optimizer, batch, self.config, self.steps_made, remedies=remedies).loss

    def _check_step(self) -> None:
        """The loss of a batch tells of the step before it, so a snapshot right after a step needs a look of its own.

        Raises:
            TrainingError: the example, or a held-out sequence, has a probability that is no number.
        """
        ids = [self.tokenizer.encode(EXAMPLE), *map(list, self.task.held_out)]
        with torch.inference_mode():
            loss = float(batch_loss(self.model.eval(), make_batch([Example(row, row) for row in ids]), 0.0))
        if not math.isfinite(loss):
            raise TrainingError(
                f"After step {self.steps_made} the loss is {loss}: lower the learning rate "
                f"({self.config.learning_rate})."
            )

    def _look(self) -> Snapshot:
        loss = sum(self._losses) / len(self._losses) if self._losses else None
        exact = self.task.exact_share(self.model.eval())
        return take_snapshot(self.model, self.tokenizer, self.steps_made, loss, exact)
