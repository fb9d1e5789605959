"""The state of a run: it comes back exactly, a killed save leaves the old one, and a foreign one is refused."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from model_core.building import make_model
from model_core.config import ModelConfig, TrainingConfig
from model_core.model.transformer import Transformer
from model_core.training.average import RunningAverage
from model_core.training.batching import Example, make_batch
from model_core.training.loop import Trainer
from model_core.training.state import Progress, StateError, load_state, save_state
from model_core.training.step import batch_loss, make_optimizer

SHAPE = ModelConfig(source_vocabulary=11, target_vocabulary=11, layers=2, d_model=12, d_ff=14, heads=3)
PROGRESS = Progress(3, 1, 2, 5.5, 700, 1.25, 2, 1)


def parts(seed: int, shape: ModelConfig = SHAPE) -> tuple[Transformer, RunningAverage, torch.optim.AdamW]:
    model = make_model(shape, seed=seed)
    return model, RunningAverage(model), make_optimizer(model, TrainingConfig())


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, Transformer, RunningAverage, torch.optim.AdamW]:
    """A state after three real steps."""
    model, average, optimizer = parts(5)
    batch = make_batch([Example([4, 5, 6], [7, 8]), Example([9], [10])])
    for step in range(3):
        optimizer.zero_grad()
        batch_loss(model, batch, 0.1).backward()
        optimizer.step()
        average.update(model, step, 0.9)
    path = tmp_path / "training" / "state.safetensors"
    save_state(path, model, average.weights, optimizer, PROGRESS)
    return path, model, average, optimizer


def test_a_state_comes_back_exactly(saved: tuple[Path, Transformer, RunningAverage, torch.optim.AdamW]) -> None:
    path, model, average, optimizer = saved
    other, other_average, other_optimizer = parts(6)
    assert load_state(path, other, other_average.weights, other_optimizer) == PROGRESS
    for (name, mine), theirs in zip(model.named_parameters(), other.parameters(), strict=True):
        assert torch.equal(mine, theirs), name
        assert torch.equal(average.weights[name], other_average.weights[name]), name
        assert not torch.equal(average.weights[name], mine) or mine.std() == 0.0
        for key, value in optimizer.state[mine].items():
            assert torch.equal(value, other_optimizer.state[theirs][key]), (name, key)


def test_a_state_before_the_first_step_has_no_moments(tmp_path: Path) -> None:
    model, average, optimizer = parts(5)
    save_state(tmp_path / "state", model, average.weights, optimizer, Progress())
    other, other_average, other_optimizer = parts(6)
    assert load_state(tmp_path / "state", other, other_average.weights, other_optimizer) == Progress()
    assert not other_optimizer.state
    assert Progress().best_loss == float("inf")


def test_a_save_that_is_killed_leaves_the_old_state(
    saved: tuple[Path, Transformer, RunningAverage, torch.optim.AdamW], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, model, average, optimizer = saved
    before = path.read_bytes()

    def killed(*paths: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        save_state(path, model, average.weights, optimizer, replace(PROGRESS, step=4))
    assert path.read_bytes() == before


def refused(path: Path, shape: ModelConfig = SHAPE) -> str:
    """What the error says; the model and the average are left as they were."""
    model, average, optimizer = parts(6, shape)
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    with pytest.raises(StateError) as caught:
        load_state(path, model, average.weights, optimizer)
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, before[name]) and torch.equal(average.weights[name], before[name])
    message = str(caught.value)
    assert str(path) in message and "\n" not in message
    return message


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x80\x04\x95pickle", b"\xff" * 64])
def test_a_file_that_is_no_state(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "state").write_bytes(data)
    assert "no training state" in refused(tmp_path / "state")


def test_a_state_that_was_cut_short(saved: tuple[Path, Transformer, RunningAverage, torch.optim.AdamW]) -> None:
    path = saved[0]
    data = path.read_bytes()
    for left in (7, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:left])
        assert "no training state" in refused(path)


@pytest.mark.parametrize("metadata", [{}, {"progress": "{"}, {"progress": "[]"}, {"progress": '{"pace": 3}'}])
def test_a_state_without_proper_progress(
    saved: tuple[Path, Transformer, RunningAverage, torch.optim.AdamW], metadata: dict[str, str]
) -> None:
    save_file(load_file(saved[0]), saved[0], metadata)
    assert "no training state" in refused(saved[0])


def without_a_moment(tensors: dict[str, torch.Tensor]) -> None:
    del tensors["exp_avg_sq.generator.bias"]


def without_a_weight(tensors: dict[str, torch.Tensor]) -> None:
    del tensors["model.generator.bias"]


def with_more(tensors: dict[str, torch.Tensor]) -> None:
    tensors["model.more"] = torch.zeros(3)


def with_a_stranger(tensors: dict[str, torch.Tensor]) -> None:
    tensors["generator.bias"] = torch.zeros(11)


@pytest.mark.parametrize("change", [without_a_moment, without_a_weight, with_more, with_a_stranger])
def test_a_state_of_other_tensors(
    saved: tuple[Path, Transformer, RunningAverage, torch.optim.AdamW],
    change: Callable[[dict[str, torch.Tensor]], None],
) -> None:
    tensors = load_file(saved[0])
    change(tensors)
    save_file(tensors, saved[0], {"progress": json.dumps(vars(PROGRESS))})
    assert "another model" in refused(saved[0])


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        (replace(SHAPE, layers=1), "another model"),
        (replace(SHAPE, layers=3), "another model"),
        (replace(SHAPE, d_ff=16), "has shape [14], the model's [16]"),
        (replace(SHAPE, sharing="none"), "another model"),
    ],
)
def test_a_state_of_another_shape(
    saved: tuple[Path, Transformer, RunningAverage, torch.optim.AdamW], shape: ModelConfig, told: str
) -> None:
    assert told in refused(saved[0], shape)


def test_a_trainer_finds_the_state_in_its_folder(
    saved: tuple[Path, Transformer, RunningAverage, torch.optim.AdamW],
) -> None:
    class NoTask:
        def epoch(self, index: int) -> list[Callable[[], object]]:
            return []

        def validate(self, model: Transformer) -> dict[str, float]:
            return {}

    path, model = saved[:2]
    trainer = Trainer(make_model(SHAPE, seed=6), NoTask(), TrainingConfig(), path.parent.parent)  # type: ignore[arg-type]
    assert trainer.progress == PROGRESS
    assert all(torch.equal(a, b) for a, b in zip(trainer.model.parameters(), model.parameters(), strict=True))
