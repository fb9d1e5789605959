"""A task of a few random sentences, so small that a step takes milliseconds, and how weights are compared."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

from model_core.config import ModelConfig, TrainingConfig
from model_core.model.transformer import Transformer
from model_core.training.batching import Batch, Example, make_batch
from model_core.training.evaluation import teacher_forced

VOCABULARY = 13
SHAPE = ModelConfig(VOCABULARY, VOCABULARY, layers=2, d_model=12, d_ff=14, heads=3, dropout=0.2)
CONFIG = TrainingConfig(
    steps=11, warmup_steps=3, learning_rate=0.01, precision="fp32", validate_every=5, save_every=100, seed=7
)

Weights = dict[str, torch.Tensor]


def weights_of(model: Transformer) -> Weights:
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def assert_same(mine: Weights, other: Weights) -> None:
    assert mine.keys() == other.keys()
    assert [name for name in mine if not torch.equal(mine[name], other[name])] == []


@dataclass
class SmallTask:
    """Epochs of 3 batches of 5 to 7 examples; `validation_losses`, if given, are told one after the other instead of
    the real one. `validated` counts."""

    validation_losses: Sequence[float] = ()
    validated: int = field(default=0)

    def batch(self, seed: str) -> Batch:
        rng = random.Random(seed)

        def ids() -> list[int]:
            return rng.choices(range(4, VOCABULARY), k=rng.randint(1, 6))

        return make_batch([Example(ids(), ids()) for _ in range(rng.randint(5, 7))])

    def epoch(self, index: int) -> Sequence[Callable[[], Batch]]:
        return [lambda number=number: self.batch(f"{index}/{number}") for number in range(3)]

    def validate(self, model: Transformer) -> dict[str, float]:
        self.validated += 1
        if self.validation_losses:
            return {"validation_loss": self.validation_losses[self.validated - 1]}
        forced = teacher_forced(model, [self.batch("valid")])
        return {"validation_loss": forced.loss, "token_accuracy": forced.accuracy}
