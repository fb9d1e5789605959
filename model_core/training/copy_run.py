"""The copy task from start to checkpoint folder: the training of `python -m model_core train --task copy`."""

from __future__ import annotations

import csv
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from model_core.building import make_model
from model_core.checkpoint.checkpoint import load_checkpoint, update_checkpoint
from model_core.config import ModelConfig, TrainingConfig
from model_core.training.copy_card import copy_card
from model_core.training.copy_task import COPY_ABOUT, COPY_MODEL, CopyTask, copy_tokenizer
from model_core.training.diagonal import CrossAttention, cross_attention
from model_core.training.distributed import joined_workers
from model_core.training.moments import Moments
from model_core.training.run import SettingsError, check_settings, has_checkpoint, has_state, run_task, write_settings
from model_core.training.snapshots import EXAMPLE
from model_core.training.state import Progress


@dataclass(frozen=True)
class CopyResult:
    """The progress of a training, and the share of the held-out sequences that its checkpoint copies exactly.

    `exact` is None where there is no checkpoint yet, and in all processes but the first.
    """

    progress: Progress
    exact: float | None


def train_copy(out: Path, shape: ModelConfig = COPY_MODEL, *, config: TrainingConfig) -> CopyResult:
    """Trains the copy task, going on where a run in `out` stopped, and measures what it has learned.

    Raises:
        SettingsError: `shape` has another vocabulary than the task, or is not that of the run in `out`.
        TrainingError, StateError: the training can't go on.
    """
    tokenizer = copy_tokenizer()
    if {shape.source_vocabulary, shape.target_vocabulary} != {tokenizer.vocabulary_size}:
        raise SettingsError(f"The copy task has a vocabulary of {tokenizer.vocabulary_size}; no other is possible.")
    data = {"seed": config.seed}
    with joined_workers() as workers:
        check_settings(out, shape, data)
        task = CopyTask(tokenizer, config.seed)
        model, moments = make_model(shape, seed=config.seed), Moments(out, tokenizer, config.steps)
        keep = moments.keep if workers.first else (lambda model, step: None)
        if workers.first:
            write_settings(out, shape, data)
        fresh, before = not has_state(out), time.process_time()
        if fresh:
            keep(model, 0)
        progress = run_task(
            task,
            model,
            tokenizer,
            config,
            out,
            name="copy",
            summary="Copies 3 to 10 letters.",
            about=COPY_ABOUT,
            workers=workers,
            after_step=lambda model, result, progress: keep(model, progress.step),
        )
        processor_seconds = round(time.process_time() - before) if fresh else None
        if not workers.first or not has_checkpoint(out):
            return CopyResult(progress, None)
        return CopyResult(progress, _measure(out, task, moments, progress, processor_seconds))


def _measure(out: Path, task: CopyTask, moments: Moments, progress: Progress, processor_seconds: int | None) -> float:
    """Measures the checkpoint, and writes its figures and its history into its metrics and its model card.

    `processor_seconds` is None where this process made only a part of the training.
    """
    checkpoint = load_checkpoint(out)
    exact = task.exact_share(checkpoint.model)
    kept_moments = moments.kept(progress.step)
    metrics = {
        "exact_share": exact,
        "held_out_sequences": len(task.held_out),
        "validation": checkpoint.metrics.get("validation", {}),
        "training": _log_summary(out / "log.csv", progress),
        "cross_attention": _ranked_heads(cross_attention(checkpoint.model, task.held_out)),
        "moments": {"example": EXAMPLE, "steps": [asdict(moment) for moment in kept_moments]},
    }
    training = {
        **checkpoint.training,
        "task": "copy",
        "threads": torch.get_num_threads(),
        "moments": {"example": EXAMPLE, "files": [moment.file for moment in kept_moments]},
    }
    if processor_seconds is not None:
        training["processor_seconds"] = processor_seconds
    card = copy_card(checkpoint.model, training, metrics)
    extras = ("log.csv", *(moment.file for moment in kept_moments))
    update_checkpoint(out, metrics=metrics, card=card, training=training, extra_files=extras)
    return exact


def _log_summary(path: Path, progress: Progress) -> dict[str, Any]:
    """A few figures of the log."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    losses = [row for row in rows if row["loss"]]
    perfect = [int(row["step"]) for row in rows if row["token_accuracy"] and float(row["token_accuracy"]) == 1.0]
    return {
        "steps": progress.step,
        "seconds": round(progress.seconds),
        "target_tokens": progress.target_tokens,
        "first_loss": float(losses[0]["loss"]) if losses else None,
        "last_loss": float(losses[-1]["loss"]) if losses else None,
        "best_validation_loss": progress.best_loss,
        "best_step": progress.best_step,
        "first_validation_with_all_tokens_right": perfect[0] if perfect else None,
    }


def _ranked_heads(attention: CrossAttention) -> dict[str, Any]:
    """For metrics.json: layers and heads counted from 1, as in the card; the best head first."""
    ranked = sorted(
        (-figures.weight, layer, head)
        for layer, heads in enumerate(attention.heads, 1)
        for head, figures in enumerate(heads, 1)
    )
    _, layer, head = ranked[0]
    return {
        "best": {"layer": layer, "head": head, **asdict(attention.heads[layer - 1][head - 1])},
        "layers": [
            {"mean_of_heads": asdict(mean), "heads": [asdict(head) for head in heads]}
            for mean, heads in zip(attention.means, attention.heads, strict=True)
        ],
    }
