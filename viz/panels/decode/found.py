"""The Decode page where the model writes: the search, what was forced on it, its steps, its beam."""

from __future__ import annotations

import streamlit as st

from model_core.config import EOS_ID, DecodingConfig
from model_core.trace import TranslationTrace
from model_core.translator import EmptyInput, InputError, Translator
from viz.components.stepper import Draw
from viz.link import FORCE, HYPOTHESIS
from viz.link_values import ForcedStart
from viz.linked import clear, is_unreadable, read, write
from viz.messages import tell, tell_bytes, tell_cut_off, tell_removed
from viz.panels.decode.beam import n_best_panel, tree_panel
from viz.panels.decode.search import Decoding, Ids, draws_of, search_and_trace
from viz.panels.decode.settings import choose_decoding
from viz.panels.decode.steps import decode_file_name, step_panel, total_in_words
from viz.theme import visible
from viz.wording import fixed

ABOUT = "decode-about"  # what the forced pieces and the hypothesis in the link are about


def found_view(translator: Translator, text: str) -> TranslationTrace | None:
    """Everything about the model's translation; None where there is none, and the page says why."""
    decoding = choose_decoding()
    _forget_the_old(translator, text, decoding)
    forced, hypothesis = _forced(), _hypothesis()
    found = _decode(translator, text, decoding, forced, hypothesis)
    if found is None:
        return None
    if not found.picked:  # the best translation by its ids, or a hypothesis where there was nothing to search for
        _drop_hypothesis()
    _show_forced(translator, forced)
    _show_translation(found)
    begins = tuple(token.id for token in found.trace.predicted_tokens[: len(forced.ids)]) == forced.ids
    ids = tuple(token.id for token in found.trace.predicted_tokens)
    draws = _draws(translator, text, decoding, found.trace, ids)
    step_panel(translator, found.trace, forced.marks if begins else (), may_force=True, draws=draws)
    if found.translation and found.beam:
        tree_panel(translator, found.translation, found.trace.predicted_tokens, decode_file_name(found.trace))
        n_best_panel(translator, found.translation)
    return found.trace


def _draws(
    translator: Translator, text: str, decoding: DecodingConfig, trace: TranslationTrace, ids: Ids
) -> tuple[Draw, ...]:
    """The distributions that sampling draws from; none for other searches, nor where the page says why not."""
    if decoding.strategy != "sample":
        return ()
    try:
        return draws_of(translator.checkpoint.id, text, decoding, trace, ids, translator)
    except InputError as error:
        tell(f"What sampling draws from can't be shown. {error}", "warning")
        return ()


def _forget_the_old(translator: Translator, text: str, decoding: DecodingConfig) -> None:
    """Pieces in the link belong to a sentence, a hypothesis to a search as well: with another one they go."""
    now = (translator.checkpoint.id, text), decoding
    before = st.session_state.get(ABOUT, now)
    st.session_state[ABOUT] = now
    if now[0] != before[0]:
        clear(FORCE, HYPOTHESIS)
    elif now != before:
        clear(HYPOTHESIS)


def _forced() -> ForcedStart:
    if is_unreadable(FORCE):
        tell(
            "The forced pieces in this link can't be read (they look like 12-55f-7-91f): nothing is forced.", "warning"
        )
        clear(FORCE)
    return read(FORCE)


def _hypothesis() -> tuple[int, ...] | None:
    if is_unreadable(HYPOTHESIS):
        tell("The hypothesis in this link can't be read (it looks like 12-55-7): this is the best one.", "warning")
        clear(HYPOTHESIS)
    return read(HYPOTHESIS) or None


def _decode(
    translator: Translator, text: str, decoding: DecodingConfig, forced: ForcedStart, hypothesis: tuple[int, ...] | None
) -> Decoding | None:
    try:
        with st.spinner("Searching …"):
            return search_and_trace(translator, text, decoding, forced.ids, hypothesis)
    except EmptyInput:
        tell("Type a sentence, or take one of the examples.")
    except InputError as error:
        tell(str(error), "warning")
        if forced or hypothesis is not None:
            st.button("Let the model choose again", on_click=_drop_all, icon=":material/undo:")
    return None


def _drop_all() -> None:
    clear(FORCE, HYPOTHESIS)


def _drop_hypothesis() -> None:
    clear(HYPOTHESIS)


def _undo(forced: ForcedStart) -> None:
    write(FORCE.change(forced.undone()), HYPOTHESIS.change(()))


def _show_forced(translator: Translator, forced: ForcedStart) -> None:
    """A line for each forced piece, and the way back."""
    if not forced:
        return
    with st.container(horizontal=True, vertical_alignment="center", border=True, key="forced"):
        told = [
            f"“{visible(translator.target_tokenizer.piece(forced.ids[mark]))}” at step {mark + 1}"
            for mark in forced.marks
        ]
        st.text(f"⚑ Forced by you: {', '.join(told)}")
        st.button("Undo the last", on_click=_undo, args=(forced,), icon=":material/undo:", key="undo")
        if len(forced.marks) > 1:
            st.button("Undo all", on_click=_drop_all, key="undo-all")


def _show_translation(found: Decoding) -> None:
    trace = found.trace
    with st.container(key="translation"):
        st.text(trace.target_text or "(an empty translation)")
    score = f"; score with the length penalty {fixed(trace.score, 3)}" if trace.strategy == "beam" else ""
    st.caption(f"{total_in_words(trace)}{score}.")
    tell_removed(found.removed)
    tell_bytes(trace.source_tokens)
    if found.picked:
        _show_that_it_is_a_hypothesis(found)
    elif not found.finished:
        tell_cut_off()
    if found.translation is None and trace.predicted_tokens[-1].id == EOS_ID:
        st.caption("You ended the translation yourself, so there was nothing left to search for.")


def _show_that_it_is_a_hypothesis(found: Decoding) -> None:
    ended = "" if found.finished else " It had not ended; </s> was added as its last step."
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.text(f"This is a hypothesis that you picked, not the best translation.{ended}")
        st.button("Back to the best", on_click=_drop_hypothesis, key="back-to-best")
