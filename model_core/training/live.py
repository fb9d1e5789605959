"""Copy trainings that pages watch: a few at a time in threads, the others in line.

A run belongs to whoever holds it. The classroom itself holds only runs that are under way, so that a finished one, its
snapshots included, is gone with the last page that shows it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from model_core.training.live_settings import MOST, LiveSettings
from model_core.training.live_training import HELD_OUT, LiveTraining
from model_core.training.loop import TrainingError
from model_core.training.snapshots import EXAMPLE, Snapshot, shipped_snapshots

__all__ = [
    "EXAMPLE",
    "HELD_OUT",
    "MOST",
    "Classroom",
    "ClassroomFull",
    "LiveRun",
    "LiveSettings",
    "LiveState",
    "Phase",
    "Snapshot",
    "shipped_snapshots",
]

Phase = Literal["waiting", "training", "paused", "finished", "stopped", "lost", "failed"]
OVER: tuple[Phase, ...] = ("finished", "stopped", "lost", "failed")
PLACES = 2
MOST_RUNS = 32  # under way, waiting and paused ones included: each is a thread and a small model
SILENCE_SECONDS = 90.0  # a browser asks a hidden page's timers once a minute
MEASURED_STEPS = 20  # a shorter run says little about the speed
TURN_SECONDS = 1.0  # how often a run that waits looks round


class ClassroomFull(RuntimeError):  # noqa: N818 - the name says what is wrong
    """No more runs can be taken on. The message says how many there are, and what to do."""


@dataclass(frozen=True)
class LiveState:
    """A run at one instant. `line` is its place among those that wait, from 1; 0 where it does not wait.

    `pending` says that it was asked for something (to pause, to go on, to stop) that it has not done yet. `seconds` is
    the time spent learning; `message` says why a run is over, where that was not its last step.
    """

    phase: Phase
    step: int
    steps: int
    seconds: float
    snapshots: tuple[Snapshot, ...]
    line: int = 0
    pending: bool = False
    message: str = ""

    @property
    def over(self) -> bool:
        return self.phase in OVER

    @property
    def steps_per_second(self) -> float | None:
        """None before there is anything to measure."""
        return self.step / self.seconds if self.step and self.seconds > 0 else None


class LiveRun:
    """One training in a classroom, made by `Classroom.start`. Every method may be called from any thread."""

    def __init__(self, settings: LiveSettings, classroom: Classroom) -> None:
        self.settings = settings
        self._classroom = classroom
        self._phase: Phase = "waiting"
        self._wish: Literal["go on", "pause", "stop"] = "go on"
        self._seen = classroom.clock()
        self._message = ""
        self._step, self._seconds = 0, 0.0
        self._snapshots: tuple[Snapshot, ...] = ()

    def pause(self) -> None:
        """Before its next step the run gives its place to whoever waits."""
        self._ask("pause")

    def resume(self) -> None:
        """The run stands in line again, at the end."""
        self._ask("go on")

    def stop(self) -> None:
        """Ends the run before its next step; what it has shown so far stays."""
        self._ask("stop")

    def heartbeat(self) -> None:
        """Says that somebody is still watching."""
        with self._classroom.changed:
            self._seen = self._classroom.clock()

    def state(self) -> LiveState:
        """What there is to see now."""
        with self._classroom.changed:
            return LiveState(
                self._phase,
                self._step,
                self.settings.steps,
                self._seconds,
                self._snapshots,
                self._classroom.place_in_line(self),
                self._pending(),
                self._message,
            )

    def _pending(self) -> bool:
        done: dict[str, tuple[Phase, ...]] = {"pause": ("paused",), "stop": (), "go on": ("waiting", "training")}
        return self._phase not in (*OVER, *done[self._wish])

    def _ask(self, wish: Literal["go on", "pause", "stop"]) -> None:
        with self._classroom.changed:
            if self._wish != "stop":
                self._wish = wish
            self._classroom.changed.notify_all()


class Classroom:
    """At most `places` runs learn at a time. A run that nobody has watched for `silence` seconds is ended."""

    def __init__(
        self, places: int = PLACES, silence: float = SILENCE_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.places, self.silence, self.clock = places, silence, clock
        self.changed = threading.Condition(threading.RLock())
        self._threads: dict[LiveRun, threading.Thread] = {}
        self._learning: list[LiveRun] = []
        self._line: list[LiveRun] = []
        self._speeds: dict[tuple[int, int], float] = {}  # steps a second by layers and width

    def start(self, settings: LiveSettings, replacing: LiveRun | None = None) -> LiveRun:
        """Puts a run in line; it begins at once if there is a place.

        The run that it is `replacing`, if any, does not count among those that there may be. It is stopped, and leaves
        the line, once the new one has been accepted.

        Raises:
            ClassroomFull: there are too many runs, or the server has no thread left; the run to replace goes on.
        """
        with self.changed:
            others = len(self._threads) - (replacing in self._threads)
            if others >= MOST_RUNS:
                raise ClassroomFull(
                    f"{others} trainings are under way or waiting on this server, and it takes no more than that: "
                    "try again in a minute."
                )
            run = LiveRun(settings, self)
            thread = threading.Thread(target=self._work, args=(run,), name="live training", daemon=True)
            self._line.append(run)
            self._threads[run] = thread
            try:
                thread.start()
            except RuntimeError as error:  # no thread is there that would ever take the run out again
                self._line.remove(run)
                del self._threads[run]
                raise ClassroomFull(
                    f"{len(self._threads)} trainings are under way or waiting on this server, and it has no thread "
                    "left for another one: try again in a minute."
                ) from error
            if replacing is not None:
                replacing.stop()
                if replacing in self._line:
                    self._line.remove(replacing)
        return run

    def expected_seconds(self, settings: LiveSettings) -> float | None:
        """By the speed of the last run of this size that has ended here; None where there was none."""
        with self.changed:
            speed = self._speeds.get((settings.layers, settings.width))
        return settings.steps / speed if speed else None

    def learning(self) -> int:
        """How many runs learn now."""
        with self.changed:
            return len(self._learning)

    def under_way(self) -> int:
        """How many runs are held here: learning, waiting or paused."""
        with self.changed:
            return len(self._threads)

    def place_in_line(self, run: LiveRun) -> int:
        """From 1; 0 for a run that does not wait."""
        with self.changed:
            return self._line.index(run) + 1 if run in self._line else 0

    def close(self, timeout: float = 10.0) -> None:
        """Stops every run and waits for their threads, `timeout` seconds each at most."""
        with self.changed:
            threads = dict(self._threads)
        for run in threads:
            run.stop()
        for thread in threads.values():
            thread.join(timeout)

    def _work(self, run: LiveRun) -> None:
        """A run's thread, from its first place in line to its end."""
        phase: Phase = "training"
        message = ""
        try:
            training: LiveTraining | None = None
            while (training is None or not training.done) and (phase := self._turn(run)) == "training":
                if training is None:
                    training = LiveTraining(run.settings)
                else:
                    training.step()
                self._show(run, training)
            if phase == "training":
                phase = "finished"
            elif phase == "lost":
                message = f"Nobody watched this training for {self.silence:.0f} seconds, so it ended."
        except TrainingError as error:
            phase, message = "failed", str(error)
        except Exception as error:  # whatever it is, the page has to hear of it
            phase, message = "failed", f"The training ended with an error: {type(error).__name__}: {error}"
        self._leave(run, phase, message)

    def _turn(self, run: LiveRun) -> Literal["training", "stopped", "lost"]:
        """Waits until the run may make a step ("training"), or has to end: because somebody stopped it, or else
        because nobody watches it. What is found here, under the lock, is what the run's end is called."""
        with self.changed:
            while run._wish != "stop" and not self._silent(run):
                if run._wish == "pause":
                    self._give_place(run)
                    run._phase = "paused"
                elif run in self._learning or self._take_place(run):
                    run._phase = "training"
                    return "training"
                self.changed.wait(TURN_SECONDS)
            return "stopped" if run._wish == "stop" else "lost"

    def _take_place(self, run: LiveRun) -> bool:
        if run not in self._line:
            self._line.append(run)
        run._phase = "waiting"
        if self._line[0] is not run or len(self._learning) >= self.places:
            return False
        self._line.remove(run)
        self._learning.append(run)
        self.changed.notify_all()  # whoever is first now may have a place, too
        return True

    def _give_place(self, run: LiveRun) -> None:
        for runs in (self._learning, self._line):
            if run in runs:
                runs.remove(run)
                self.changed.notify_all()

    def _silent(self, run: LiveRun) -> bool:
        return self.clock() - run._seen > self.silence

    def _show(self, run: LiveRun, training: LiveTraining) -> None:
        with self.changed:
            run._step, run._seconds = training.steps_made, training.seconds
            if len(run._snapshots) != len(training.snapshots):
                run._snapshots = tuple(training.snapshots)

    def _leave(self, run: LiveRun, phase: Phase, message: str) -> None:
        with self.changed:
            self._give_place(run)
            self._threads.pop(run, None)
            run._phase, run._message = phase, message
            speed = run.state().steps_per_second
            if speed is not None and run._step >= MEASURED_STEPS:
                self._speeds[run.settings.layers, run.settings.width] = speed
            self.changed.notify_all()
