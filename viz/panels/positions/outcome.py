"""Outcomes of changed positions: computed once, kept within bounds, and named."""

from __future__ import annotations

import streamlit as st

from model_core.experiments.positions import PositionChange, PositionOutcome, run_experiment
from model_core.trace import TranslationTrace
from model_core.translator import Translator
from viz.frame import SEARCH


@st.cache_resource(max_entries=32, show_spinner=False)
def outcome(
    checkpoint: str, text: str, change: PositionChange, _translator: Translator, _trace: TranslationTrace
) -> PositionOutcome:
    """The outcome of a change, computed once for each checkpoint, text and change."""
    return run_experiment(_translator.checkpoint, _trace, change, SEARCH)


def find_outcome(translator: Translator, trace: TranslationTrace, change: PositionChange) -> PositionOutcome:
    """As `outcome`, with a sign of life while it is computed."""
    with st.spinner("Translating the changed sentence …"):
        return outcome(translator.checkpoint.id, trace.source_text, change, translator, trace)


def told(change: PositionChange) -> str:
    """The change as a heading."""
    parts = {"kept": "", "off": "Positions off", "shifted": f"Positions shifted by {change.shift}"}[change.placing]
    shuffled = "" if change.shuffle is None else "words shuffled" if parts else "Words shuffled"
    where = "in encoder and decoder" if change.decoder else "" if change.placing == "kept" else "in the encoder"
    return ", ".join(part for part in (parts, where, shuffled) if part)
