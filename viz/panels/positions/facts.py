"""Two facts about positions, measured on the sentence: why embeddings are scaled, what is left without positions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from model_core.experiments.positions import Floats, PositionChange, input_norms, word_groups
from model_core.trace import TranslationTrace
from model_core.translator import Translator
from viz.appearance import is_dark
from viz.figures.position_bars import SMALLEST, token_bars
from viz.link import ORDER_SEED
from viz.linked import number
from viz.panels.positions.outcome import find_outcome
from viz.picture import show_figure
from viz.wording import significant


@st.cache_resource(max_entries=64, show_spinner=False)
def norms(checkpoint: str, text: str, _translator: Translator, _trace: TranslationTrace) -> tuple[Floats, ...]:
    """See `input_norms`; once for each checkpoint and text."""
    return input_norms(_translator.checkpoint, _trace.source_tokens)


def norms_panel(translator: Translator, trace: TranslationTrace) -> None:
    """How long the embeddings of this sentence are beside the encoding that is added to them."""
    table, scaled, encoding = norms(translator.checkpoint.id, trace.source_text, translator, trace)
    d_model = translator.config.d_model
    st.markdown(
        f"A row of the embedding table is **{table.mean():.2f}** long on average, the encoding "
        f"**{encoding.mean():.2f}** (always √(d_model / 2)). Times √d_model = {np.sqrt(d_model):.4g} the embedding is "
        f"**{scaled.mean():.2f}** long: without that factor the sum would say where a token stands, and hardly which "
        "it is."
    )
    series = {"embedding, as stored": table, "embedding × √d_model": scaled, "positional encoding": encoding}
    show_figure(
        token_bars(trace.source_tokens, series, "length (norm)", dark=is_dark()),
        name="regard-positions-norms",
        key="norms",
        alt=f"For each source token the length of its stored embedding ({table.mean():.2f} on average), of the scaled "
        f"one ({scaled.mean():.2f}), and of the positional encoding ({encoding.mean():.2f}).",
        csv=lambda: pd.DataFrame({"token": [t.text for t in trace.source_tokens], **series}).to_csv(index=False),
    )
    if not translator.config.positions:
        st.caption(
            "This checkpoint was trained without positions: it adds no encoding; the bars show what it would be."
        )


@st.fragment
def equivariance_panel(translator: Translator, trace: TranslationTrace) -> None:
    """Shuffled words with and without positions: without, the same vectors come out in another order."""
    st.markdown("**Without positions, order is nothing**")
    if len(word_groups(trace.source_tokens)) < 2:
        st.info("This needs a sentence of two words or more, so that there is something to shuffle.")
        return
    seed = number("Seed of the order", ORDER_SEED, width=170)
    off, off_shuffled, shuffled = (
        find_outcome(translator, trace, change)
        for change in (
            PositionChange("off"),
            PositionChange("off", shuffle=seed),
            PositionChange(shuffle=seed),
        )
    )
    with_positions = np.abs(trace.encoder_states[-1] - shuffled.states_put_back()[-1]).max(axis=-1)
    without = np.abs(off.states[-1] - off_shuffled.states_put_back()[-1]).max(axis=-1)
    st.text(f"{trace.source_text}  ⇄  {off_shuffled.source_text}")
    st.markdown(
        f"Without positions the encoder turns both into **the same vectors in another order**: no number of its "
        f"{without.size} output vectors differs by more than **{significant(float(without.max()), 2)}**, float32's "
        f"rounding. With positions they differ by up to **{with_positions.max():.2g}**. "
        + ("The translations without positions are the same, too." if off.text == off_shuffled.text else "")
    )
    series = {"with positions": with_positions, "without positions": without}
    show_figure(
        token_bars(trace.source_tokens, series, "largest difference", log=True, dark=is_dark()),
        name="regard-positions-equivariance",
        key="equivariance",
        alt=f"Largest difference between each token's encoder output before and after shuffling: at most "
        f"{significant(float(without.max()), 2)} without positions, up to {with_positions.max():.2g} with them.",
        csv=lambda: pd.DataFrame({"token": [t.text for t in trace.source_tokens], **series}).to_csv(index=False),
    )
    if not without.all():
        st.caption(f"A difference of exactly 0 is drawn at {SMALLEST:.0e}, since the axis is logarithmic.")
