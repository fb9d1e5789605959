"""The view "Lines" of the Attend page: all heads of a layer as lines between tokens."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from model_core.trace import Site, TranslationTrace
from model_core.trace.view import view_maps
from viz.appearance import is_dark
from viz.components.head_view import Shown, head_view
from viz.link import LINES_HEADS, LINES_MASS, LINES_PIN, STEP, TOKEN, Key
from viz.link_kinds import within
from viz.link_values import HeadSet
from viz.linked import read, write
from viz.panels.attend.names import file_name, layer_name
from viz.selection import Selection

# What all pages share of the tokens on either side of a site: a source token, or a step of the decoder.
SHARED_AS: dict[Site, tuple[Key[int | None], Key[int | None]]] = {
    "encoder_self": (TOKEN, TOKEN),
    "decoder_self": (STEP, STEP),
    "cross": (STEP, TOKEN),
}
MASS = Shown(()).mass
_MEMORY = "lines-shown"


def lines_panel(trace: TranslationTrace, selection: Selection) -> None:
    """The head view, and what it shows in the link."""
    maps = view_maps(trace, selection.site)
    view = replace(maps, weights=maps.weights[selection.layer])
    sizes = view.weights.shape
    title = layer_name(selection)
    st.markdown(f"**{title}**")
    st.caption(
        "Every line is one weight: as wide and as opaque as the weight, in the colour of its head. Queries stand on "
        "the left, the keys that they look at on the right; all lines of a query add up to 1 in each head."
    )
    shown = head_view(
        view,
        asked_for(selection, sizes),
        title=title,
        name=file_name(trace, selection, "lines"),
        dark=is_dark(),
        key="head-view",
    )
    st.session_state[_MEMORY] = selection, shown
    tell_link(selection, shown, sizes[0])


def asked_for(selection: Selection, sizes: tuple[int, ...]) -> Shown:
    """The state that the link asks for; where it says nothing, the state shown last. Another map starts with its own
    heads: the selected one, or all for the mean."""
    heads, queries, keys = sizes
    remembered: tuple[Selection, Shown] | None = st.session_state.get(_MEMORY)
    last = remembered[1] if remembered else Shown(())
    on = own_heads(selection, heads)
    if remembered is None or remembered[0] == selection:
        linked = read(LINES_HEADS)
        there = None if linked is None else linked.among(heads)
        on = there if there is not None else last.heads if remembered else on
    mass = read(LINES_MASS)
    marked = SHARED_AS[selection.site]
    query, key = (within(read(each), size) for each, size in zip(marked, (queries, keys), strict=True))
    return Shown(on, last.mass if mass is None else mass, query, key, read(LINES_PIN))


def own_heads(selection: Selection, heads: int) -> tuple[int, ...]:
    """The selected head, or all of them for the mean."""
    return tuple(range(heads)) if selection.head is None else (selection.head,)


def tell_link(selection: Selection, shown: Shown, heads: int) -> None:
    """Heads, threshold, marked tokens and the pinned side; what is as it was at first is left out."""
    own = shown.heads == own_heads(selection, heads)
    marked = zip(SHARED_AS[selection.site], (shown.query, shown.key), strict=True)
    write(
        LINES_HEADS.change(None if own else HeadSet.of(shown.heads, heads)),
        LINES_MASS.change(None if shown.mass == MASS else shown.mass),
        LINES_PIN.change(shown.pin),
        *(key.change(index) for key, index in marked if index is not None),
    )
