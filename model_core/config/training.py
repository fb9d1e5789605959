"""The settings of a training."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from model_core.config.checks import require_setting

Schedule = Literal["inverse-sqrt", "cosine", "constant"]


@dataclass(frozen=True)
class TrainingConfig:
    """How a model is trained. Lengths of time are counted in optimizer steps.

    `schedule` shapes the learning rate after `warmup_steps`; the last `cooldown_steps` bring whatever it is down to
    zero in a straight line (Hägele et al. 2024), so that a run may be lengthened at any moment before them.
    `average_decay` is that of the running average of the weights, which is what is validated and kept; 0 keeps the last
    weights. `join_share` and `vary_share` are those of `training/augment.py`. `patience` counts validations without a
    better validation loss before the run ends early; 0 never ends it early.
    """

    steps: int = 20000
    tokens_per_batch: int = 4000
    learning_rate: float = 1e-3
    warmup_steps: int = 800
    schedule: Schedule = "inverse-sqrt"
    cooldown_steps: int = 0
    weight_decay: float = 0.01
    label_smoothing: float = 0.1
    gradient_clip: float = 1.0
    precision: Literal["bf16", "fp32"] = "bf16"
    seed: int = 1
    validate_every: int = 500
    validation_sentences: int = 500
    save_every: int = 500
    patience: int = 0
    average_decay: float = 0.998
    join_share: float = 0.15
    vary_share: float = 0.1
    homograph_repeats: int = 4

    def __post_init__(self) -> None:
        for name in ("steps", "tokens_per_batch", "validate_every", "save_every"):
            require_setting(getattr(self, name) >= 1, f"{name} must be 1 or more, not {getattr(self, name)}.")
        for name in ("warmup_steps", "cooldown_steps", "patience", "homograph_repeats", "validation_sentences"):
            require_setting(getattr(self, name) >= 0, f"{name} must be 0 or more, not {getattr(self, name)}.")
        for name in ("learning_rate", "gradient_clip"):
            value = getattr(self, name)
            require_setting(0.0 < value < math.inf, f"{name} must be a finite number above 0, not {value}.")
        require_setting(
            0.0 <= self.weight_decay < math.inf,
            f"weight_decay must be a finite number of 0 or more, not {self.weight_decay}.",
        )
        require_setting(
            self.schedule in ("inverse-sqrt", "cosine", "constant"),
            f'schedule must be "inverse-sqrt", "cosine" or "constant", not {self.schedule!r}.',
        )
        require_setting(
            self.warmup_steps + self.cooldown_steps <= self.steps,
            f"{self.warmup_steps} warm-up and {self.cooldown_steps} cool-down steps do not fit in {self.steps} "
            "steps: lower --warmup-steps and --cooldown-steps, or raise --steps.",
        )
        require_setting(
            0.0 <= self.label_smoothing < 1.0, f"label_smoothing must be in [0, 1), not {self.label_smoothing}."
        )
        for name in ("join_share", "vary_share", "average_decay"):
            require_setting(0.0 <= getattr(self, name) <= 1.0, f"{name} must be 0 to 1, not {getattr(self, name)}.")
        require_setting(
            self.precision in ("bf16", "fp32"), f'precision must be "bf16" or "fp32", not {self.precision!r}.'
        )
