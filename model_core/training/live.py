"""Copy trainings side by side: a few learn at a time, the others stand in line.

A run belongs to whoever holds it. The classroom itself holds only runs that are under way, so that a finished one, its
snapshots included, is gone with the last one who looks at it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from model_core.training.live_settings import MOST, LiveSettings
from model_core.training.live_state import OVER, LiveState, Phase, Wish
from model_core.training.live_training import HELD_OUT, LiveTraining
from model_core.training.snapshots import EXAMPLE, Snapshot, shipped_snapshots
from model_core.training.step import TrainingError

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

PLACES = 2
MOST_RUNS = 32  # under way, waiting and paused ones included: each is a small model
MEASURED_STEPS = 20  # a shorter run says little about the speed


class ClassroomFull(RuntimeError):  # noqa: N818 - the name says what is wrong
    """No more runs can be taken on. The message says how many there are, and what to do."""


class LiveRun:
    """One training in a classroom, made by `Classroom.start`. Every method may be called from any thread."""

    def __init__(self, settings: LiveSettings, classroom: Classroom) -> None:
        self.settings = settings
        self._classroom = classroom
        self._phase: Phase = "waiting"
        self._wish: Wish = "go on"
        self._asked_at = classroom.clock()
        self._message = ""
        self._training: LiveTraining | None = None
        self._step, self._seconds = 0, 0.0
        self._snapshots: tuple[Snapshot, ...] = ()

    def pause(self) -> None:
        """Before its next step the run gives its place to whoever waits."""
        self._classroom.ask(self, "pause")

    def resume(self) -> None:
        """The run stands in line again, at the end."""
        self._classroom.ask(self, "go on")

    def stop(self) -> None:
        """Ends the run before its next step; what it has shown so far stays."""
        self._classroom.ask(self, "stop")

    def state(self) -> LiveState:
        """The run at this instant. Asking keeps the run alive (see `Classroom`)."""
        with self._classroom.changed:
            self._classroom.end_forgotten()
            self._asked_at = self._classroom.clock()
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
        done: dict[Wish, tuple[Phase, ...]] = {"pause": ("paused",), "stop": (), "go on": ("waiting", "training")}
        return self._phase not in (*OVER, *done[self._wish])


class Classroom:
    """At most `places` runs learn at a time, in the order in which they came.

    A run whose state nobody has asked for in `expires_after` seconds of the `clock` is ended; None lets it go on. Runs
    that learn when the interpreter ends are stopped.
    """

    def __init__(
        self,
        places: int = PLACES,
        expires_after: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.places, self.expires_after, self.clock = places, expires_after, clock
        self.changed = threading.Condition(threading.RLock())
        self._executor = ThreadPoolExecutor(places, thread_name_prefix="live training")
        self._turns: dict[LiveRun, Future[None]] = {}  # of all runs under way, in the order of their last turns' begin
        self._speeds: dict[tuple[int, int], float] = {}  # steps per second by layers and width
        # The interpreter joins the executor's threads before it calls what `atexit` was given, so this goes first.
        threading._register_atexit(self.close)  # pyright: ignore[reportAttributeAccessIssue]

    def start(self, settings: LiveSettings, replacing: LiveRun | None = None) -> LiveRun:
        """Puts a run in line; it begins at once if there is a place.

        The run that it is `replacing`, if any, does not count among those that there may be. It is stopped, and leaves
        the line, once the new one has been accepted.

        Raises:
            ClassroomFull: there are too many runs, or the server has no thread left; the run to replace goes on.
        """
        with self.changed:
            self.end_forgotten()
            others = len(self._turns) - (replacing in self._turns)
            if others >= MOST_RUNS:
                raise ClassroomFull(
                    f"{others} trainings are under way or waiting on this server, and it takes no more than that: "
                    "try again in a minute."
                )
            run = LiveRun(settings, self)
            self._stand_in_line(run)
            if replacing is not None:
                replacing.stop()
        return run

    def ask(self, run: LiveRun, wish: Wish) -> None:
        """Has a run go on, pause or stop: at once if it does not learn, else before its next step."""
        with self.changed:
            if run._phase in OVER or run._wish == "stop":
                return
            run._wish = wish
            if wish == "go on" and run._phase == "paused":
                self._stand_in_line(run)
            elif wish != "go on" and self._out_of_line(run):
                if wish == "stop":
                    self._end(run, "stopped")
                else:
                    run._phase = "paused"
            self.changed.notify_all()

    def expected_seconds(self, settings: LiveSettings) -> float | None:
        """By the speed of the last run of this size that has ended here; None where there was none."""
        with self.changed:
            speed = self._speeds.get((settings.layers, settings.width))
        return settings.steps / speed if speed else None

    def learning(self) -> int:
        """The number of runs that learn now."""
        with self.changed:
            return sum(run._phase == "training" for run in self._turns)

    def under_way(self) -> int:
        """The number of runs that are held here: learning, waiting or paused."""
        with self.changed:
            self.end_forgotten()
            return len(self._turns)

    def place_in_line(self, run: LiveRun) -> int:
        """From 1; 0 for a run that does not wait."""
        with self.changed:
            line = [other for other in self._turns if other._phase == "waiting"]
            return line.index(run) + 1 if run in line else 0

    def end_forgotten(self) -> None:
        """Ends the runs in line and the paused ones that nobody asks for. One that learns ends itself."""
        with self.changed:
            for run in [run for run in self._turns if self._is_forgotten(run)]:
                if self._out_of_line(run):
                    self._end(run, "lost", self._why_lost())

    def close(self) -> None:
        """Stops every run, and returns when none learns any more. The classroom takes no more runs."""
        with self.changed:
            for run in list(self._turns):
                run.stop()
        self._executor.shutdown(cancel_futures=True)

    def _stand_in_line(self, run: LiveRun) -> None:
        try:
            turn = self._executor.submit(self._learn, run)
        except RuntimeError as error:
            raise ClassroomFull(
                f"{len(self._turns)} trainings are under way or waiting on this server, and it has no thread "
                "left for another one: try again in a minute."
            ) from error
        self._turns.pop(run, None)
        self._turns[run] = turn
        run._phase = "waiting"

    def _learn(self, run: LiveRun) -> None:
        """A run's turn, in a thread of the executor: its steps until it is paused or over."""
        try:
            while self._may_step(run):
                if run._training is None:
                    run._training = LiveTraining(run.settings)
                else:
                    run._training.step()
                self._show(run, run._training)
        except TrainingError as error:
            self._end(run, "failed", str(error))
        except Exception as error:  # whatever it is, whoever looks at the run has to hear of it
            self._end(run, "failed", f"The training ended with an error: {type(error).__name__}: {error}")

    def _may_step(self, run: LiveRun) -> bool:
        """Whether the run may make a step. If not, the phase says why: it is over, or somebody paused it."""
        with self.changed:
            if run not in self._turns:  # it was refused, but the executor has kept its turn
                return False
            if run._training is not None and run._training.done:
                self._end(run, "finished")
            elif run._wish == "stop":
                self._end(run, "stopped")
            elif self._is_forgotten(run):
                self._end(run, "lost", self._why_lost())
            else:
                run._phase = "paused" if run._wish == "pause" else "training"
                self.changed.notify_all()
            return run._phase == "training"

    def _out_of_line(self, run: LiveRun) -> bool:
        """Takes a run that waits out of the line. False if a thread has it, which then has to end its turn."""
        return run._phase == "paused" or (run._phase == "waiting" and self._turns[run].cancel())

    def _is_forgotten(self, run: LiveRun) -> bool:
        return self.expires_after is not None and self.clock() - run._asked_at > self.expires_after

    def _why_lost(self) -> str:
        return f"Nobody watched this training for {self.expires_after:.0f} seconds, so it ended."

    def _show(self, run: LiveRun, training: LiveTraining) -> None:
        with self.changed:
            run._step, run._seconds = training.steps_made, training.seconds
            if len(run._snapshots) != len(training.snapshots):
                run._snapshots = tuple(training.snapshots)

    def _end(self, run: LiveRun, phase: Phase, message: str = "") -> None:
        with self.changed:
            self._turns.pop(run, None)
            run._phase, run._message, run._training = phase, message, None
            if run._step >= MEASURED_STEPS and run._seconds > 0:
                self._speeds[run.settings.layers, run.settings.width] = run._step / run._seconds
            self.changed.notify_all()
