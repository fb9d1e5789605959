"""A training run in a folder: what it keeps there, how it is stopped, and what may not change when it goes on."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType
from typing import Any

from model_core.checkpoint.about import DEFAULT_ABOUT, CheckpointAbout
from model_core.checkpoint.checkpoint import CONFIG, save_checkpoint, update_checkpoint
from model_core.config import ConfigError, ModelConfig, TrainingConfig, to_json
from model_core.files import write_atomically
from model_core.model.transformer import Transformer
from model_core.text.tokenizer import Tokenizer
from model_core.training.distributed import Workers
from model_core.training.loop import Task, Trainer
from model_core.training.state import Progress, state_path
from model_core.training.step import StepResult

CHANGEABLE = ("dropout", "attention_dropout")  # model settings that no weight depends on


class SettingsError(ConfigError):
    """A run is continued with settings that its saved weights can't have."""


class StopOnSignal(AbstractContextManager["StopOnSignal"]):
    """While inside, Ctrl-C and `kill` ask the trainer to save and stop; a second time they end the process at once."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self, stop: Callable[[], None]) -> None:
        self.stop = stop
        self._was_asked = False
        self.before: dict[int, Any] = {}

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._was_asked:
            raise KeyboardInterrupt
        self._was_asked = True
        print("\nStopping after this step; the same command goes on from there.", file=sys.stderr)
        self.stop()

    def __enter__(self) -> StopOnSignal:
        if threading.current_thread() is threading.main_thread():  # no other thread may set handlers
            self.before = {number: signal.signal(number, self._handle) for number in self.SIGNALS}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)


def default_card(name: str, summary: str, model: Transformer, progress: Progress, figures: dict[str, float]) -> str:
    """A model card that states what is known when a run saves its best model."""
    measured = "\n".join(f"| {key} | {value:.4f} |" for key, value in figures.items())
    return (
        f"# {name}\n\n{summary}\n\n"
        f"{model.parameter_count():,} parameters; {progress.step:,} steps, {progress.target_tokens:,} target tokens, "
        f"{progress.seconds / 3600:.2f} hours of training.\n\n| validation | |\n|---|---|\n{measured}\n"
    )


def run_task(
    task: Task,
    model: Transformer,
    tokenizer: Tokenizer,
    config: TrainingConfig,
    out: Path,
    *,
    name: str,
    summary: str,
    about: CheckpointAbout = DEFAULT_ABOUT,
    workers: Workers | None = None,
    after_step: Callable[[Transformer, StepResult, Progress], None] | None = None,
) -> Progress:
    """Trains, resuming what stands in `out`; the best model so far is always a whole checkpoint there."""
    workers = workers or Workers()

    def improved(best: Transformer, figures: dict[str, float], progress: Progress) -> None:
        training = {"config": to_json(config), "steps": progress.step, "seconds": round(progress.seconds)}
        training["target_tokens"] = progress.target_tokens
        save_checkpoint(
            out,
            best,
            tokenizer,
            name=name,
            card=default_card(name, summary, best, progress, figures),
            training=training,
            metrics={"validation": figures},
            about=about,
        )

    model = model.to(workers.device)
    trainer = Trainer(model, task, config, out, workers=workers, improved=improved, after_step=after_step)
    with StopOnSignal(trainer.stop):
        progress = trainer.run()
    if workers.first and has_checkpoint(out):
        update_checkpoint(out, extra_files=("log.csv",))
    return progress


def has_checkpoint(out: Path) -> bool:
    """False where a run was stopped before its first validation."""
    return (out / CONFIG).exists()


def has_state(out: Path) -> bool:
    """True where a run can go on."""
    return state_path(out).exists()


def _settings(out: Path) -> Path:
    return out / "training" / "model.json"


def check_settings(out: Path, shape: ModelConfig, data: Mapping[str, object]) -> None:
    """A folder holds one run, whose weights fix the model's settings and whose progress fixes its `data`.

    Raises:
        SettingsError: names the settings that differ, or the file that can't be read; or the folder holds a finished
            checkpoint and no run, which training would replace.
    """
    path = _settings(out)
    if not path.exists():
        if has_checkpoint(out) and not has_state(out):
            raise SettingsError(
                f"{out} holds a finished checkpoint and no run to go on with: choose another --out folder "
                "(--start-from begins with a checkpoint's weights)."
            )
        return
    try:
        earlier = dict(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise SettingsError(f"{path} can't be read as a run's settings: {error}.") from error
    current = to_json(shape) | {key: value for key, value in data.items() if key in earlier}
    differing = [key for key in current if key not in CHANGEABLE and current[key] != earlier.get(key)]
    if differing:
        changes = ", ".join(f"{key} was {earlier.get(key)!r}, now {current[key]!r}" for key in differing)
        raise SettingsError(f"{out} holds a run with other settings ({changes}): choose another --out folder.")


def write_settings(out: Path, shape: ModelConfig, data: Mapping[str, object]) -> None:
    """Writes down the settings that `check_settings` compares when the run goes on."""
    path = _settings(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, (json.dumps(to_json(shape) | dict(data), indent=2) + "\n").encode())
