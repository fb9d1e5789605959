"""One copy training to watch: what it keeps, that it repeats, and what ends it."""

from __future__ import annotations

import math
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch

from model_core.building import make_model
from model_core.checkpoint import Checkpoint
from model_core.config import ConfigError
from model_core.training import live_training
from model_core.training.live import LiveSettings
from model_core.training.live_training import LiveTraining
from model_core.training.snapshots import EXAMPLE
from model_core.training.step import TrainingError
from model_core.translator import Translator

TINY = LiveSettings(layers=1, heads=2, width=16, steps=7, learning_rate=5e-3)


# --- settings ---


def test_changes_name_what_is_not_as_proposed() -> None:
    assert LiveSettings().changes() == {}
    assert LiveSettings(heads=1, positions=False).changes() == {"heads": 1, "positions": False}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", 0), ("steps", 1201), ("layers", 4), ("width", 65), ("heads", 3), ("label_smoothing", 1.0),
        ("learning_rate", 0.0), ("learning_rate", 1.5), ("learning_rate", math.inf), ("learning_rate", math.nan),
    ],
)  # fmt: skip
def test_settings_out_of_bounds_are_refused_with_their_number(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=str(value)):
        replace(LiveSettings(), **{name: value})


# --- one training ---


def finished(settings: LiveSettings) -> LiveTraining:
    training = LiveTraining(settings)
    while not training.done:
        training.step()
    return training


def test_a_training_keeps_snapshots_of_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_training, "SNAPSHOTS", 5)
    training = finished(replace(TINY, steps=33, learning_rate=0.01))
    assert [kept.step for kept in training.snapshots] == [0, 7, 14, 21, 28, 33]
    assert training.snapshots[0].loss is None and all(kept.loss is not None for kept in training.snapshots[1:])
    last = training.snapshots[-1]
    assert last.cross.weights.shape == (1, 2, 8, 9)
    checkpoint = Checkpoint("copy", "copy@test", training.model.eval(), training.tokenizer, {}, {})
    shown = Translator(checkpoint).trace(EXAMPLE, target=EXAMPLE)
    np.testing.assert_array_equal(last.cross.weights, shown.cross.weights)
    assert last.exact == training.task.exact_share(training.model)
    first, late = training.snapshots[1].loss, last.loss
    assert first is not None and late is not None and late < first - 0.3


def test_the_same_seed_gives_the_same_curve_and_another_seed_another() -> None:
    def curve(settings: LiveSettings) -> list[float | None]:
        return [kept.loss for kept in finished(settings).snapshots]

    assert curve(TINY) == curve(TINY) != curve(replace(TINY, seed=2))


def test_the_best_layer_is_the_one_with_most_of_the_diagonal() -> None:
    kept = LiveTraining(replace(TINY, layers=2)).snapshots[0]
    shares = [kept.diagonal(layer).largest for layer in range(2)]
    assert kept.best_diagonal == max(shares)
    rows = kept.cross.map(1, 0)
    assert kept.diagonal(1, 0).weight == pytest.approx(np.mean([rows[t, t + 1] for t in range(8)]), abs=1e-6)


def test_a_loss_that_is_no_number_ends_the_training_in_a_sentence() -> None:
    training = LiveTraining(TINY)
    with torch.no_grad():
        training.model.generator.bias.fill_(float("nan"))
    with pytest.raises(TrainingError, match=r"At step 1 the loss is nan .* lower the learning rate \(0.005\)\.$"):
        training.step()


@pytest.mark.parametrize("step", [1, 5])
def test_a_step_after_which_there_is_nothing_to_look_at_ends_it_too(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Its own loss, measured before it, was a number; the snapshot comes before the next one's."""
    monkeypatch.setattr(live_training, "SNAPSHOTS", 2)
    training = LiveTraining(replace(TINY, steps=step))
    for _ in range(step - 1):
        training.step()
    kept = len(training.snapshots)

    def diverge() -> None:
        with torch.no_grad():
            training.model.target_embedding.weight.fill_(float("inf"))

    monkeypatch.setattr(training.optimizer, "step", diverge)
    with pytest.raises(TrainingError, match=rf"After step {step} the loss is nan: lower the learning rate \(0.005\)"):
        training.step()
    assert len(training.snapshots) == kept


def test_models_that_are_made_meanwhile_do_not_change_the_weights_of_a_seed() -> None:
    """Checkpoints that are loaded, dropout of another training: all draw in their own threads."""
    wanted = [weight.clone() for weight in LiveTraining(TINY).model.parameters()]
    end, before = threading.Event(), torch.get_rng_state()

    def disturb() -> None:
        while not end.is_set():
            make_model(TINY.model_config(), seed=0)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(30):
            model = make_model(TINY.model_config(), seed=TINY.seed)
            assert all(map(torch.equal, model.parameters(), wanted))
    finally:
        end.set()
        thread.join()
    assert torch.equal(torch.get_rng_state(), before)
