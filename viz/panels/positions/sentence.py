"""The sentence with its positions changed, beside the sentence as it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from model_core.experiments.positions import (
    PositionChange,
    PositionOutcome,
    cosines,
    moved_attention,
    word_groups,
    words_in_order,
)
from model_core.text.words import word_bounds
from model_core.trace import TranslationTrace
from model_core.trace.view import AttentionView, view_map
from model_core.translator import Translator
from viz.appearance import is_dark
from viz.choose import choose_map
from viz.figures.export import matrix_csv
from viz.figures.heatmap import attention_alt, attention_heatmap
from viz.figures.position_bars import token_bars
from viz.link import BACK, BOTH, CHANGE, SHIFT, SHUFFLE_SEED
from viz.linked import choice, number, slider, toggle
from viz.panels.positions.outcome import find_outcome, told
from viz.panels.positions.table import show_all_changes
from viz.picture import show_figure
from viz.selection import Selection
from viz.theme import escape_markdown
from viz.wording import counted, fixed


@dataclass(frozen=True)
class ChosenChange:
    """The change, and whether its map is shown in the original order of the tokens."""

    change: PositionChange
    put_back: bool = False


def ask_experiment(trace: TranslationTrace) -> ChosenChange:
    """Asks for the change, and only for the settings that it needs."""
    kind = choice(
        "Positions and words",
        CHANGE,
        help="off: no encoding is added. shuffled: the words change places, their pieces stay together. "
        "shifted: every position is moved on by k.",
    )
    seed, shift, decoder, put_back = None, 0, False, False
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if kind == "shifted":
            shift = slider("Shift k", SHIFT)
        if "shuffled" in kind:
            seed = number("Seed of the order", SHUFFLE_SEED, width=170)
        if kind != "shuffled":
            only = "Otherwise the encoder's only. Shuffling concerns the source alone."
            decoder = toggle("The decoder's positions too", BOTH, help=only)
        if "shuffled" in kind:
            put_back = toggle("Show the map in the original order", BACK)
    if seed is not None and len(word_groups(trace.source_tokens)) < 2:
        st.info("This sentence has one word: there is nothing to shuffle.")
    placing = "shifted" if kind == "shifted" else "kept" if kind == "shuffled" else "off"
    return ChosenChange(PositionChange(placing, shift, seed, decoder), put_back)


@st.fragment
def experiment_panel(translator: Translator, trace: TranslationTrace) -> None:
    """The controls, both sides, what changed in numbers, and those numbers for each token."""
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        with st.container(width="content"):
            selection = choose_map(trace, sites=("encoder_self",))
        with st.container():
            experiment = ask_experiment(trace)
    found, language = find_outcome(translator, trace, experiment.change), translator.languages[1]
    dark = is_dark()
    before = view_map(trace, "encoder_self", selection.layer, selection.head)
    st.markdown(reading(trace, found, experiment.change, language))
    show_words(trace.target_text, found, language)
    left, right = st.columns(2, gap="medium")
    with left:
        show_side("As it is", trace.source_text, trace.target_text)
        show_encoder_map(before, "before", dark)
    with right:
        show_side(told(experiment.change), found.source_text, found.text)
        show_encoder_map(changed_view(trace, found, selection, experiment.put_back), "after", dark)
    moved = moved_attention(before.weights, chosen_map(found, selection, put_back=True))
    show_changes(trace, moved, cosines(trace.encoder_states[-1], found.states_put_back()[-1]), dark)
    show_all_changes(translator, trace, experiment.change)


def chosen_map(found: PositionOutcome, selection: Selection, *, put_back: bool) -> np.ndarray:
    """The chosen layer's and head's weights `[S, S]`."""
    heads = (found.attention_put_back() if put_back else found.attention)[selection.layer]
    return heads.mean(axis=0, dtype=np.float64).astype(np.float32) if selection.head is None else heads[selection.head]


def changed_view(
    trace: TranslationTrace, found: PositionOutcome, selection: Selection, put_back: bool
) -> AttentionView:
    """The changed sentence's map with its tokens, in the order that was read or in the original one."""
    view = view_map(trace, "encoder_self", selection.layer, selection.head)
    tokens = trace.source_tokens if put_back else tuple(trace.source_tokens[place] for place in found.order)
    weights = chosen_map(found, selection, put_back=put_back)
    return replace(view, weights=weights, query_tokens=tokens, key_tokens=tokens)


def show_side(heading: str, source: str, translation: str) -> None:
    """One side's sentence and translation."""
    st.markdown(f"**{heading}**")
    st.text(source)
    st.text(f"→ {translation or '(an empty translation)'}")


def words_of(text: str, language: str) -> list[str]:
    """The words as they are compared: lower case, by the language's rule ("l'", "homme"), no punctuation, unless there
    is nothing else."""
    folded = text.casefold()
    units = [folded[start:end] for start, end in word_bounds(folded, language)]
    return [unit for unit in units if any(map(str.isalnum, unit))] or text.split()


def show_words(before: str, after: PositionOutcome, language: str) -> None:
    """The changed translation word by word: which of them are not the original's."""
    words = words_of(after.text, language)
    kept = words_in_order(words_of(before, language), words)
    if not all(kept):
        pairs = zip(words, kept, strict=True)
        marked = [escape_markdown(word) if same else f"**{escape_markdown(f'≠ {word}')}**" for word, same in pairs]
        st.markdown("New translation, word by word: " + " ".join(marked))
        st.caption("≠ stands before each word that the original translation does not have in this order.")
    if not after.finished:
        st.caption("The search met its length limit before the new translation ended.")


def show_encoder_map(view: AttentionView, key: str, dark: bool) -> None:
    """One heatmap of encoder self-attention."""
    show_figure(
        attention_heatmap(view, dark=dark),
        name=f"regard-positions-attention-{key}",
        key=f"attention-{key}",
        alt=f"Encoder self-attention {key} the change. {attention_alt(view)}",
        csv=lambda: matrix_csv(view),
    )


def reading(trace: TranslationTrace, found: PositionOutcome, change: PositionChange, language: str) -> str:
    """The outcome in two sentences of computed numbers."""
    before, after = words_of(trace.target_text, language), words_of(found.text, language)
    in_order = sum(words_in_order(before, after))
    shared = f"{_in_common(before, after)} of the original translation's {counted(len(before), 'word')}"
    if found.text == trace.target_text:
        start = f"{told(change)}: the model writes **the same translation**."
    else:
        new = f"the new translation of {counted(len(after), 'word')}"
        start = f"{told(change)}: {new} has **{shared}**, {in_order} in its order."
    total = float(found.original.sum())
    tokens = len(found.original)
    times = f"{np.exp(min((total - trace.log_probability) / tokens, 50.0)):.2g}"
    return (
        f"{start} The log-probability of the *original* translation goes from {fixed(trace.log_probability)} to "
        f"**{fixed(total)}**: {'as probable as before' if times == '1' else f'{times} times as probable'} for "
        f"{f'each of its {tokens} tokens' if tokens > 1 else 'its one token'} (geometric mean)."
    )


def _in_common(first: list[str], second: list[str]) -> int:
    """How many words two lists share, each counted as often as both have it."""
    return sum(min(first.count(word), second.count(word)) for word in set(first))


def show_changes(trace: TranslationTrace, moved: np.ndarray, likeness: np.ndarray, dark: bool) -> None:
    """The change for each token, in the original order."""
    st.markdown(
        f"On average **{moved.mean():.2f}** of a row's attention in this map goes elsewhere (0 nothing, 1 all of it), "
        f"and the encoder's output for a token has a cosine of **{fixed(float(likeness.mean()))}** with what it was "
        f"(lowest {fixed(float(likeness.min()))})."
    )
    series = {"attention that goes elsewhere": moved, "cosine of the encoder's outputs": likeness}
    show_figure(
        token_bars(trace.source_tokens, series, "share, cosine", dark=dark),
        name="regard-positions-changes",
        key="changes",
        alt=f"For each source token: {moved.mean():.2f} of its attention goes elsewhere on average, and the cosine of "
        f"the encoder's outputs before and after is {fixed(float(likeness.mean()))} on average.",
        csv=lambda: pd.DataFrame({"token": [t.text for t in trace.source_tokens], **series}).to_csv(index=False),
    )
