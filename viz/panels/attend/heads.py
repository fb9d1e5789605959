"""The view "Heads" of the Attend page: what each head of a site does, in a few numbers."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from model_core.experiments.heads import BADGE_SHARE, badges, site_statistics
from model_core.trace import AttentionMaps, Site, TranslationTrace
from viz.appearance import is_dark
from viz.choose import SITE_NAMES
from viz.figures.head_statistics import head_statistics_figure
from viz.link import STATISTIC, Statistic
from viz.linked import read, write
from viz.panels.attend.names import file_name
from viz.picture import show_figure
from viz.selection import Selection

Statistics = dict[str, NDArray[np.float64]]
NAMES: dict[Statistic, str] = {
    "nats": "entropy in nats",
    "entropy": "entropy, 0 to 1",
    "first": "share on the first token",
    "previous": "share on the previous token",
    "same": "share on itself",
    "diagonal": "share on the diagonal",
    "last": "share on the last token",
}
COLUMNS: dict[Statistic, str] = {
    "nats": "entropy, nats",
    "entropy": "entropy, 0 to 1",
    "first": "on first token",
    "previous": "on previous token",
    "same": "on itself",
    "diagonal": "on diagonal",
    "last": "on last token",
}
COUNTED: dict[Site, str] = {
    "encoder_self": "First, previous, itself and last are positions of the source.",
    "decoder_self": "The first row has no key but itself: it counts in “first” and in “itself”, not in the entropy. "
    "Under the causal mask the last key is the token itself, so that there is no “last”.",
    "cross": "Queries and keys are different sentences, so that there is no previous token and no “itself”. The "
    "diagonal is the source piece of the same rank as the piece that the row predicts: what translating word for word "
    "would look at.",
}


@st.cache_resource(max_entries=64, show_spinner=False)
def statistics_of(trace_key: str, site: Site, _maps: AttentionMaps) -> Statistics:
    """The numbers of a site, each `[L, H]`, computed once a trace."""
    return site_statistics(_maps)


def heads_panel(trace: TranslationTrace, selection: Selection, trace_key: str) -> None:
    """A statistic of all heads as a heatmap, and those heads that do one thing only."""
    maps = trace.maps(selection.site)
    statistics = statistics_of(trace_key, selection.site, maps)
    st.markdown(f"**{SITE_NAMES[selection.site]}: what each head does**")
    st.caption(
        "One number for each head on this sentence: how spread out its attention is (entropy), or how much goes to "
        "one place."
    )
    name = choose_statistic(statistics)
    values = statistics[name]
    highest = math.log(max(len(maps.key_tokens), 2)) if name == "nats" else 1.0
    chosen = None if selection.head is None else (selection.layer, selection.head)
    figure = head_statistics_figure(values, NAMES[name], highest=highest, chosen=chosen, dark=is_dark())
    show_figure(
        figure,
        name=f"{file_name(trace)}-{selection.site.replace('_', '-')}-heads",
        key="head-statistics",
        alt=f"{SITE_NAMES[selection.site]}, {NAMES[name]} by layer and head. {extremes(values, NAMES[name])}",
        csv=lambda: table_of(statistics).to_csv(index=False),
    )
    st.text(extremes(values, NAMES[name]))
    st.text(badge_sentence(statistics))


def heads_table(trace: TranslationTrace, selection: Selection, trace_key: str) -> None:
    """Every statistic of every head over the page's whole width; a click on a column's name sorts by it."""
    table = table_of(statistics_of(trace_key, selection.site, trace.maps(selection.site)))
    numbers = {name: st.column_config.NumberColumn(format="%.3f") for name in COLUMNS.values() if name in table.columns}
    st.dataframe(table, hide_index=True, column_config=numbers, height=320, key="head-table")
    st.caption(
        "Numbers are means over the rows of this sentence. Entropy: −Σ p ln p of a row's weights, 0 where one key has "
        "all; divided by ln of the number of keys that the row may attend to it lies between 0 and 1 (an even spread)."
        " The columns “on …” are shares of the rows' weight. “Does nearly only” names a share of at least "
        f"{BADGE_SHARE}. {COUNTED[selection.site]}"
    )


def choose_statistic(statistics: Statistics) -> Statistic:
    """The one that the heatmap shows; it is in the link. What this site does not have becomes the first one."""
    asked = read(STATISTIC)
    now = asked if asked in statistics else STATISTIC.default
    st.session_state["choose-statistic"] = NAMES[now]
    names: dict[str, Statistic] = {label: name for name, label in NAMES.items() if name in statistics}

    def chosen() -> None:
        write(STATISTIC.change(names[st.session_state["choose-statistic"]]))

    st.selectbox("Statistic", list(names), key="choose-statistic", on_change=chosen, width=280)
    return now


def extremes(values: NDArray[np.float64], name: str) -> str:
    """The highest and the lowest in a sentence."""
    (most, at_most), (least, at_least) = (
        (values.ravel()[index], divmod(int(index), values.shape[1])) for index in (values.argmax(), values.argmin())
    )
    return (
        f"{name[0].upper()}{name[1:]}: highest in layer {at_most[0] + 1}, head {at_most[1] + 1} ({most:.2f}), "
        f"lowest in layer {at_least[0] + 1}, head {at_least[1] + 1} ({least:.2f})."
    )


def badge_sentence(statistics: Statistics) -> str:
    """Those heads that look at one place only, by name."""
    layers, heads = statistics["entropy"].shape
    found = {(at, head): badges(statistics, at, head) for at in range(layers) for head in range(heads)}
    named = [f"layer {at + 1} head {head + 1} ({', '.join(told)})" for (at, head), told in found.items() if told]
    if not named:
        return f"None of the {layers * heads} heads gives one place {BADGE_SHARE} of its weight or more."
    give = "head gives" if len(named) == 1 else "heads give"
    return (
        f"{len(named)} {give} one place at least {BADGE_SHARE} of the weight, averaged over the rows (there are "
        f"{layers * heads}): {'; '.join(named)}."
    )


def table_of(statistics: Statistics) -> pd.DataFrame:
    """A row a head; layers and heads count from 1."""
    layers, heads = statistics["entropy"].shape
    places = [(layer, head) for layer in range(layers) for head in range(heads)]
    columns: dict[str, object] = {
        "layer": [layer + 1 for layer, _ in places],
        "head": [head + 1 for _, head in places],
        "does nearly only": [", ".join(badges(statistics, layer, head)) for layer, head in places],
    }
    return pd.DataFrame(
        columns | {label: statistics[name].ravel() for name, label in COLUMNS.items() if name in statistics}
    )
