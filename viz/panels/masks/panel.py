"""The Masks page's upper part: the three masks, and what they do in one head."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from model_core.experiments.masks import MaskCell, MaskedPass, MaskSetting, flipped, rule_mask
from model_core.trace import Site, Tokens
from viz.appearance import is_dark
from viz.choose import SITE_NAMES
from viz.components.matrix import matrix
from viz.figures.masks import PAD, mask_alt, mask_figure, padding_figure
from viz.link import CAUSAL, OFF, ON, PADDING, REACH, SITE, LinkChange
from viz.link_values import TurnedCells, spell_cell
from viz.linked import choice, toggle, write
from viz.messages import tell
from viz.panels.masks.state import REFUSED, Subject, cell_at, read_setting
from viz.picture import csv_button, show_figure
from viz.selection import Selection
from viz.theme import visible


def rule_masks(subject: Subject, setting: MaskSetting, site: Site) -> np.ndarray:
    """The mask `[Q, K]` of a site that the two rules make, without single cells."""
    queries, keys = subject.tokens(site)
    return rule_mask(setting, subject.source, site, len(queries), len(keys))


def three_masks(subject: Subject, sentences: list[Tokens]) -> MaskSetting:
    """The padding mask of the batch, and the causal and the cross-attention mask of the sentence looked at, with their
    switches. Returns the setting that these and the link's cells make."""
    st.subheader("Three masks", anchor=False, divider="gray")
    places = st.columns(3, gap="medium")
    with places[0]:
        padding = toggle("Padding mask", PADDING)
        st.caption("A batch is one tensor, so the shorter sentence is filled up. No query may look at what fills it.")
    with places[1]:
        causal = toggle("Causal mask", CAUSAL)
        st.caption("A decoder row sees itself and what was written before it, never what it has to predict.")
    with places[2]:
        told = "It has no switch of its own: it is the padding mask of the source."
        st.toggle("Cross-attention mask", value=padding, disabled=True, help=told)
        st.caption("A decoder row may look at the whole source, except for its padding: the padding mask once more.")
    setting, left_out = read_setting(subject, padding, causal)
    with places[0]:
        show_padding(sentences, setting)
    with places[1]:
        show_mask(subject, setting, "decoder_self", ("query: decoder input", "key: decoder input"))
    with places[2]:
        show_mask(subject, setting, "cross", ("query: decoder input", "key: source"))
    if left_out:
        number = "One cell" if left_out == 1 else f"{left_out} cells"
        st.caption(f":material/info: {number} of the link could not be used with this sentence.")
    return setting


def show_padding(sentences: list[Tokens], setting: MaskSetting) -> None:
    """The batch's picture; without the mask every place is open."""
    figure = padding_figure(sentences, masked=setting.padding, dark=is_dark())
    table = pd.DataFrame(
        [
            (number, place, token.text, token.text != PAD or not setting.padding)
            for number, tokens in enumerate(sentences, start=1)
            for place, token in enumerate(tokens, start=1)
        ],
        columns=["sentence", "position", "token", "may be looked at"],
    )
    count = sum(token.text == PAD for tokens in sentences for token in tokens)
    alt = f"Padding mask of a batch of {len(sentences)} x {len(sentences[0])} tokens: {count} of them "
    alt += "is padding." if count == 1 else "are padding."
    show_figure(figure, name="regard-masks-padding", key="mask-padding", alt=alt, csv=lambda: table.to_csv(index=False))
    if not count:
        st.caption("Nothing is padded here: type a second sentence of another length.")


def show_mask(subject: Subject, setting: MaskSetting, site: Site, labels: tuple[str, str]) -> None:
    """One site's mask of the sentence that is looked at."""
    allowed = rule_masks(subject, setting, site)
    queries, keys = subject.tokens(site)
    figure = mask_figure(allowed, queries, keys, site=site, query_label=labels[0], key_label=labels[1], dark=is_dark())
    table = pd.DataFrame(allowed.astype(int), [t.text for t in queries], [t.text for t in keys])
    show_figure(
        figure,
        name=f"regard-masks-{site.replace('_', '-')}",
        key=f"mask-{site}",
        alt=mask_alt(allowed, f"Mask of {SITE_NAMES[site].lower()}"),
        csv=table.to_csv,
    )


def turned_changes(setting: MaskSetting) -> tuple[LinkChange, LinkChange]:
    """The turned cells in a link."""
    return OFF.change(TurnedCells(setting.forbidden)), ON.change(TurnedCells(setting.permitted))


def write_cells(setting: MaskSetting) -> None:
    """The turned cells into the page's link."""
    write(*turned_changes(setting))


def turn(subject: Subject, setting: MaskSetting, selection: Selection, cell: MaskCell) -> None:
    """Forbids or permits a cell, unless that leaves a row without a key: then the page says so."""
    changed = flipped(setting, subject.source, cell, selection.layer, selection.head or 0)
    refused = subject.refused(changed)
    st.session_state[REFUSED] = refused
    if refused is None:
        write_cells(changed)


def show_head(subject: Subject, setting: MaskSetting, selection: Selection, found: MaskedPass) -> None:
    """Scores, masked scores and weights of the chosen head, `[Q, K]` each; a click in the second one turns a cell."""
    head = selection.head or 0
    scores, allowed, weights = found.scores[head], found.allowed[head], found.weights[head]
    rows, columns = ([token.text for token in tokens] for tokens in subject.tokens(selection.site))
    reach = choice("A click on a cell of the second matrix forbids it, or allows it again, in", REACH)
    refused = st.session_state.pop(REFUSED, None)  # told once: it is about the click that led here
    if refused:
        tell(refused, "warning")

    def clicked(row: int, column: int) -> None:
        turn(subject, setting, selection, cell_at(selection, row, column, reach))

    if allowed.all() and selection.site != "decoder_self":
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("Nothing is masked in this map.", width="content")
            causal = SITE.change("decoder_self")
            st.button("Show one with a causal mask", type="tertiary", on_click=write, args=(causal,))
    before, after, softmax = st.columns(3, gap="medium")
    limits = (float(scores.min()), float(scores.max()) + 1e-6)
    with before:
        st.markdown("**1. Scores** $QK^\\top/\\sqrt{d_k}$")
        matrix(scores, rows, columns, key="scores", name="Scores before the mask", limits=limits)
    with after:
        st.markdown("**2. Masked:** $-\\infty$ where hatched")
        masked = np.where(allowed, scores, np.float32("-inf"))
        matrix(masked, rows, columns, key="masked", name="Scores after the mask", limits=limits, on_pick=clicked)
    with softmax:
        sums = weights.sum(axis=1, dtype=np.float64)
        st.markdown(f"**3. Softmax:** each row sums to {sums.mean():.3f}")
        matrix(weights, rows, columns, key="weights", name="Weights", masked=~allowed, limits=(0.0, 1.0))
    csv = lambda: cells_csv(rows, columns, {"score": scores, "allowed": allowed, "weight": weights})  # noqa: E731
    csv_button("The three matrices as CSV", csv, "regard-masks-head", key="head-csv", alone=True)


def cells_csv(rows: list[str], columns: list[str], matrices: Mapping[str, np.ndarray]) -> str:
    """Matrices `[Q, K]` side by side: a line a cell, a column a matrix; queries and keys with numbers from 1."""
    table = pd.DataFrame(
        [
            (q + 1, query, k + 1, key, *(matrix[q, k] for matrix in matrices.values()))
            for q, query in enumerate(rows)
            for k, key in enumerate(columns)
        ],
        columns=["query", "query token", "key", "key token", *matrices],
    )
    return table.to_csv(index=False, lineterminator="\r\n")


def told_cells(subject: Subject, setting: MaskSetting) -> list[str]:
    """A line for each turned cell."""
    lines = []
    for cell, value in sorted(setting.turned(), key=lambda turned: spell_cell(turned[0])):
        queries, keys = subject.tokens(cell.site)
        where = "all layers" if cell.layer is None else f"layer {cell.layer + 1}"
        where += "" if cell.head is None else f", head {cell.head + 1}"
        lines.append(
            f"{'allowed' if value else 'forbidden'}: query {cell.query + 1} “{visible(queries[cell.query].text)}” → "
            f"key {cell.key + 1} “{visible(keys[cell.key].text)}”, {SITE_NAMES[cell.site].lower()}, {where}"
        )
    return lines
