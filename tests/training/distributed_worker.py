"""What one of several processes does in test_distributed.py: FOLDER, the validation losses in JSON, [STOP_AT]."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import torch

from model_core.building import make_model
from model_core.config import TrainingConfig
from model_core.model.transformer import Transformer
from model_core.training.batching import Batch
from model_core.training.distributed import joined_workers
from model_core.training.loop import Trainer
from model_core.training.state import Progress
from model_core.training.step import StepResult
from tests.training.small_task import CONFIG, SHAPE, SmallTask

WITHOUT_DROPOUT = replace(SHAPE, dropout=0.0)
RUN: TrainingConfig = replace(CONFIG, validate_every=4, patience=2, steps=20)


class OneRowTask(SmallTask):
    """Every third batch has a single row, so that one of two processes has nothing to do."""

    def batch(self, seed: str) -> Batch:
        batch = super().batch(seed)
        if not seed.endswith("/1"):
            return batch
        return Batch(batch.source[:1], batch.decoder_input[:1], batch.decoder_output[:1])


def gloo_threads() -> list[str]:
    """The threads of gloo in this process, by name (Linux)."""
    names = [comm.read_text(encoding="utf-8").strip() for comm in Path("/proc/self/task").glob("*/comm")]
    return [name for name in names if "gloo" in name]


def main(folder: Path, validation_losses: list[float], stop_at: int | None = None) -> None:
    """Trains, and leaves a JSON file of what this process saw. The second process asks for the stop at `stop_at`."""
    torch.set_num_threads(1)
    losses: list[float] = []
    improved: list[int] = []
    task = OneRowTask(validation_losses)
    with joined_workers() as workers:
        joined = gloo_threads()

        def after_step(model: Transformer, result: StepResult, progress: Progress) -> None:
            losses.append(result.loss)
            if progress.step == stop_at and not workers.first:
                trainer.stop()

        trainer = Trainer(
            make_model(WITHOUT_DROPOUT, seed=3),
            task,
            RUN,
            folder,
            workers=workers,
            after_step=after_step,
            improved=lambda model, figures, progress: improved.append(progress.step),
        )
        progress = trainer.run()
        sums = {name: float(weight.double().sum()) for name, weight in trainer.average.weights.items()}
        seen = {"losses": losses, "step": progress.step, "best": progress.best_step, "sums": sums}
        seen |= {"validated": task.validated, "improved": improved, "world": workers.world}
    seen |= {"gloo": [joined, gloo_threads()]}
    (folder / f"seen-{workers.rank}.json").write_text(json.dumps(seen), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else None)
