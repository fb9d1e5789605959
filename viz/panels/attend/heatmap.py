"""The view "Heatmap" of the Attend page: one map, its options and its downloads."""

from __future__ import annotations

from typing import get_args

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model_core.trace import TranslationTrace
from model_core.trace.view import AttentionView, hide_special, merge_words, view_map
from viz.appearance import is_dark
from viz.figures.export import matrix_csv
from viz.figures.heatmap import attention_alt, attention_heatmap
from viz.link import HIDE, RANGE, RENORMALISE, SCALE, STEP, TOKEN, WORDS, Range, Scale
from viz.link_kinds import within
from viz.linked import choice, read, toggle
from viz.panels.attend.names import file_name, map_name, what_is_seen
from viz.picture import Format, chart_config, csv_button, html_button
from viz.selection import Selection
from viz.theme import visible


def options() -> tuple[bool, bool, bool, Scale, Range, Format]:
    """How the map is shown; every choice is in the link."""
    with st.popover("View", icon=":material/tune:"):
        summed = "Sum over a word's key pieces, mean over its query pieces: rows still sum to 1."
        words = toggle("Merge pieces into words", WORDS, help=summed)
        hide = toggle("Hide special tokens", HIDE, help="Leaves out <s> and </s>.".replace("<", "\\<"))
        divided = "Divides each row by what is left of it."
        again = toggle("Renormalise rows", RENORMALISE, disabled=not hide, help=divided)
        rooted = "root: the colour of the weight's square root, so that faint weights show. Numbers stay true."
        scale = choice("Colour", SCALE, help=rooted)
        span = choice("Range", RANGE, help="fitted: colours from the smallest to the largest weight of this map.")
        picture = st.segmented_control(
            "The camera button saves", get_args(Format), default="PNG", required=True, key="picture"
        )
    return words, hide, again and hide, scale, span, picture or "PNG"


def as_viewed(view: AttentionView, words: bool, hide: bool, renormalise: bool) -> AttentionView:
    """The map with pieces merged and special tokens hidden, as asked. Hiding comes first: it needs single tokens."""
    if hide:
        view = hide_special(view, renormalise)
    return merge_words(view) if words else view


def heatmap_downloads(trace: TranslationTrace, selection: Selection, view: AttentionView, figure: go.Figure) -> None:
    """Files to take home; each is made when it is asked for."""
    name, title = file_name(trace, selection), f"{map_name(selection)}: {trace.source_text} → {trace.target_text}"
    with st.popover("Download", icon=":material/download:"):
        csv_button("This map as CSV", lambda: matrix_csv(view), name, key="heatmap-csv")
        html_button("This figure as HTML", figure, name, title=title, key="heatmap-html")
        st.download_button(
            "The whole trace",
            trace.to_bytes,
            f"{file_name(trace)}.safetensors",
            "application/octet-stream",
            on_click="ignore",
        )
        st.caption("PNG and SVG: the camera in the figure's corner; “View” says which.")


def selected_row(view: AttentionView) -> str:
    """A sentence on the row of the shared token or step; empty where the link names none. The figure itself stays as
    it is: a mark in it would make it start anew and lose its zoom."""
    row = within(read(TOKEN if view.site == "encoder_self" else STEP), len(view.query_tokens))
    if row is None:
        return ""
    key = int(view.weights[row].argmax())
    query = f"“{visible(view.query_tokens[row].text)}”"
    if view.predicted_tokens:
        query += f" (which predicts “{visible(view.predicted_tokens[row].text)}”)"
    weight, found = view.weights[row, key], visible(view.key_tokens[key].text)
    return f"The selected row, {row + 1}: {query} looks most at “{found}”, {weight:.2f}."


def heatmap_panel(trace: TranslationTrace, selection: Selection, note: DeltaGenerator) -> None:
    """The chosen map; `note` is a place beside the thumbnails for what does not hold for them."""
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
    figure = attention_heatmap(view, scale=scale, limits="fitted" if span == "fitted" else "unit", dark=is_dark())
    alt = attention_alt(view)
    config = chart_config(file_name(trace, selection), picture)
    st.plotly_chart(figure, key="heatmap", theme=None, alt=f"{map_name(selection)}. {alt}", config=config)
    if words or hide:
        note.caption("The thumbnails show all pieces, special tokens included.")
    with download_place:  # after the figure, which is waited for
        heatmap_downloads(trace, selection, view, figure)
    st.text(alt)
    if not words and not hide and (sentence := selected_row(view)):
        st.text(sentence)
    st.caption(what_is_seen(selection.site, "word" if words else "piece"))
    if hide and not renormalise:
        st.caption("Special tokens are hidden, so rows no longer sum to 1: the sums in the figure say what is left.")
