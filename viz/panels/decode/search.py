"""Computations of the Decode page: searches, and traces of found, forced or typed targets. Kept within bounds."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from model_core.config import EOS_ID, DecodingConfig
from model_core.trace import Hypothesis, TranslationTrace
from model_core.translator import Translation, Translator
from viz.components.stepper import Draw, shown_pieces

ALTERNATIVES = 10
Ids = tuple[int, ...]


@dataclass(frozen=True)
class Decoding:
    """A search and the trace that the page shows of it: its best translation, or another hypothesis if `picked`."""

    translation: Translation | None
    trace: TranslationTrace
    finished: bool
    removed: int
    picked: bool = False

    @property
    def beam(self) -> tuple[tuple[Hypothesis, ...], ...]:
        """The hypotheses of a beam search, step by step; nothing for other searches."""
        return self.translation.best.beam if self.translation else ()


@st.cache_resource(max_entries=48, show_spinner=False)
def search(checkpoint: str, text: str, decoding: DecodingConfig, prefix: Ids, _translator: Translator) -> Translation:
    """A search that goes on from `prefix`. Raises InputError."""
    return _translator.translate(text, decoding, prefix=prefix)


@st.cache_resource(max_entries=48, show_spinner=False)
def replay(
    checkpoint: str, text: str, decoding: DecodingConfig, prefix: Ids, rank: int, _translator: Translator
) -> TranslationTrace:
    """The trace of the `rank`-th translation of a search."""
    return _translator.replay(search(checkpoint, text, decoding, prefix, _translator), rank)


@st.cache_resource(max_entries=48, show_spinner=False)
def trace_of(checkpoint: str, text: str, target: str | Ids, _translator: Translator) -> TranslationTrace:
    """The trace of a target that was typed, or given by its ids. Raises InputError."""
    return _translator.trace(text, target=target, decoding=DecodingConfig(alternatives=ALTERNATIVES))


@st.cache_resource(max_entries=48, show_spinner=False)
def ranks_of(checkpoint: str, text: str, target: str, _translator: Translator) -> tuple[int, ...]:
    """The place of each typed piece among all that the model might write there. Raises InputError."""
    return _translator.ranks(text, target)


@st.cache_resource(max_entries=48, show_spinner=False)
def draws_of(
    checkpoint: str, text: str, decoding: DecodingConfig, _trace: TranslationTrace, ids: Ids, _translator: Translator
) -> tuple[Draw, ...]:
    """The distribution that each step is drawn from, with the shares of the pieces shown there, in their order."""
    asked = [[id_ for id_, _ in shown_pieces(step)] for step in _trace.decoding]
    return _translator.drawn_from(text, ids, asked, decoding)


def search_and_trace(
    translator: Translator, text: str, decoding: DecodingConfig, prefix: Ids, hypothesis: Ids | None
) -> Decoding:
    """Searches from `prefix` on; the trace is of the best translation found, or of `hypothesis` if there is another.

    A prefix that a person ended with </s> leaves nothing to search for.

    Raises:
        InputError: the text, the prefix or the hypothesis can't be used.
    """
    checkpoint = translator.checkpoint.id
    if EOS_ID in prefix[-1:]:
        trace = trace_of(checkpoint, text, prefix, translator)
        return Decoding(None, trace, True, translator.prepare(text).removed)
    found = search(checkpoint, text, decoding, prefix, translator)
    rank = 0
    if hypothesis is not None and _ended(hypothesis) != _ended(found.best.ids):
        ranks = [index for index, one in enumerate(found.n_best) if one.ids == hypothesis]
        if not ranks:
            trace = trace_of(checkpoint, text, hypothesis, translator)
            return Decoding(found, trace, EOS_ID in hypothesis[-1:], found.source.removed, picked=True)
        rank = ranks[0]
    trace = replay(checkpoint, text, decoding, prefix, rank, translator)
    return Decoding(found, trace, found.n_best[rank].finished, found.source.removed, picked=rank > 0)


def _ended(ids: Ids) -> Ids:
    """With the </s> that a trace puts behind what had not ended."""
    return ids if EOS_ID in ids[-1:] else (*ids, EOS_ID)
