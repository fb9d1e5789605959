"""The settings of a copy training that is watched while it runs."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from model_core.config import ConfigError, ModelConfig, TrainingConfig
from model_core.training.copy_task import COPY_MODEL, COPY_TRAINING

MOST = {"layers": 3, "heads": 8, "width": 64, "steps": 1200, "seed": 9999}
MOST_LEARNING_RATE = 1.0  # a step of Adam moves a weight by about that much; initial weights are a tenth of it
WARMUP = 50  # steps, or an eighth of a shorter training


@dataclass(frozen=True)
class LiveSettings:
    """A small training: `width` is d_model. All else is as in the copy checkpoint that ships.

    Raises:
        ConfigError: no model or training can have a setting, or it is too large to be watched.
    """

    learning_rate: float = 2e-3
    layers: int = 2
    heads: int = 4
    width: int = 64
    label_smoothing: float = 0.0
    positions: bool = True
    steps: int = 400
    seed: int = 1

    def __post_init__(self) -> None:
        for name, most in MOST.items():
            if not 1 <= getattr(self, name) <= most:
                raise ConfigError(f"{name} must be 1 to {most} in a training to watch, not {getattr(self, name)}.")
        if not 0.0 < self.learning_rate <= MOST_LEARNING_RATE:
            raise ConfigError(
                f"learning_rate must be above 0 and at most {MOST_LEARNING_RATE:g} in a training to watch, not "
                f"{self.learning_rate}."
            )
        self.model_config()
        self.training_config()

    def model_config(self) -> ModelConfig:
        """The shape of the model."""
        return replace(
            COPY_MODEL,
            layers=self.layers,
            heads=self.heads,
            d_model=self.width,
            d_ff=4 * self.width,
            positions="sinusoidal" if self.positions else "none",
        )

    def training_config(self) -> TrainingConfig:
        """A linear warm-up to the learning rate, then a cosine down to zero at the last step."""
        return replace(
            COPY_TRAINING,
            steps=self.steps,
            learning_rate=self.learning_rate,
            warmup_steps=min(WARMUP, self.steps // 8),
            label_smoothing=self.label_smoothing,
            seed=self.seed,
        )

    def changes(self) -> dict[str, float | int | bool]:
        """The settings that are not the default ones, by their names."""
        plain = type(self)()
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != getattr(plain, field.name)
        }
