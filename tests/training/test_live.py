"""Copy trainings to watch: what they keep, that they repeat, and who may learn when."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from model_core.checkpoint import Checkpoint
from model_core.config import ConfigError
from model_core.training import live, live_training
from model_core.training.live import Classroom, ClassroomFull, LiveRun, LiveSettings, LiveState
from model_core.training.live_training import LiveTraining
from model_core.training.loop import TrainingError
from model_core.training.moments import EXAMPLE
from model_core.translator import Translator

TINY = LiveSettings(layers=1, heads=2, width=16, steps=7, learning_rate=5e-3)
ENDLESS = replace(TINY, steps=1200)


@pytest.fixture
def room() -> Iterator[Classroom]:
    """A classroom whose threads are gone when the test is over."""
    made = Classroom()
    yield made
    made.close()
    assert made.under_way() == 0


def wait_for(run: LiveRun, wanted: Callable[[LiveState], bool]) -> LiveState:
    """The first state of the run that is as wanted; fails with the last one after a minute."""
    for _ in range(6000):
        state = run.state()
        if wanted(state):
            return state
        time.sleep(0.01)
    pytest.fail(f"The run stayed {run.state().phase} at step {run.state().step}: {run.state().message}")


# --- settings ---


def test_changes_name_what_is_not_as_proposed() -> None:
    assert LiveSettings().changes() == {}
    assert LiveSettings(heads=1, positions=False).changes() == {"heads": 1, "positions": False}


@pytest.mark.parametrize(
    ("name", "value"),
    [("steps", 0), ("steps", 1201), ("layers", 4), ("width", 65), ("heads", 3), ("label_smoothing", 1.0)],
)
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
    with pytest.raises(TrainingError, match=r"At step 1 the loss is nan .* lower the learning rate \(0.005\)"):
        training.step()


# --- a classroom ---


def test_a_run_finishes_with_the_curve_of_its_settings(room: Classroom) -> None:
    runs = [room.start(TINY), room.start(TINY)]
    curves = []
    for run in runs:
        state = wait_for(run, lambda state: state.over)
        assert (state.phase, state.step, state.message) == ("finished", 7, "")
        curves.append([kept.loss for kept in state.snapshots])
    assert curves[0] == curves[1] == [kept.loss for kept in finished(TINY).snapshots]


def test_two_learn_and_the_others_stand_in_line(room: Classroom) -> None:
    runs = [room.start(ENDLESS) for _ in range(4)]
    for run in runs[:2]:
        wait_for(run, lambda state: state.step > 0)
    assert room.learning() == 2
    assert [(run.state().phase, run.state().line) for run in runs[2:]] == [("waiting", 1), ("waiting", 2)]
    runs[0].stop()
    wait_for(runs[2], lambda state: state.step > 0)
    assert runs[3].state().line == 1 and runs[0].state().phase == "stopped"
    assert room.learning() == 2


def test_a_paused_run_gives_its_place_and_goes_on_where_it_was(room: Classroom) -> None:
    room.places = 1
    first, second = room.start(ENDLESS), room.start(ENDLESS)
    wait_for(first, lambda state: state.step > 0)
    first.pause()
    paused = wait_for(first, lambda state: state.phase == "paused")
    wait_for(second, lambda state: state.step > 0)
    first.resume()
    wait_for(first, lambda state: state.phase == "waiting")
    assert first.state().step == paused.step and not first.state().pending
    second.stop()
    wait_for(first, lambda state: state.step > paused.step)


def test_what_was_asked_for_is_pending_until_it_is_done(room: Classroom) -> None:
    run = room.start(ENDLESS)
    wait_for(run, lambda state: state.step > 0)
    with room.changed:  # the run can't take its turn meanwhile
        run.stop()
        assert run.state().pending
    assert wait_for(run, lambda state: state.over).phase == "stopped"
    assert not run.state().pending
    run.resume()
    assert run.state().phase == "stopped"


def test_a_run_that_nobody_watches_is_ended(room: Classroom) -> None:
    now = [0.0]
    room.clock = lambda: now[0]
    watched, left = room.start(ENDLESS), room.start(ENDLESS)
    for run in (watched, left):
        wait_for(run, lambda state: state.step > 0)
    now[0] = room.silence
    watched.heartbeat()
    now[0] += 1
    state = wait_for(left, lambda state: state.over)
    assert state.phase == "lost" and "90 seconds" in state.message
    assert watched.state().phase == "training"


def test_an_error_in_the_thread_becomes_a_sentence(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no such operation")

    monkeypatch.setattr(live_training, "batch_loss", broken)
    state = wait_for(room.start(TINY), lambda state: state.over)
    assert state.phase == "failed"
    assert state.message == "The training ended with an error: RuntimeError: no such operation"
    assert room.learning() == 0


def test_a_full_classroom_says_how_many_there_are(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_RUNS", 3)
    for _ in range(3):
        room.start(ENDLESS)
    with pytest.raises(ClassroomFull, match="3 trainings"):
        room.start(ENDLESS)
    assert room.under_way() == 3


def test_the_speed_of_the_last_run_tells_how_long_the_next_takes(room: Classroom) -> None:
    settings = replace(TINY, steps=live.MEASURED_STEPS)
    assert room.expected_seconds(settings) is None
    state = wait_for(room.start(settings), lambda state: state.over)
    wait_for_leave(room)
    assert room.expected_seconds(replace(settings, steps=60)) == pytest.approx(3 * state.seconds)
    assert room.expected_seconds(replace(settings, layers=2)) is None


def wait_for_leave(room: Classroom) -> None:
    with room.changed:
        room.changed.wait_for(lambda: not room.under_way(), timeout=60)


def test_close_ends_waiting_and_paused_runs_too() -> None:
    room = Classroom(places=1)
    runs = [room.start(ENDLESS) for _ in range(3)]
    runs[1].pause()
    wait_for(runs[1], lambda state: state.phase == "paused")
    room.close()
    assert {run.state().phase for run in runs} == {"stopped"}
    assert not any(thread.name == "live training" for thread in threading.enumerate())
