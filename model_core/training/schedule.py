"""The learning rate of each optimizer step."""

from __future__ import annotations

import math

from model_core.config import TrainingConfig


def learning_rate(step: int, config: TrainingConfig) -> float:
    """The rate of step `step` (from 0): a linear warm-up to `config.learning_rate`, then the schedule's shape.

    "inverse-sqrt" falls as sqrt(warmup / step) (Vaswani et al. 2017, section 5.3), "cosine" to zero at the last step
    (Loshchilov & Hutter 2017), "constant" stays. The cool-down, if any, multiplies that by a straight line to zero.
    """
    warmup = max(config.warmup_steps, 1)
    if step < config.warmup_steps:
        return config.learning_rate * (step + 1) / warmup
    shape = 1.0
    if config.schedule == "inverse-sqrt":
        shape = math.sqrt(warmup / (step + 1))
    elif config.schedule == "cosine":
        progress = (step - config.warmup_steps) / max(config.steps - config.warmup_steps, 1)
        shape = 0.5 * (1.0 + math.cos(math.pi * min(progress, 1.0)))
    left = config.steps - step
    if left < config.cooldown_steps:
        shape *= max(left, 0) / config.cooldown_steps
    return config.learning_rate * min(shape, 1.0)
