"""The training loop: resumes to the same numbers, stops when it should, keeps the best, refuses what is no number."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model_core.building import make_model
from model_core.config import PAD_ID, TrainingConfig
from model_core.model.transformer import Transformer
from model_core.training.batching import Batch
from model_core.training.loop import Trainer
from model_core.training.state import Progress
from model_core.training.step import StepResult, TrainingError, batch_loss, make_optimizer
from tests.training.small_task import CONFIG, SHAPE, SmallTask, Weights, assert_same, weights_of


class Run:
    """One process of a run: what it lost at each step, and how it ended. `stop_at` is None, or a step."""

    def __init__(
        self, folder: Path, config: TrainingConfig = CONFIG, stop_at: int | None = None, kill_at: int | None = None
    ) -> None:
        self.losses: dict[int, float] = {}
        self.best: list[tuple[int, float]] = []

        def after_step(model: Transformer, result: StepResult, progress: Progress) -> None:
            self.losses[progress.step] = result.loss
            if progress.step == stop_at:
                self.trainer.stop()
            if progress.step == kill_at:
                raise KeyboardInterrupt

        def improved(model: Transformer, figures: dict[str, float], progress: Progress) -> None:
            assert not model.training
            self.best.append((progress.step, figures["validation_loss"]))

        # Another start than the saved one: everything has to come from the state.
        model = make_model(SHAPE, seed=3 if not (folder / "training").exists() else 4)
        self.trainer = Trainer(model, SmallTask(), config, folder, after_step=after_step, improved=improved)
        self.progress = self.trainer.run()
        self.weights, self.average = weights_of(model), self.trainer.average.weights


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """All 11 steps in one go."""
    return Run(tmp_path_factory.mktemp("whole"))


def assert_as_if_never_stopped(losses: dict[int, float], last: Run, whole: Run) -> None:
    assert losses == whole.losses  # to the last bit
    assert_same(last.weights, whole.weights)
    assert_same(last.average, whole.average)
    assert replace(last.progress, seconds=0.0) == replace(whole.progress, seconds=0.0)


@pytest.mark.parametrize("stop_at", range(1, 11))
def test_a_run_goes_on_from_any_step_to_the_same_losses_and_weights(tmp_path: Path, whole: Run, stop_at: int) -> None:
    first = Run(tmp_path, stop_at=stop_at)
    assert list(first.losses) == list(range(1, stop_at + 1))
    second = Run(tmp_path)
    assert_as_if_never_stopped(first.losses | second.losses, second, whole)
    assert first.best + second.best == whole.best


def test_a_run_that_was_killed_goes_on_from_its_last_saved_step(tmp_path: Path, whole: Run) -> None:
    config = replace(CONFIG, save_every=4)
    with pytest.raises(KeyboardInterrupt):
        Run(tmp_path, config, kill_at=7)
    second = Run(tmp_path, config)
    assert min(second.losses) == 5
    assert_as_if_never_stopped({step: whole.losses[step] for step in range(1, 5)} | second.losses, second, whole)


def test_a_run_that_has_ended_does_nothing_more(tmp_path: Path, whole: Run) -> None:
    Run(tmp_path)
    again = Run(tmp_path)
    assert again.losses == {} and again.best == []
    assert_same(again.weights, whole.weights)
    longer = Run(tmp_path, replace(CONFIG, steps=13))
    assert list(longer.losses) == [12, 13]


def test_the_loss_falls_and_the_seed_decides_it(tmp_path: Path, whole: Run) -> None:
    assert whole.losses[11] < whole.losses[1]
    assert Run(tmp_path / "same").losses == whole.losses
    other = Run(tmp_path / "other", replace(CONFIG, seed=8))
    assert other.losses[1] != whole.losses[1]  # another dropout


def test_the_log_has_each_row_once_however_often_the_run_was_stopped(tmp_path: Path) -> None:
    def rows(folder: Path) -> list[list[str]]:
        lines = (folder / "log.csv").read_text(encoding="utf-8").splitlines()
        seconds = lines[0].split(",").index("seconds")
        return [[cell for i, cell in enumerate(line.split(",")) if i not in (seconds, seconds - 1)] for line in lines]

    Run(tmp_path / "whole", replace(CONFIG, steps=60, validate_every=13))
    for stop_at in (7, 26, 50, None):
        Run(tmp_path / "parts", replace(CONFIG, steps=60, validate_every=13), stop_at=stop_at)
    whole, parts = rows(tmp_path / "whole"), rows(tmp_path / "parts")
    assert [row[0] for row in whole] == ["step", "13", "26", "39", "50", "52", "60", "60"]
    assert [row[0] for row in parts] == [row[0] for row in whole]
    # A row of the training loss averages over the steps since the last row or start; all else is the same.
    loss = whole[0].index("loss")
    without_loss = [[[cell for i, cell in enumerate(row) if i != loss] for row in table] for table in (whole, parts)]
    assert without_loss[0] == without_loss[1]


# --- when it ends ---


def run_with_losses(folder: Path, losses: Sequence[float], **changes: int) -> tuple[Trainer, list[int]]:
    config = replace(CONFIG, steps=40, validate_every=2, patience=3)
    improved: list[int] = []
    trainer = Trainer(
        make_model(SHAPE, seed=3),
        SmallTask(losses),
        replace(config, **changes),
        folder,
        improved=lambda model, figures, progress: improved.append(progress.step),
    )
    trainer.run()
    return trainer, improved


def test_a_run_ends_when_patience_does(tmp_path: Path) -> None:
    losses = [3.0, 2.0, 2.5, 1.5, 1.5, 1.7, 1.6, 0.1]
    trainer, improved = run_with_losses(tmp_path, losses)
    assert improved == [2, 4, 8]
    assert (trainer.progress.step, trainer.progress.best_step, trainer.progress.best_loss) == (14, 8, 1.5)
    again, improved = run_with_losses(tmp_path, losses)
    assert again.progress.step == 14 and improved == []
    longer, improved = run_with_losses(tmp_path, [1.9, 1.4, 1.5, 1.5, 1.5, 1.5, 1.5], patience=5)
    assert improved == [18] and longer.progress.step == 28


def test_without_patience_a_run_never_ends_early(tmp_path: Path) -> None:
    trainer, improved = run_with_losses(tmp_path, [1.0, *[2.0] * 19], patience=0)
    assert trainer.progress.step == 40 and improved == [2]


def test_a_loss_that_is_no_number_improves_nothing(tmp_path: Path) -> None:
    trainer, improved = run_with_losses(tmp_path, [math.nan, 2.0, math.nan, math.nan, math.nan])
    assert improved == [4] and trainer.progress.step == 10


# --- what a step does ---


def trainer_for(folder: Path, **changes: object) -> Trainer:
    return Trainer(make_model(SHAPE, seed=3), SmallTask(), replace(CONFIG, **changes), folder)  # type: ignore[arg-type]


def test_padding_loses_nothing() -> None:
    model, batch = make_model(SHAPE, seed=3).eval(), SmallTask().batch("x")

    def wider(ids: torch.Tensor, columns: int) -> torch.Tensor:
        return torch.nn.functional.pad(ids, (0, columns), value=PAD_ID)

    padded = Batch(wider(batch.source, 3), wider(batch.decoder_input, 5), wider(batch.decoder_output, 5))
    torch.testing.assert_close(batch_loss(model, padded, 0.1), batch_loss(model, batch, 0.1))


def test_only_matrices_decay() -> None:
    model = make_model(SHAPE, seed=3)
    decaying, rest = make_optimizer(model, replace(CONFIG, weight_decay=0.3)).param_groups
    assert decaying["weight_decay"] == 0.3 and rest["weight_decay"] == 0.0
    assert decaying["betas"] == rest["betas"] == (0.9, 0.98)
    sizes = {p.dim() for p in decaying["params"]}, {p.dim() for p in rest["params"]}
    assert sizes == ({2}, {1})
    assert len(decaying["params"]) + len(rest["params"]) == len(list(model.parameters()))


def test_the_gradient_is_clipped(tmp_path: Path) -> None:
    trainer = trainer_for(tmp_path, gradient_clip=0.003)
    trainer.step(SmallTask().batch("x"))
    norm = torch.stack([p.grad.norm() for p in trainer.model.parameters() if p.grad is not None]).norm()
    assert float(norm) == pytest.approx(0.003, rel=1e-3)


def test_bf16_stays_near_fp32_and_keeps_float32_weights(tmp_path: Path) -> None:
    exact, rounded = trainer_for(tmp_path / "a", steps=20), trainer_for(tmp_path / "b", steps=20, precision="bf16")
    losses: list[tuple[float, float]] = []
    for number in range(20):
        batch = SmallTask().batch(str(number % 3))
        losses.append((exact.step(batch).loss, rounded.step(batch).loss))
        assert losses[-1][1] == pytest.approx(losses[-1][0], rel=0.1)
    assert losses[0][0] != losses[0][1]  # it did compute otherwise
    assert losses[-1][1] < losses[1][1] - 0.1
    for name, weight in weights_of(rounded.model).items():
        assert weight.dtype == torch.float32 and bool(torch.isfinite(weight).all()), name


@pytest.mark.parametrize("where", ["weight", "gradient"])
def test_a_step_that_gives_no_numbers_changes_nothing(tmp_path: Path, where: str) -> None:
    trainer = trainer_for(tmp_path)
    trainer.step(SmallTask().batch("x"))
    bias = trainer.model.generator.bias
    if where == "weight":
        bias.data[5] = math.nan
    else:
        bias.register_hook(lambda gradient: gradient * math.inf)
    before, average = weights_of(trainer.model), {k: v.clone() for k, v in trainer.average.weights.items()}
    with pytest.raises(TrainingError, match=r"^At step 2 the loss is .*lower the learning rate \(0\.01\)"):
        trainer.step(SmallTask().batch("y"))
    for name, weight in weights_of(trainer.model).items():
        assert torch.equal(weight.nan_to_num(0.0), before[name].nan_to_num(0.0)), name  # NaN equals nothing
    assert_same(trainer.average.weights, average)
    assert trainer.progress.step == 1


def test_an_epoch_without_batches_is_told(tmp_path: Path) -> None:
    class Empty(SmallTask):
        def epoch(self, index: int) -> Sequence[Callable[[], Batch]]:
            return [] if index == 1 else super().epoch(index)

    trainer = Trainer(make_model(SHAPE, seed=3), Empty(), CONFIG, tmp_path)
    with pytest.raises(TrainingError, match="Epoch 1 has no examples"):
        trainer.run()
    assert trainer.progress.step == 3


def test_it_is_the_average_that_is_validated(tmp_path: Path) -> None:
    seen: list[Weights] = []

    class Watching(SmallTask):
        def validate(self, model: Transformer) -> dict[str, float]:
            seen.append(weights_of(model))
            return super().validate(model)

    trainer = Trainer(make_model(SHAPE, seed=3), Watching(), replace(CONFIG, steps=5, average_decay=0.9), tmp_path)
    trainer.run()
    assert len(seen) == 1
    assert_same(seen[0], trainer.average.weights)
    assert any(not torch.equal(seen[0][name], weight) for name, weight in weights_of(trainer.model).items())
