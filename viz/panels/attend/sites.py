"""The view "Three sites" of the Attend page: the same layer and head of all three attentions, side by side."""

from __future__ import annotations

import streamlit as st

from model_core.trace import SITES, Site, TranslationTrace
from model_core.trace.view import view_map
from viz.appearance import is_dark
from viz.choose import SITE_NAMES
from viz.figures.export import matrix_csv
from viz.figures.heatmap import attention_alt, attention_heatmap
from viz.linked import write
from viz.panels.attend.names import file_name, map_name
from viz.picture import show_figure
from viz.selection import Selection

LABELS: dict[Site, tuple[str, str]] = {
    "encoder_self": ("query: source", "key: source"),
    "decoder_self": ("query: decoder input", "key: decoder input"),
    "cross": ("query: decoder input", "key: source"),
}


def at_site(trace: TranslationTrace, selection: Selection, site: Site) -> Selection:
    """The same layer and head of another site; the last layer, or the mean, where it has fewer."""
    maps = trace.maps(site)
    head = selection.head if selection.head is not None and selection.head < maps.heads else None
    return Selection(site, min(selection.layer, maps.layers - 1), head)


def sites_panel(trace: TranslationTrace, selection: Selection) -> None:
    """Three maps over the page's whole width; the button above each selects it."""
    for place, site in zip(st.columns(3, gap="small"), SITES, strict=True):
        with place:
            _one_site(trace, at_site(trace, selection, site), selected=site == selection.site)


def sites_words(selection: Selection) -> None:
    """A description, beside the thumbnails, of the maps below."""
    head = "the mean over the heads" if selection.head is None else f"head {selection.head + 1}"
    st.markdown(f"**Layer {selection.layer + 1}, {head}, at all three sites**")
    st.markdown(
        "Below are the encoder's attention within the source, the decoder's attention within what it has written, and "
        "the decoder's attention over the source, each with its queries down and its keys across, in one colour scale "
        "from 0 to 1. The button above a map selects it. The same number does not make heads of different sites "
        "relatives: each has weights of its own."
    )


def _one_site(trace: TranslationTrace, selection: Selection, selected: bool) -> None:
    name = map_name(selection)
    st.button(
        SITE_NAMES[selection.site],
        key=f"select-{selection.site}",
        icon=":material/check:" if selected else None,
        help="This is the selected site." if selected else "Select this site.",
        on_click=write,
        args=selection.changes(),
        width="stretch",
    )
    view = view_map(trace, selection.site, selection.layer, selection.head)
    rows, columns = LABELS[selection.site]
    figure = attention_heatmap(view, dark=is_dark(), query_label=rows, key_label=columns)
    alt = attention_alt(view)
    show_figure(
        figure,
        name=file_name(trace, selection),
        key=f"site-{selection.site}",
        alt=f"{name}. {alt}",
        csv=lambda: matrix_csv(view),
        title=f"{name}: {trace.source_text} → {trace.target_text}",
    )
    st.text(f"Layer {selection.layer + 1}. {alt}")  # below, so that the maps stand level
