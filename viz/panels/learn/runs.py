"""The trainings of one browser tab, and the server's classroom in which they take place."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import streamlit as st

from model_core.training.live import Classroom, ClassroomFull, LiveRun, LiveSettings
from viz.link import RUN
from viz.linked import is_given, read, write
from viz.messages import tell
from viz.wording import counted

KEPT = 4
SILENCE_SECONDS = 90.0  # a browser asks a hidden page's timers once a minute
WANTED = "learn-wanted"  # the training that the page turns to as soon as there is something to see of it
_RUNS, _COUNT, _PROBLEM = "learn-runs", "learn-count", "learn-problem"
_REPLACED = "learn-replaced"


@dataclass(frozen=True)
class Run:
    """A training with its number in this tab, from 1; `id` is a name that no other has, for the link."""

    number: int
    id: str
    live: LiveRun

    @property
    def name(self) -> str:
        """Its name on the page: its number, and the changed settings."""
        return f"{self.number}: {described(self.live.settings)}"


@st.cache_resource(show_spinner=False)
def classroom() -> Classroom:
    """The server's one. It ends a training that no page has asked for in a while, because its tab is closed."""
    return Classroom(expires_after=SILENCE_SECONDS)


def described(settings: LiveSettings) -> str:
    """The settings that are not as proposed, in a few words."""
    changed = settings.changes()
    words = {
        "positions": "without positions",
        "learning_rate": f"learning rate {settings.learning_rate:g}",
        "layers": counted(settings.layers, "layer"),
        "heads": counted(settings.heads, "head"),
        "width": f"width {settings.width}",
        "label_smoothing": f"label smoothing {settings.label_smoothing:g}",
        "steps": counted(settings.steps, "step"),
        "seed": f"seed {settings.seed}",
    }
    return ", ".join(words[name] for name in words if name in changed) or "as proposed"


def runs() -> list[Run]:
    """This tab's last trainings, oldest first."""
    return st.session_state.setdefault(_RUNS, [])


def newest() -> Run | None:
    """The last one that was started here, if any."""
    return runs()[-1] if runs() else None


def start(settings: LiveSettings) -> None:
    """A new training in this tab; the one before is stopped if there is a place for the new one, and the oldest is
    forgotten where there are too many."""
    before = newest()
    cut_off = before is not None and not before.live.state().over
    try:
        live = classroom().start(settings, replacing=before.live if before else None)
    except ClassroomFull as error:
        st.session_state[_PROBLEM] = str(error)
        return
    if before is not None and cut_off:
        st.session_state[_REPLACED] = (
            f"Training {before.number} was stopped to make room for this one: a tab trains one model at a time."
        )
    number = st.session_state.get(_COUNT, 0) + 1
    run = Run(number, secrets.token_hex(4), live)
    st.session_state[_COUNT] = number
    st.session_state[_RUNS] = [*runs(), run][-KEPT:]
    st.session_state[WANTED] = run.name
    write(RUN.change(run.id))


def expected(settings: LiveSettings) -> str:
    """How long it will take, by the last training of this size that ended on this server, if there was one."""
    seconds = classroom().expected_seconds(settings)
    batches = f"{settings.steps:,} batches of 64 sequences of 3 to 10 letters"
    if seconds is None:
        return f"{batches}. How long that takes is told as soon as it can be measured."
    return f"{batches}: about {max(seconds, 1):.0f} s, as fast as the last training of this size went here."


def tell_problems() -> None:
    """Why a training could not begin, which one had to end for it, or that the link's is not in this tab."""
    if problem := st.session_state.pop(_PROBLEM, None):
        tell(problem, "warning")
    if replaced := st.session_state.pop(_REPLACED, None):
        tell(replaced)
    if is_given(RUN) and read(RUN) not in [run.id for run in runs()]:
        tell(
            "The training that this link was made with is not here: it lives in its own tab, and ends when that tab is "
            "reloaded or closed or the server starts anew. Its settings are filled in below: press Start."
        )
