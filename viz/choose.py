"""Controls for what all pages share: a map (site, layer, head), a source token, a step of the decoder.

Each follows the link at every run and writes into it when it is used, so that a page may also choose by a click
elsewhere: `write` it and rerun.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from model_core.trace import SITES, Site, TranslationTrace
from viz.link import HEAD, LAYER, MEAN, SITE, STEP
from viz.link_kinds import within
from viz.linked import read, write
from viz.selection import Selection, selection_of
from viz.theme import visible

SITE_NAMES: dict[Site, str] = {
    "encoder_self": "Encoder self-attention",
    "decoder_self": "Decoder self-attention",
    "cross": "Cross-attention",
}
MEAN_NAME = "mean over heads"


def default_selection(trace: TranslationTrace) -> Selection:
    """Cross-attention averaged over the heads: in the middle of a deep model, where words align best (measured; see the
    model card of en-fr), and in the last layer of a shallow one."""
    layers = trace.cross.layers
    return Selection("cross", (layers - 1) // 2 if layers > 2 else layers - 1, None)


def shared_selection(
    trace: TranslationTrace, sites: Sequence[Site] = SITES, mean: bool = True, first: Site | None = None
) -> Selection:
    """The map that is chosen now, kept to `sites` and, without `mean`, to one head (the first, if none is). `first`
    is the site to begin with where none was chosen on any page; the other pages don't hear of it."""
    default = default_selection(trace)
    if first is not None:
        default = replace(default, site=first)
    asked = selection_of(read(SITE), read(LAYER), read(HEAD), trace, default)
    site = asked.site if asked.site in sites else sites[0]
    return Selection(site, asked.layer, 0 if asked.head is None and not mean else asked.head)


def choose_map(
    trace: TranslationTrace, *, sites: Sequence[Site] = SITES, mean: bool = True, first: Site | None = None
) -> Selection:
    """Three controls in a row; the choice goes into the link when it is made. See `shared_selection`."""
    now = shared_selection(trace, sites, mean, first)
    maps = trace.maps(now.site)
    heads = ([MEAN_NAME] if mean else []) + [str(head + 1) for head in range(maps.heads)]
    st.session_state["choose-site"] = SITE_NAMES[now.site]
    st.session_state["choose-layer"] = str(now.layer + 1)
    st.session_state["choose-head"] = MEAN_NAME if now.head is None else str(now.head + 1)

    def chosen() -> None:
        state = st.session_state
        sites_by_name: dict[str, Site] = {name: site for site, name in SITE_NAMES.items()}
        site = sites_by_name.get(state.get("choose-site", ""), now.site)
        layer, head = int(state["choose-layer"]) - 1, state["choose-head"]
        write(SITE.change(site), LAYER.change(layer), HEAD.change(MEAN if head == MEAN_NAME else int(head) - 1))

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="choose-map"):
        if len(sites) > 1:
            told = [SITE_NAMES[site] for site in sites]
            st.selectbox("Attention", told, key="choose-site", on_change=chosen, width=230)
        layers = [str(layer + 1) for layer in range(maps.layers)]
        st.selectbox("Layer", layers, key="choose-layer", on_change=chosen, width=110)
        st.selectbox("Head", heads, key="choose-head", on_change=chosen, width=170 if mean else 110)
    return now


def shared_step(trace: TranslationTrace, first: int = 0) -> int:
    """The decoder row (from 0) that is chosen now; where none was chosen on any page, `first` or the last one."""
    rows = len(trace.predicted_tokens)
    step = within(read(STEP), rows)
    return min(first, rows - 1) if step is None else step


def choose_step(trace: TranslationTrace, label: str = "Step: predicts", first: int = 0) -> int:
    """A row of the decoder, from 0, named by the token that it predicts. See `shared_step`."""
    now = shared_step(trace, first)
    names = [f"{number} {visible(token.text)}" for number, token in enumerate(trace.predicted_tokens, start=1)]
    st.session_state["choose-step"] = names[now]

    def chosen() -> None:
        write(STEP.change(names.index(st.session_state["choose-step"])))

    st.selectbox(label, names, key="choose-step", on_change=chosen, width=230)
    return now
