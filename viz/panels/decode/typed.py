"""The Decode page where a person writes the translation: how likely the model finds each piece (teacher forcing)."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from model_core.config import DecodingConfig
from model_core.trace import TranslationTrace
from model_core.translator import EmptyInput, InputError, Translator
from viz.appearance import is_dark
from viz.figures.piece_scores import piece_scores, piece_scores_alt
from viz.languages import own_target_label
from viz.link import TARGET
from viz.linked import text_box
from viz.messages import tell, tell_removed
from viz.panels.decode.search import ranks_of, search, trace_of
from viz.panels.decode.steps import decode_file_name, step_panel, total_in_words
from viz.picture import show_figure
from viz.theme import visible
from viz.wording import counted

SUGGESTED: dict[str, tuple[str, ...]] = {
    "How are you?": ("Comment vas-tu ?", "Ça va ?", "Où est la gare ?"),
    "I don't speak French.": ("Je parle français.", "Je ne parle pas le français."),
    "a b c d": ("a b c d", "a b d c"),
}


def ask_target(translator: Translator, text: str) -> str:
    """The person's own translation, and some that fill the box with one click."""
    label = own_target_label(translator.checkpoint.about)
    target = text_box(label, TARGET, placeholder="Type a translation and press Enter")

    def take(suggestion: str) -> None:
        st.session_state[TARGET.name] = suggestion

    def take_best() -> None:
        try:
            found = search(translator.checkpoint.id, text, DecodingConfig(), (), translator)
        except InputError:
            return  # the page says why
        take(found.text)

    with st.container(horizontal=True, gap="small", key="suggestions"):
        for number, suggestion in enumerate(SUGGESTED.get(text, ())):
            st.button(suggestion, key=f"suggestion-{number}", type="tertiary", on_click=take, args=(suggestion,))
        st.button("The model's own", key="suggestion-own", type="tertiary", on_click=take_best)
    return target


def scores_table(trace: TranslationTrace, ranks: tuple[int, ...]) -> pd.DataFrame:
    """One row a piece: how likely the model found it, its place among all, and what it would rather have written."""
    steps, first = trace.decoding, [step.alternatives[0] for step in trace.decoding]
    return pd.DataFrame(
        {
            "piece": [visible(token.piece) for token in trace.predicted_tokens],
            "probability": [math.exp(step.log_probability) for step in steps],
            "log P": [step.log_probability for step in steps],
            "rank": list(ranks),
            "the model preferred": [visible(trace.pieces[entry.id]) for entry in first],
            "with probability": [math.exp(entry.log_probability) for entry in first],
        },
        index=pd.RangeIndex(1, len(steps) + 1, name="step"),
    )


def typed_view(translator: Translator, text: str) -> TranslationTrace | None:
    """Everything about the typed translation; None where there is nothing to show, and the page says why."""
    target = ask_target(translator, text)
    checkpoint = translator.checkpoint.id
    try:
        translator.prepare(text)
    except EmptyInput:
        tell("Type a sentence, or take one of the examples.")
        return None
    except InputError as error:
        tell(str(error), "warning")
        return None
    try:
        trace = trace_of(checkpoint, text, target, translator)
        ranks = ranks_of(checkpoint, text, target, translator)
    except EmptyInput:
        tell("Type a translation, or take a suggestion: you will see how likely the model finds each piece of it.")
        return None
    except InputError as error:
        tell(str(error), "warning")
        return None
    _show_total(trace, ranks)
    tell_removed(translator.prepare(target, "The translation").removed)
    step_panel(translator, trace, may_force=False, tinted=True)
    _show_scores(trace, ranks)
    return trace


def _show_total(trace: TranslationTrace, ranks: tuple[int, ...]) -> None:
    count = len(trace.predicted_tokens)
    first = sum(rank == 1 for rank in ranks)
    with st.container(key="translation"):
        st.text(trace.target_text or "(nothing)")
    st.caption(f"{total_in_words(trace)}. The model's own first choice: {first} of {counted(count, 'piece')}.")


def _show_scores(trace: TranslationTrace, ranks: tuple[int, ...]) -> None:
    st.subheader("Piece by piece", anchor=False, divider="gray")
    table = scores_table(trace, ranks)
    show_figure(
        piece_scores(trace, dark=is_dark()),
        name=f"{decode_file_name(trace)}-typed",
        key="piece-scores",
        alt=piece_scores_alt(trace),
        csv=table.to_csv,
        title=f"{trace.source_text} → {trace.target_text}",
    )
    decimals = st.column_config.NumberColumn(format="%.4f")
    st.dataframe(
        table,
        column_config={"probability": decimals, "log P": decimals, "with probability": decimals},
        key="typed-scores",
    )
