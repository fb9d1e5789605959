"""The encoding by itself: base, width and number of positions to play with, and four pictures of it.

All of it is one fragment: moving a slider reruns nothing else on the page.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from model_core.experiments.positions import Floats, encoding_table
from model_core.translator import Translator
from viz.appearance import is_dark
from viz.figures.positions import (
    MOST_CURVES,
    encoding_curves,
    encoding_heatmap,
    shown_dimensions,
    shown_positions,
    similarity_by_distance,
    similarity_curve,
    similarity_heatmap,
    similarity_matrix,
    wave_length,
)
from viz.link import BASE, D_MODEL, DIMENSIONS, MEASURE, POSITION_COUNT, POSITION_RANGE
from viz.linked import choice, clear, follow_link, read, write
from viz.picture import show_figure
from viz.wording import fixed, significant

BASES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
WIDTHS = (8, 16, 32, 64, 128, 256, 512)
FEWEST, MOST = POSITION_RANGE.low, POSITION_RANGE.high
OWN_KEYS = (BASE, D_MODEL, POSITION_COUNT)


@dataclass(frozen=True)
class EncodingSize:
    """The encoding to draw."""

    base: int
    d_model: int
    positions: int


def own_settings(translator: Translator) -> EncodingSize:
    """The model's own: as many positions as its longest sentence takes, <s> and </s> included."""
    config = translator.config
    positions = min(max(translator.max_pieces + 2, FEWEST), MOST)
    return EncodingSize(round(config.position_base), config.d_model, positions)


def follow_checkpoint(checkpoint: str) -> None:
    """Another checkpoint brings its own settings; what a link says at first stays."""
    if st.session_state.setdefault("positions-checkpoint", checkpoint) != checkpoint:
        st.session_state["positions-checkpoint"] = checkpoint
        clear(*OWN_KEYS, DIMENSIONS)


def ask_settings(own: EncodingSize) -> EncodingSize:
    """Three sliders, and the way back to the model's own encoding."""
    bases, widths = sorted({*BASES, own.base}), sorted({*WIDTHS, own.d_model})
    left, middle, right = st.columns(3, gap="medium")
    with left:
        base, chosen = follow_link(BASE, default=own.base, options=bases)
        longer = "The larger it is, the longer the longest waves."
        st.select_slider("Base n", bases, key=BASE.name, on_change=chosen, help=longer)
    with middle:
        d_model, chosen = follow_link(D_MODEL, default=own.d_model, options=widths)
        st.select_slider("Width d_model", widths, key=D_MODEL.name, on_change=chosen)
    with right:
        positions, chosen = follow_link(POSITION_COUNT, default=own.positions)
        st.slider("Positions", FEWEST, MOST, key=POSITION_COUNT.name, on_change=chosen)
    now = EncodingSize(base or own.base, d_model or own.d_model, positions or own.positions)
    told = f"The model's own: base {own.base:,}, d_model {own.d_model}, at most {own.positions} positions."
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{told} Positions and dimensions count from 0 here, as in the formula.", width="content")
        if now != own:
            label = "Back to the model's own"
            st.button(label, type="tertiary", icon=":material/undo:", on_click=clear, args=OWN_KEYS)
    return now


def default_dimensions(d_model: int) -> list[int]:
    """A pair of sine and cosine, and sines that wave ever more slowly."""
    first, *rest = (2 * (d_model // 2 * eighths // 8) for eighths in (1, 2, 3, 4))
    return sorted({first, first + 1, *rest})


def ask_dimensions(d_model: int) -> list[int]:
    """Which dimensions to draw as curves: those of the link that this width has."""
    st.session_state[DIMENSIONS.name] = linked_dimensions(d_model)

    def chosen() -> None:
        write(DIMENSIONS.change(tuple(st.session_state[DIMENSIONS.name])))

    return st.multiselect(
        "Dimensions",
        range(d_model),
        key=DIMENSIONS.name,
        on_change=chosen,
        max_selections=MOST_CURVES,
        select_all=False,
        help=f"From 0 to d_model − 1, at most {MOST_CURVES}. Even ones are sines, odd ones cosines.",
    )


def linked_dimensions(d_model: int) -> list[int]:
    """The dimensions that the link names, at most MOST_CURVES; the default where it names none that there is."""
    linked = read(DIMENSIONS)
    there = [dimension for dimension in linked or () if dimension < d_model][:MOST_CURVES]
    return there if there or linked == () else default_dimensions(d_model)


def encoding_csv(table: Floats) -> str:
    """The encoding `[P, D]`: a row a position, a column a dimension, all of them, also those that are not drawn."""
    return pd.DataFrame(table).to_csv(index_label="position", lineterminator="\r\n")


@st.fragment
def encoding_panel(own: EncodingSize, sentence: int | None) -> None:
    """The sliders and the pictures; `sentence` is how many tokens the sentence has, if there is one."""
    now = ask_settings(own)
    table = encoding_table(now.positions, now.d_model, float(now.base))
    dark = is_dark()
    left, right = st.columns(2, gap="medium")
    with left:
        show_table(table, sentence, dark)
    with right:
        show_curves(table, now.base, dark)
    show_similarity(table, dark)


def show_table(table: Floats, sentence: int | None, dark: bool) -> None:
    """The encoding as a heatmap, and what of it is not drawn."""
    positions, d_model = table.shape
    st.markdown("**What is added at each position** (a row)")
    drawn = len(shown_dimensions(positions, d_model))
    if drawn < d_model:
        st.caption(f"{drawn} of the {d_model} dimensions are drawn: whole pairs, evenly spread. The CSV has all.")
    alt = (
        f"Sinusoidal encoding of {positions} positions in {d_model} dimensions: fast waves in the first dimensions, "
        f"slow ones in the last. The last dimension goes from 1 at position 0 to {fixed(float(table[-1, -1]), 3)} at "
        f"position {positions - 1}."
    )
    show_figure(
        encoding_heatmap(table, sentence, dark=dark),
        name="regard-positions-encoding",
        key="encoding-heatmap",
        alt=alt,
        csv=lambda: encoding_csv(table),
    )


def show_curves(table: Floats, base: int, dark: bool) -> None:
    """Chosen columns of the heatmap as curves."""
    positions, d_model = table.shape
    st.markdown("**Some dimensions** (columns of the heatmap)")
    dimensions = ask_dimensions(d_model)
    if not dimensions:
        st.info("Choose at least one dimension.")
        return
    plural = "s" if len(dimensions) > 1 else ""
    lengths = ", ".join(f"{wave_length(dimension, d_model, base):,.4g}" for dimension in dimensions)
    show_figure(
        encoding_curves(table, dimensions, float(base), dark=dark),
        name="regard-positions-curves",
        key="encoding-curves",
        alt=f"Dimension{plural} {', '.join(map(str, dimensions))} over {positions} positions; wave length{plural} "
        f"{lengths}.",
        csv=lambda: pd.DataFrame(table[:, dimensions], columns=dimensions).to_csv(index_label="position"),
    )


def show_similarity(table: Floats, dark: bool) -> None:
    """How similar the encodings of two positions are: all pairs, and by distance."""
    positions, d_model = table.shape
    st.markdown("**How similar two positions are**: it depends only on how far apart they stand.")
    kind = choice("Measure", MEASURE)
    values = similarity_by_distance(table, kind)
    zero = np.flatnonzero(values < values[0] / 2)
    half = f"it falls below half of that at distance {zero[0]}" if len(zero) else "it never falls below half of that"
    step = shown_positions(positions)
    thin = f" One position in {step[1]} is drawn on the left." if step[1] > 1 else ""
    st.caption(
        f"At distance 0 the {kind} is {values[0]:,.4g}; {half}. The cosine is the dot product divided by "
        f"d_model / 2 = {d_model // 2}, the squared length of every encoding.{thin}"
    )
    left, right = st.columns(2, gap="medium")
    with left:
        show_figure(
            similarity_heatmap(table, kind, dark=dark),
            name="regard-positions-similarity",
            key="similarity-heatmap",
            alt=f"The {kind} of every two of {positions} positions: a bright diagonal of {values[0]:.4g} that fades.",
            csv=lambda: pd.DataFrame(similarity_matrix(table, kind)).to_csv(index_label="position"),
        )
    with right:
        show_figure(
            similarity_curve(values, kind, dark=dark),
            name="regard-positions-by-distance",
            key="similarity-curve",
            alt=f"The {kind} by distance: {values[0]:.4g} at 0, {significant(float(values[1]), 4)} at 1; {half}.",
            csv=lambda: pd.DataFrame({kind: values}).to_csv(index_label="distance"),
        )
