"""One trace's attention: the picker of all maps, the heatmap of the chosen one, its options and its downloads.

All of it is one fragment: choosing another map reruns nothing else on the page.
"""

from __future__ import annotations

import hashlib
import re
from typing import Literal, get_args

import plotly.graph_objects as go
import streamlit as st

from model_core.trace import SITES, Site, TranslationTrace
from model_core.words import AttentionView, hide_special, merge_words, view_map
from viz.components.map_picker import map_picker, pack_maps
from viz.figures.export import matrix_csv, standalone_html
from viz.figures.heatmap import attention_alt, attention_heatmap
from viz.selection import Selection, selection_from

SITE_NAMES: dict[Site, str] = {
    "encoder_self": "Encoder self-attention",
    "decoder_self": "Decoder self-attention",
    "cross": "Cross-attention",
}
WHAT_IS_SEEN: dict[Site, str] = {
    "encoder_self": "Each row is a source {unit} that asks (the query); its columns are the source {unit}s that it "
    "looks at (the keys).",
    "decoder_self": "Each row is a {unit} already written (the query) that looks back at itself and at those before it "
    "(the keys) to predict the next one; hatched cells lie in the future and are masked.",
    "cross": "Each row is a {unit} already written (the query); its columns are the source {unit}s (the keys) that the "
    "decoder looks at to predict the next one.",
}
Scale = Literal["linear", "root"]
Range = Literal["0 to 1", "fitted"]  # a link carries an option as it is shown
Format = Literal["PNG", "SVG"]


def default_selection(trace: TranslationTrace) -> Selection:
    """Cross-attention averaged over the heads: in the middle of a deep model, where words align best (measured; see the
    model card of en-fr), and in the last layer of a shallow one."""
    layers = trace.cross.layers
    return Selection("cross", (layers - 1) // 2 if layers > 2 else layers - 1, None)


def what_is_seen(site: Site, unit: str) -> str:
    """Two sentences on what rows and columns are; `unit` is "piece" or "word"."""
    return WHAT_IS_SEEN[site].format(unit=unit)


def map_name(selection: Selection) -> str:
    """As a person says it, counted from 1: "Cross-attention, layer 5, head 3"."""
    head = "mean over heads" if selection.head is None else f"head {selection.head + 1}"
    return f"{SITE_NAMES[selection.site]}, layer {selection.layer + 1}, {head}"


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
    """The picker; the choice goes into the page's link."""
    asked = selection_from(st.query_params, trace, default_selection(trace))
    chosen = map_picker(packed_maps(key, trace), site=asked.site, layer=asked.layer, head=asked.head, key="map-picker")
    selection = Selection(*chosen)
    told = selection.as_query()
    if selection != asked or any(name in st.query_params and st.query_params[name] != told[name] for name in told):
        st.query_params.update(told)
    return selection


def options() -> tuple[bool, bool, bool, Scale, Range, Format]:
    """How the map is shown; every choice is in the link."""
    with st.popover("View", icon=":material/tune:"):
        words = st.toggle(
            "Merge pieces into words",
            key="words",
            bind="query-params",
            help="Sum over a word's key pieces, mean over its query pieces: rows still sum to 1.",
        )
        hide = st.toggle(
            "Hide special tokens", key="hide", bind="query-params", help="Leaves out <s> and </s>.".replace("<", "\\<")
        )
        again = st.toggle(
            "Renormalise rows",
            key="renormalise",
            bind="query-params",
            disabled=not hide,
            help="Divides each row by what is left of it.",
        )
        scale = st.segmented_control(
            "Colour",
            get_args(Scale),
            default="linear",
            required=True,
            key="scale",
            bind="query-params",
            help="root: the colour of the weight's square root, so that faint weights show. Numbers stay true.",
        )
        span = st.segmented_control(
            "Range",
            get_args(Range),
            default="0 to 1",
            required=True,
            key="range",
            bind="query-params",
            help="fitted: colours from the smallest to the largest weight of this map.",
        )
        picture = st.segmented_control(
            "The camera button saves", get_args(Format), default="PNG", required=True, key="picture"
        )
    return words, hide, again and hide, scale or "linear", span or "0 to 1", picture or "PNG"


def as_viewed(view: AttentionView, words: bool, hide: bool, renormalise: bool) -> AttentionView:
    """The map with pieces merged and special tokens hidden, as asked. Hiding comes first: it needs single tokens."""
    if hide:
        view = hide_special(view, renormalise)
    return merge_words(view) if words else view


def file_name(trace: TranslationTrace, selection: Selection | None = None) -> str:
    """A file name that says what is in it, without an ending."""
    words = "-".join(re.findall(r"[a-z0-9]+", trace.source_text.lower())[:5]) or "sentence"
    if selection is None:
        return f"regard-{words}"
    return (
        f"regard-{words}-{selection.site.replace('_', '-')}-layer{selection.layer + 1}-{selection.as_query()['head']}"
    )


def downloads(trace: TranslationTrace, selection: Selection, view: AttentionView, figure: go.Figure) -> None:
    """What can be taken home; each file is made when it is asked for."""
    name, title = file_name(trace, selection), f"{map_name(selection)}: {trace.source_text} → {trace.target_text}"
    with st.popover("Download", icon=":material/download:"):
        st.download_button(
            "This map as CSV",
            lambda: matrix_csv(view).encode("utf-8-sig"),
            f"{name}.csv",
            "text/csv",
            on_click="ignore",
        )
        st.download_button(
            "This figure as HTML",
            lambda: standalone_html(figure, title).encode(),
            f"{name}.html",
            "text/html",
            on_click="ignore",
        )
        st.download_button(
            "The whole trace",
            trace.to_bytes,
            f"{file_name(trace)}.safetensors",
            "application/octet-stream",
            on_click="ignore",
        )
        st.caption("PNG and SVG: the camera in the figure's corner; “View” says which.")


@st.fragment
def attention_panel(trace: TranslationTrace, origin: str) -> None:
    """Picker, heatmap, options and downloads of one trace. `origin` tells apart traces of different checkpoints."""
    st.subheader("Attention", anchor=False, divider=True)
    left, right = st.columns([5, 7], gap="medium")
    with left:
        selection = pick_map(trace, trace_key(trace, origin))
        note = st.empty()
    with right:
        head = st.container(horizontal=True, vertical_alignment="center")
        with head:
            st.markdown(f"**{map_name(selection)}**", width="stretch")
            view_place, download_place = st.container(width="content"), st.container(width="content")
        with view_place:
            words, hide, renormalise, scale, span, picture = options()
        view = as_viewed(view_map(trace, selection.site, selection.layer, selection.head), words, hide, renormalise)
        if not view.query_tokens or not view.key_tokens:
            st.info("Nothing is left of this map: every token in it is special. Show special tokens again in “View”.")
            return
        dark = st.context.theme.type == "dark"
        figure = attention_heatmap(view, scale=scale, limits="fitted" if span == "fitted" else "unit", dark=dark)
        alt = attention_alt(view)
        st.plotly_chart(
            figure,
            key="heatmap",
            theme=None,
            alt=f"{map_name(selection)}. {alt}",
            config={
                "displaylogo": False,
                "typesetMath": False,
                "toImageButtonOptions": {
                    "format": picture.lower(),
                    "filename": file_name(trace, selection),
                    "scale": 2,
                },
            },
        )
        if words or hide:
            note.caption("The thumbnails show all pieces, special tokens included.")
        with download_place:  # after the figure, which is waited for
            downloads(trace, selection, view, figure)
        st.text(alt)
        st.caption(what_is_seen(selection.site, "word" if words else "piece"))
        if hide and not renormalise:
            st.caption(
                "Special tokens are hidden, so rows no longer sum to 1: the sums in the figure say what is left."
            )
