"""Copy trainings side by side: who may learn when, what ends them, and what is told of them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from model_core.training import live, live_training
from model_core.training.live import Classroom, ClassroomFull, LiveRun, LiveSettings, LiveState
from model_core.training.live_training import LiveTraining

TINY = LiveSettings(layers=1, heads=2, width=16, steps=7, learning_rate=5e-3)
ENDLESS = replace(TINY, steps=1200)


class EndlessTraining(LiveTraining):
    """Counts steps and makes none, so that no machine is fast enough to come to the last."""

    @property
    def done(self) -> bool:
        return False

    def step(self) -> None:
        self.steps_made += 1
        self.seconds += 0.001
        time.sleep(0.001)  # others get their turn


@pytest.fixture
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Classroom]:
    """A classroom of two places where ENDLESS has no end; its threads are gone when the test is over."""
    monkeypatch.setattr(live, "LiveTraining", lambda s: EndlessTraining(s) if s == ENDLESS else LiveTraining(s))
    made = Classroom(getattr(request, "param", 2), expires_after=90.0)
    yield made
    made.close()
    assert made.under_way() == 0


one_place = pytest.mark.parametrize("room", [1], indirect=True)


def wait_for(run: LiveRun, wanted: Callable[[LiveState], bool]) -> LiveState:
    """The first state of the run that is as wanted; fails with the last one after a minute."""
    for _ in range(6000):
        state = run.state()
        if wanted(state):
            return state
        time.sleep(0.01)
    pytest.fail(f"The run stayed {run.state().phase} at step {run.state().step}: {run.state().message}")


def wait_until(room: Classroom, under_way: int) -> None:
    """Waits for so few runs without asking for any of them, which would keep it alive."""
    with room.changed:
        assert room.changed.wait_for(lambda: room.under_way() == under_way, timeout=60)


def test_a_run_finishes_with_the_curve_of_its_settings(room: Classroom) -> None:
    runs = [room.start(TINY), room.start(TINY)]
    curves = []
    for run in runs:
        state = wait_for(run, lambda state: state.over)
        assert (state.phase, state.step, state.message) == ("finished", 7, "")
        curves.append([kept.loss for kept in state.snapshots])
    alone = LiveTraining(TINY)
    while not alone.done:
        alone.step()
    assert curves[0] == curves[1] == [kept.loss for kept in alone.snapshots]


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


@one_place
def test_a_paused_run_gives_its_place_and_goes_on_where_it_was(room: Classroom) -> None:
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
    now[0] = 90.0
    assert watched.state().phase == "training"
    now[0] += 1
    wait_until(room, 1)
    state = left.state()
    assert state.phase == "lost" and state.message == "Nobody watched this training for 90 seconds, so it ended."
    assert watched.state().phase == "training"


def test_runs_in_line_and_paused_ones_expire_too(room: Classroom) -> None:
    now = [0.0]
    room.clock = lambda: now[0]
    watched, paused = room.start(ENDLESS), room.start(ENDLESS)
    paused.pause()
    wait_for(paused, lambda state: state.phase == "paused")
    third, waiting = room.start(ENDLESS), room.start(ENDLESS)
    wait_for(third, lambda state: state.step > 0)
    now[0] = 90.0
    assert watched.state().phase == third.state().phase == "training"
    now[0] += 1
    assert room.under_way() == 2
    assert paused.state().phase == waiting.state().phase == "lost"


def test_without_a_limit_nobody_has_to_watch(room: Classroom) -> None:
    now = [0.0]
    room.clock, room.expires_after = lambda: now[0], None
    run = room.start(ENDLESS)
    step = wait_for(run, lambda state: state.step > 0).step
    now[0] = 1e9
    assert wait_for(run, lambda state: state.step > step + 1).phase == "training"


def test_a_run_is_called_lost_for_the_reason_that_ended_it(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sign of life that comes too late does not make it look as if somebody had stopped it."""
    now, may_step = [0.0], room._may_step
    room.clock = lambda: now[0]

    def too_late(run: LiveRun) -> bool:
        found = may_step(run)
        if not found:
            run.state()
        return found

    monkeypatch.setattr(room, "_may_step", too_late)
    run = room.start(ENDLESS)
    wait_for(run, lambda state: state.step > 0)
    now[0] = 91.0
    wait_until(room, 0)
    state = run.state()
    assert state.phase == "lost" and "Nobody watched" in state.message


def test_a_run_that_was_stopped_is_not_lost_however_long_ago_it_was_seen(room: Classroom) -> None:
    now = [0.0]
    room.clock = lambda: now[0]
    run = room.start(ENDLESS)
    run.pause()
    wait_for(run, lambda state: state.phase == "paused")
    with room.changed:
        run.stop()
        now[0] = 91.0
    state = wait_for(run, lambda state: state.over)
    assert (state.phase, state.message) == ("stopped", "")


def test_an_error_in_the_thread_becomes_a_sentence(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no such operation")

    monkeypatch.setattr(live_training, "train_step", broken)
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


def test_the_run_that_is_replaced_makes_room_for_the_new_one(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_RUNS", 1)
    first = room.start(ENDLESS)
    wait_for(first, lambda state: state.step > 0)
    second = room.start(ENDLESS, replacing=first)
    assert wait_for(first, lambda state: state.over).phase == "stopped"
    wait_for(second, lambda state: state.step > 0)
    with pytest.raises(ClassroomFull, match="1 trainings"):
        room.start(ENDLESS, replacing=first)  # it is over, so that nothing becomes free
    assert second.state().phase == "training"


def test_a_refused_run_replaces_none(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_RUNS", 2)
    runs = [room.start(ENDLESS) for _ in range(2)]
    monkeypatch.setattr(live, "MOST_RUNS", 1)
    with pytest.raises(ClassroomFull):
        room.start(ENDLESS, replacing=runs[0])
    step = wait_for(runs[0], lambda state: state.step > 0).step
    wait_for(runs[0], lambda state: state.step > step + 1)
    assert not runs[0].state().pending and room.under_way() == 2


@one_place
def test_a_run_that_is_replaced_in_line_is_not_waited_for(room: Classroom) -> None:
    learning, waiting = room.start(ENDLESS), room.start(ENDLESS)
    wait_for(learning, lambda state: state.step > 0)
    with room.changed:
        assert waiting.state().line == 1
        assert room.start(ENDLESS, replacing=waiting).state().line == 1
    assert wait_for(waiting, lambda state: state.over).phase == "stopped"


def test_a_run_without_a_thread_is_refused_and_forgotten(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:

    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as context:
        context.setattr(threading.Thread, "start", no_thread)
        with pytest.raises(ClassroomFull, match=r"0 trainings are .* no thread left for another one: try again"):
            room.start(ENDLESS)
    assert room.under_way() == 0
    wait_for(room.start(ENDLESS), lambda state: state.step > 0)
    assert room.learning() == room.under_way() == 1, "the refused run does not learn behind everybody's back"


def test_the_speed_of_the_last_run_tells_how_long_the_next_takes(room: Classroom) -> None:
    settings = replace(TINY, steps=live.MEASURED_STEPS)
    assert room.expected_seconds(settings) is None
    state = wait_for(room.start(settings), lambda state: state.over)
    assert room.expected_seconds(replace(settings, steps=60)) == pytest.approx(3 * state.seconds)
    assert room.expected_seconds(replace(settings, layers=2)) is None


@one_place
def test_close_ends_waiting_and_paused_runs_too(room: Classroom) -> None:
    runs = [room.start(ENDLESS) for _ in range(3)]
    runs[1].pause()
    wait_for(runs[1], lambda state: state.phase == "paused")
    room.close()
    assert {run.state().phase for run in runs} == {"stopped"}
    assert not any(thread.name.startswith("live training") for thread in threading.enumerate())


def test_the_interpreter_ends_although_trainings_go_on() -> None:
    """Its threads are waited for at the end, and 1,200 steps would take long."""
    code = """
import time
from model_core.training import live
class Endless(live.LiveTraining):
    done = False
    def step(self):
        self.steps_made += 1
live.LiveTraining = Endless
room = live.Classroom()
runs = [room.start(live.LiveSettings(layers=1, heads=2, width=16)) for _ in range(3)]
while not runs[0].state().step:
    time.sleep(0.01)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
