"""The example's cross-attention while it is learned: a film strip, a slider along it, one map large."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from model_core.trace import AttentionMaps
from model_core.trace.view import AttentionView
from model_core.training.live import EXAMPLE, Snapshot
from viz.appearance import is_dark
from viz.figures.export import matrix_csv
from viz.figures.heatmap import attention_alt, attention_heatmap
from viz.figures.learning import film_strip, frames_of
from viz.link import AT, HEAD, LAYER, MEAN
from viz.link_kinds import within
from viz.linked import read, write
from viz.picture import show_figure

MEAN_NAME = "mean over heads"
PLAY_SECONDS = 0.7  # a picture
_AT, _PLAYING = "learn-at", "learn-playing"  # the step that is shown; while the film plays, the index it has come to


def choose_layer_and_head(maps: AttentionMaps) -> tuple[int, int | None]:
    """Which map of the model is looked at, from 0; at first the mean over the last layer's heads. It is in the link."""
    layer, head = within(read(LAYER), maps.layers), read(HEAD)
    layer = maps.layers - 1 if layer is None else layer
    head = None if head == MEAN else within(head, maps.heads)
    st.session_state["learn-layer"] = str(layer + 1)
    st.session_state["learn-head"] = MEAN_NAME if head is None else str(head + 1)

    def chosen() -> None:
        name = st.session_state["learn-head"]
        new_head = MEAN if name == MEAN_NAME else int(name) - 1
        write(LAYER.change(int(st.session_state["learn-layer"]) - 1), HEAD.change(new_head))

    with st.container(horizontal=True, gap="small"):
        layers = [str(number + 1) for number in range(maps.layers)]
        heads = [MEAN_NAME, *(str(number + 1) for number in range(maps.heads))]
        st.selectbox("Layer", layers, key="learn-layer", on_change=chosen, width=90)
        st.selectbox("Head", heads, key="learn-head", on_change=chosen, width=170)
    return layer, head


def look_back(snapshots: Sequence[Snapshot], layer: int, head: int | None, to_end: bool = False) -> None:
    """The map of any step: a slider over them, at first and with `to_end` at its end, and a button that plays them all.

    A fragment of its own, so that neither draws strip and curves anew.
    """
    if to_end:
        st.session_state[_AT] = snapshots[-1].step
        st.session_state.pop(_PLAYING, None)
    playing = _PLAYING in st.session_state
    st.fragment(_look_back, run_every=PLAY_SECONDS if playing else None)(snapshots, layer, head, playing)


def _look_back(snapshots: Sequence[Snapshot], layer: int, head: int | None, playing: bool) -> None:
    if (_PLAYING in st.session_state) != playing:
        st.rerun()  # the whole page, so that this fragment runs by itself, or no more
    if playing:
        _go_on(snapshots)
    show_map(_choose_snapshot(snapshots), layer, head)


def _go_on(snapshots: Sequence[Snapshot]) -> None:
    """To the next picture; after the last one the film stands."""
    place = min(st.session_state[_PLAYING] + 1, len(snapshots) - 1)
    st.session_state[_AT] = snapshots[place].step
    st.session_state[_PLAYING] = place
    if place == len(snapshots) - 1:
        _hold()


def _play(steps: Sequence[int]) -> None:
    """From the step that is shown; from the first if that is the last."""
    place = steps.index(st.session_state[_AT])
    st.session_state[_PLAYING] = -1 if place == len(steps) - 1 else place


def _hold() -> None:
    st.session_state.pop(_PLAYING, None)


def _choose_snapshot(snapshots: Sequence[Snapshot]) -> Snapshot:
    """The slider and the button. Any step but the last is in the link, once the film stands."""
    steps = [snapshot.step for snapshot in snapshots]
    if len(steps) < 2:
        return snapshots[-1]
    asked = st.session_state.get(_AT, read(AT))
    # Another training may have been measured at other steps: then the nearest one.
    st.session_state[_AT] = steps[-1] if asked is None else min(steps, key=lambda step: abs(step - asked))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        if _PLAYING in st.session_state:
            st.button("Hold", icon=":material/pause:", key="learn-hold", on_click=_hold)
        else:
            st.button("Play", icon=":material/play_arrow:", key="learn-play", on_click=_play, args=(steps,))
        at = st.select_slider("Step of the training", steps, key=_AT, on_change=_hold)
    if _PLAYING in st.session_state:
        return snapshots[steps.index(at)]
    write(AT.change(None if at == steps[-1] else at))
    return snapshots[steps.index(at)]


def show_strip(snapshots: Sequence[Snapshot], layer: int, head: int | None) -> None:
    """The chosen map at a few steps from the first snapshot to the last."""
    frames = [snapshots[index] for index in frames_of(len(snapshots))]
    rows = len(frames[0].predicted)
    on_it = [round(frame.diagonal(layer, head).largest * rows) for frame in frames]
    st.caption(f"The attention map of {EXAMPLE} as it was learned; above each, the training step")
    show_figure(
        film_strip([(frame.step, frame.cross.map(layer, head)) for frame in frames], dark=is_dark()),
        name="regard-learn-strip",
        key="learn-strip",
        alt=f"{len(frames)} maps from step {frames[0].step} to {frames[-1].step}; rows on the diagonal, of {rows}: "
        f"{', '.join(map(str, on_it))}.",
    )


def show_map(now: Snapshot, layer: int, head: int | None) -> None:
    """The map of one step with its numbers."""
    found, rows = now.diagonal(layer, head), len(now.predicted)
    on_it = round(found.largest * rows)
    told = MEAN_NAME if head is None else f"head {head + 1}"
    st.markdown(f"**Cross-attention at step {now.step:,}, layer {layer + 1}, {told}**")
    st.markdown(
        f"**{on_it} of {rows}** rows on the diagonal · mean weight there **{found.weight:.2f}** · "
        f"**{now.right} of {rows}** tokens right"
    )
    maps = now.cross
    view = AttentionView(
        "cross", maps.map(layer, head), maps.allowed, maps.query_tokens, maps.key_tokens, now.predicted
    )
    show_figure(
        attention_heatmap(view, dark=is_dark()),
        name=f"regard-learn-step{now.step}",
        key="learn-map",
        alt=f"Step {now.step}: {on_it} of {rows} rows are on the diagonal. {attention_alt(view)}",
        csv=lambda: matrix_csv(view),
    )
    st.caption(
        "Each row writes the next letter, the last row the end, and should look at that letter in the source: one "
        "column further in each row. Tokens are right where the model finds the right one most probable, each after a "
        "right beginning."
    )
