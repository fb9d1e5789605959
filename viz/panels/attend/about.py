"""The text of "About this picture" on the Attend page."""

from __future__ import annotations

import streamlit as st

from model_core.trace import TranslationTrace
from viz.frame import about
from viz.wording import counted


def about_attention(trace: TranslationTrace) -> None:
    """The formula, the shapes of this sentence, and where it comes from."""
    source, target = len(trace.source_tokens), len(trace.decoder_input_tokens)
    encoder, cross = trace.encoder_self, trace.cross
    with about():
        st.latex(r"A = \operatorname{softmax}\left(\frac{Q K^{\top}}{\sqrt{d_k}} + M\right)")
        st.markdown(
            "Every map is one $A$: a row is a query, a column a key, a number how much of that key's value goes into "
            "the query's result. $M$ is 0 where a query may attend and −∞ where it is masked: in the decoder's "
            "self-attention on everything later (and on padding, of which a single sentence has none). So a row sums "
            "to 1, and a masked cell has no weight at all.\n\n"
            f"This sentence has {counted(source, 'source token')} and {counted(target, 'decoder row')}. Encoder "
            f"self-attention is {counted(encoder.layers, 'layer')} × {counted(encoder.heads, 'head')} of "
            f"{source} × {source}; decoder self-attention {cross.layers} × {cross.heads} of "
            f"{target} × {target}; cross-attention {cross.layers} × {cross.heads} of {target} × {source}. "
            "Decoder row $t$ is fed piece $t$ and predicts the next one.\n\n"
            "“Mean over heads” averages the maps of a layer's heads; the model itself never does. A large weight says "
            "where information may flow from, not that the prediction depended on it.\n\n"
            "Vaswani et al. 2017, “Attention Is All You Need”, sections 3.2.1 (scaled dot-product attention) and 3.2.3 "
            "(the three sites); the head view follows Vig 2019, “A Multiscale Visualization of Attention in the "
            "Transformer Model”; heads that look at one position only: Voita et al. 2019, “Analyzing Multi-Head "
            "Self-Attention”."
        )
