"""The view "Lines" of the Attend page: all heads of a layer as lines between tokens."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from model_core.trace import Site, TranslationTrace
from model_core.trace.view import view_maps
from viz.appearance import is_dark
from viz.components.head_view import Shown, head_view
from viz.panels.attend.names import file_name, layer_name
from viz.selection import Selection, index_from
from viz.shared import share, shared

# What all pages share of the tokens on either side of a site: a source token, or a step of the decoder.
SHARED_AS: dict[Site, tuple[str, str]] = {
    "encoder_self": ("token", "token"),
    "decoder_self": ("step", "step"),
    "cross": ("step", "token"),
}
MASS = Shown(()).mass
ALL, NONE = "all", "none"
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
    """What the link asks for; where it says nothing, what was shown last. Another map starts with its own heads: the
    selected one, or all for the mean."""
    heads, queries, keys = sizes
    remembered: tuple[Selection, Shown] | None = st.session_state.get(_MEMORY)
    last = remembered[1] if remembered else Shown(())
    asked = st.query_params
    on = own_heads(selection, heads)
    if remembered is None or remembered[0] == selection:
        on = heads_from(asked.get("heads", ""), heads, last.heads if remembered else on)
    mass = index_from(asked.get("mass", ""), 100)
    query, key = (
        index_from(shared(name), size) for name, size in zip(SHARED_AS[selection.site], (queries, keys), strict=True)
    )
    pin = asked.get("pin")
    return Shown(on, last.mass if mass is None else mass + 1, query, key, pin if pin in ("query", "key") else None)


def own_heads(selection: Selection, heads: int) -> tuple[int, ...]:
    """The selected head, or all of them for the mean."""
    return tuple(range(heads)) if selection.head is None else (selection.head,)


def heads_from(text: str, heads: int, default: tuple[int, ...]) -> tuple[int, ...]:
    """The heads (from 0) that a link names: "all", "none" or "1,3"; the default where it names none that exists."""
    if text in (ALL, NONE):
        return tuple(range(heads)) if text == ALL else ()
    found = {index for part in text.split(",")[:64] if (index := index_from(part, heads)) is not None}
    return tuple(sorted(found)) or default


def heads_text(on: tuple[int, ...], heads: int) -> str:
    """As a link has it."""
    return ALL if len(on) == heads else ",".join(str(head + 1) for head in on) or NONE


def tell_link(selection: Selection, shown: Shown, heads: int) -> None:
    """Heads, threshold, marked tokens and the pinned side; what is as it was at first is left out."""
    own = shown.heads == own_heads(selection, heads)
    told = {
        "heads": None if own else heads_text(shown.heads, heads),
        "mass": None if shown.mass == MASS else str(shown.mass),
        "pin": shown.pin,
    }
    for name, value in told.items():
        if value is None:
            st.query_params.pop(name, None)
        elif st.query_params.get(name) != value:
            st.query_params[name] = value
    for name, index in zip(SHARED_AS[selection.site], (shown.query, shown.key), strict=True):
        if index is not None:
            share(**{name: str(index + 1)})
