"""One trace's attention: the picker of all maps on the left, a view of the chosen one on the right.

All of it is one fragment: choosing another map reruns nothing else on the page.
"""

from __future__ import annotations

import hashlib

import streamlit as st

from model_core.trace import SITES, TranslationTrace
from viz.choose import shared_selection
from viz.components.map_picker import map_picker, pack_maps
from viz.link import ATTEND_VIEW
from viz.linked import choice, says_otherwise, write
from viz.panels.attend.about import about_attention
from viz.panels.attend.heads import heads_panel, heads_table
from viz.panels.attend.heatmap import heatmap_panel
from viz.panels.attend.lines import lines_panel
from viz.panels.attend.names import file_name
from viz.panels.attend.sites import sites_panel, sites_words
from viz.selection import Selection


@st.cache_resource(max_entries=64, show_spinner=False)
def packed_maps(trace_key: str, _trace: TranslationTrace) -> bytes:
    """All maps for the picker, packed once a trace."""
    return pack_maps(_trace)


def trace_key(trace: TranslationTrace, origin: str) -> str:
    """A name for the trace: what it was made from, and its weights (a file's may be anybody's)."""
    digest = hashlib.sha256()
    for text in (origin, trace.checkpoint, trace.strategy, trace.source_text, trace.target_text):
        digest.update(text.encode(errors="replace") + b"\0")
    for site in SITES:
        digest.update(trace.maps(site).weights.tobytes())
    return digest.hexdigest()


def pick_map(trace: TranslationTrace, key: str) -> Selection:
    """The picker; the choice goes into the page's link, which every page answers to."""
    asked = shared_selection(trace)
    chosen = map_picker(
        packed_maps(key, trace), site=asked.site, layer=asked.layer, head=asked.head, key="map-picker",
        name=file_name(trace),
    )  # fmt: skip
    selection = Selection(*chosen)
    if selection != asked or says_otherwise(*selection.changes()):
        write(*selection.changes())
    return selection


@st.fragment
def attention_panel(trace: TranslationTrace, origin: str) -> None:
    """Picker and view of one trace. `origin` tells apart traces of different checkpoints."""
    st.subheader("Attention", anchor=False, divider="gray")
    key = trace_key(trace, origin)
    left, right = st.columns([5, 7], gap="medium")
    with left:
        selection = pick_map(trace, key)
        note = st.empty()
    with right:
        view = choice("Show as", ATTEND_VIEW, hide_label=True)
        if view == "Heatmap":
            heatmap_panel(trace, selection, note)
        elif view == "Lines":
            lines_panel(trace, selection)
        elif view == "Heads":
            heads_panel(trace, selection, key)
        else:
            sites_words(selection)
    if view == "Three sites":
        sites_panel(trace, selection)
    elif view == "Heads":
        heads_table(trace, selection, key)
    about_attention(trace)
