"""All changes of the positions in one table, computed when it is asked for."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from model_core.experiments.positions import PositionChange, PositionOutcome, cosines, moved_attention
from model_core.trace import TranslationTrace
from model_core.translator import Translator
from viz.link import ALL_CHANGES
from viz.linked import toggle
from viz.panels.positions.outcome import find_outcome, told


def changes_like(change: PositionChange) -> list[PositionChange]:
    """No change, and each kind of it with the shift, the seed and the decoder of `change`, or else with shift 10 and
    seed 1."""
    shift, seed = change.shift or 10, 1 if change.shuffle is None else change.shuffle
    return [
        PositionChange(),
        PositionChange("off", decoder=change.decoder),
        PositionChange(shuffle=seed),
        PositionChange("shifted", shift, decoder=change.decoder),
        PositionChange("off", shuffle=seed, decoder=change.decoder),
    ]


def change_row(trace: TranslationTrace, change: PositionChange, found: PositionOutcome) -> dict[str, str | float]:
    """One row of the table; attention is averaged over all layers, heads and rows."""
    moved = moved_attention(trace.encoder_self.weights, found.attention_put_back())
    likeness = cosines(trace.encoder_states[-1], found.states_put_back()[-1])
    return {
        "change": told(change) or "As it is",
        "what is read": found.source_text,
        "translation": found.text,
        "log P of the original": round(float(found.original.sum()), 3),
        "attention elsewhere": round(float(moved.mean()), 3),
        "cosine": round(float(likeness.mean()), 3),
    }


def show_all_changes(translator: Translator, trace: TranslationTrace, change: PositionChange) -> None:
    """A toggle, and behind it the table of every kind of change."""
    if not toggle("All changes in one table", ALL_CHANGES):
        return
    changes = changes_like(change)
    rows = [change_row(trace, each, find_outcome(translator, trace, each)) for each in changes]
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    st.caption(
        "log P: natural logarithm of the original translation's probability. Attention that goes elsewhere is averaged "
        "over all rows of all encoder self-attention maps, the cosine with what it was over all tokens of the "
        "encoder's output."
    )
