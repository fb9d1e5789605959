"""Decode: a translation step by step, as the model writes it, as it might have, and as a person would write it."""

from __future__ import annotations

import streamlit as st

from model_core.trace import TranslationTrace
from model_core.translator import Translator
from viz.frame import about, ask_sentence, open_page
from viz.link import WRITER
from viz.linked import choice
from viz.panels.decode.found import found_view
from viz.panels.decode.typed import typed_view
from viz.wording import counted

LEAD = "At every step the model holds some pieces likelier than others, takes one, and reads it back: step through it."

DISTRIBUTION = (
    r"P(y \mid x) = \prod_{t=1}^{T} P(y_t \mid y_{<t}, x), \quad "
    r"P(\cdot \mid y_{<t}, x) = \mathrm{softmax}(W h_t + b)"
)
SEARCHES = """
**Greedy** search takes the most probable piece. **Beam** search carries the best few beginnings on and compares
finished ones by the score below (Wu et al. 2016, *Google's Neural Machine Translation System*, section 7).
**Sampling** draws a piece after dividing log-probabilities by the temperature and leaving out the unlikely: all but the
k likeliest (Fan et al. 2018), or all but the fewest that hold the share p (Holtzman et al. 2020).
"""
FORCING = """
**Forcing** a piece puts it, and those before it, in front of the search, which goes on from there: the model reads it
as if it had written it. Writing the whole translation yourself is *teacher forcing*: one pass gives every step's
distribution.

**Cross-attention** of step t is the row of the piece that is *read* then (\\<s> at first), and serves to predict the
piece that is written (Vaswani et al. 2017, section 3.2.3).
"""


def page() -> None:
    translator = open_page("decode", "Decode", LEAD)
    if translator is None:
        return
    text = ask_sentence(translator)
    writer = choice("Who writes the translation?", WRITER, hide_label=True)
    view = typed_view if writer == "you write" else found_view
    trace = view(translator, text)
    if trace is not None:
        explain(translator, trace)


def explain(translator: Translator, trace: TranslationTrace) -> None:
    """The formulas, with the shapes of this sentence."""
    config = translator.config
    source, steps = len(trace.source_tokens), len(trace.predicted_tokens)
    with about():
        st.latex(DISTRIBUTION)
        st.markdown(
            f"Here the source has {counted(source, 'token')} and the translation {counted(steps, 'piece')}. $h_t$ is "
            f"the decoder's last state at step t, {config.d_model} numbers; W makes {config.target_vocabulary:,} of "
            "it, one a piece. Probabilities are the model's own, whatever the search; padding, \\<s> and \\<unk> have "
            "some too, but are never written."
        )
        st.markdown(SEARCHES)
        st.latex(r"\mathrm{score}(y) = \frac{\log P(y \mid x)}{\left((5 + |y|) / 6\right)^{\alpha}}")
        st.markdown(FORCING)
        st.markdown(
            f"**The key/value cache** keeps what self-attention has already projected: in each of {config.layers} "
            f"layers keys and values of shape [{config.heads} heads, t positions, {config.d_head}], so that a step "
            f"computes one new row instead of t. Cross-attention's are [{config.heads}, {source}, {config.d_head}] and "
            "never change. The numbers shown are for one hypothesis in float32; a beam keeps the self-attention part "
            "once for each."
        )


page()
