"""The trainings as they are seen: progress and buttons, the film, curves and a table.

One fragment, which reruns by itself while a training is under way.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from model_core.trace import TraceError
from model_core.training.live import HELD_OUT, LiveState, Snapshot, shipped_snapshots
from viz import translators
from viz.appearance import is_dark
from viz.checkpoints import first_checkpoint
from viz.figures.learning import Curves, curves_csv, learning_curves
from viz.languages import COPY
from viz.messages import tell
from viz.panels.learn.film import choose_layer_and_head, look_back, show_map, show_strip
from viz.panels.learn.runs import KEPT, WANTED, Run, classroom, described, newest, runs
from viz.panels.learn.settings import what_to_look_for
from viz.picture import show_figure
from viz.wording import counted, significant

SHIPPED = "shipped model"
WATCHED = "learn-watched"  # the training that was last seen going on
TICK_SECONDS = 1.0
PAUSED_TICK_SECONDS = 10.0  # only to say that somebody is still there


@st.cache_resource(max_entries=4, show_spinner=False)
def shipped(folder: str) -> tuple[Snapshot, ...]:
    """The snapshots of the copy checkpoint's own training. Raises TraceError."""
    return shipped_snapshots(translators.CHECKPOINTS / folder)


def learn_panel() -> None:
    """All of it, as often as there is something new to see."""
    run = newest()
    state = run.live.state() if run else None
    stage = _stage(state)
    tick = None if state is None or state.over else TICK_SECONDS
    if state is not None and state.phase == "paused" and not state.pending:
        tick = PAUSED_TICK_SECONDS
    st.fragment(_panel, run_every=tick)(stage)


def _stage(state: LiveState | None) -> tuple[str, bool]:
    return ("", False) if state is None else (state.phase, state.pending)


def _panel(stage: tuple[str, bool]) -> None:
    run = newest()
    state = run.live.state() if run else None
    if run and state:
        if _stage(state) != stage:
            st.rerun()  # the whole page, so that the panel asks more often, or no more
        _progress(run, state)
    histories = _histories()
    if not histories:
        return
    left, right = st.columns(2, gap="medium")
    with left:
        _film(histories, run, state)
    with right:
        _curves(histories)
        _table()


def _histories() -> dict[str, tuple[Snapshot, ...]]:
    """By name: what the shipped model and this tab's trainings have shown so far, those with anything to show."""
    found: dict[str, tuple[Snapshot, ...]] = {}
    copying = first_checkpoint(lambda about: about.task == COPY)
    try:
        if copying is not None:
            found[SHIPPED] = shipped(copying[0])
    except TraceError as error:
        tell(f"How the shipped copy model learned can't be shown. {error}", "warning")
    found |= {run.name: run.live.state().snapshots for run in runs()}
    return {name: snapshots for name, snapshots in found.items() if snapshots}


def _progress(run: Run, state: LiveState) -> None:
    """Where the newest training stands, in words and as a bar, and the buttons that steer it."""
    st.progress(
        state.step / state.steps,
        f"Training {run.number} ({described(run.live.settings)}): step {state.step:,} of {state.steps:,}",
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if state.phase in ("training", "waiting"):
            st.button("Pause", icon=":material/pause:", key="pause", on_click=run.live.pause)
        elif state.phase == "paused":
            st.button("Resume", icon=":material/play_arrow:", key="resume", on_click=run.live.resume, type="primary")
        if not state.over:
            st.button("Stop", icon=":material/stop:", key="stop", on_click=run.live.stop)
        st.text(_told(state))
    look = what_to_look_for(run.live.settings)
    if look is not None:
        st.caption(f"Look for: {look}.")


def _told(state: LiveState) -> str:
    speed = state.steps_per_second
    if state.phase == "waiting":
        busy = classroom().learning()
        if busy < classroom().places:
            return "Starting …"
        others = "Another training runs" if busy == 1 else f"{busy} other trainings run"
        return f"{others} on this server. This one is number {state.line or 1} in line and begins by itself."
    if state.phase == "training":
        if speed is None:
            return "Making the model …"
        return f"{_pace(speed)} steps a second: about {(state.steps - state.step) / speed:.0f} s to go."
    if state.phase == "paused":
        return "Paused. Its place is free for others meanwhile."
    if state.phase == "finished":
        return f"Done in {state.seconds:.0f} s of training. Move the slider to look back."
    return state.message or "Stopped. What it learned until then stays here."


def _pace(speed: float) -> str:
    """Whole steps where there are many; of a few, or of less than one, the decimals are what one waits by."""
    return f"{speed:.0f}" if speed >= 9.95 else f"{speed:.1f}" if speed >= 0.95 else significant(speed, 2)


def _film(histories: dict[str, tuple[Snapshot, ...]], run: Run | None, state: LiveState | None) -> None:
    names = list(histories)
    if st.session_state.get(WANTED) in names:
        st.session_state["learn-show"] = st.session_state.pop(WANTED)
    if st.session_state.get("learn-show") not in names:
        st.session_state["learn-show"] = names[-1]
    name = st.segmented_control("How it learned", names, required=True, key="learn-show") or names[-1]
    snapshots = histories[name]
    live = run is not None and state is not None and name == run.name and state.phase in ("training", "waiting")
    layer, head = choose_layer_and_head(snapshots[0].cross)
    show_strip(snapshots, layer, head)
    if live:
        st.caption("Shown is the newest step. When the training pauses or ends, a slider goes back over all of it.")
        st.session_state[WATCHED] = name
    to_end = not live and st.session_state.get(WATCHED) == name
    if to_end:
        del st.session_state[WATCHED]
    if live:
        show_map(snapshots[-1], layer, head)
    else:
        look_back(snapshots, layer, head, to_end)


def _curves(histories: dict[str, tuple[Snapshot, ...]]) -> None:
    slots = {run.name: 1 + (run.number - 1) % KEPT for run in runs()}
    curves = [_as_curves(name, slots.get(name, 0), snapshots) for name, snapshots in histories.items()]
    last = max([run.live.settings.steps for run in runs()] or [curves[0].steps[-1]])
    newest_curves = curves[-1]
    share = newest_curves.diagonal[-1] or 0.0
    beyond = f" The {SHIPPED}'s line goes on to step {curves[0].steps[-1]:,}." if curves[0].steps[-1] > last else ""
    show_figure(
        learning_curves(curves, last, dark=is_dark()),
        name="regard-learn-curves",
        key="learn-curves",
        alt=f"{counted(len(curves), 'training')}. {newest_curves.name}: {share:.0%} of the rows are on the diagonal of "
        f"its best layer at step {newest_curves.steps[-1]}.",
        csv=lambda: curves_csv(curves),
    )
    judged = any(value is not None for one in curves for value in one.exact)
    copied = f" Copied exactly: of {HELD_OUT} sequences that the training never saw, decoded greedily."
    st.caption(
        "The diagonal is counted in the mean over a layer's heads, whatever layer is chosen beside."
        f"{copied if judged else ''}{beyond}"
    )


def _as_curves(name: str, slot: int, snapshots: Sequence[Snapshot]) -> Curves:
    return Curves(
        name,
        slot,
        tuple(snapshot.step for snapshot in snapshots),
        tuple(snapshot.best_diagonal for snapshot in snapshots),
        tuple(snapshot.exact for snapshot in snapshots),
        tuple(snapshot.loss for snapshot in snapshots),
    )


def _table() -> None:
    """This tab's trainings side by side."""
    rows = [(run, run.live.state()) for run in runs()]
    if len(rows) < 2:
        return
    lasts = [state.snapshots[-1] if state.snapshots else None for _, state in rows]
    st.markdown(f"**Your last {len(rows)} trainings**")
    st.dataframe(
        pd.DataFrame(
            {
                "training": [run.name for run, _ in rows],
                "state": [state.phase for _, state in rows],
                "step": [state.step for _, state in rows],
                "loss": [last.loss if last else None for last in lasts],
                "copied exactly": [last.exact if last else None for last in lasts],
                "on the diagonal": [last.best_diagonal if last else None for last in lasts],
                "seconds": [state.seconds for _, state in rows],
            }
        ),
        hide_index=True,
        column_config={
            "loss": st.column_config.NumberColumn(format="%.3f"),
            "copied exactly": st.column_config.NumberColumn(format="percent"),
            "on the diagonal": st.column_config.NumberColumn(format="percent"),
            "seconds": st.column_config.NumberColumn(format="%.1f"),
        },
    )
