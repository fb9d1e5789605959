"""Inside a head: one attention head of one sentence with all its numbers, and its place in the model."""

from __future__ import annotations

import streamlit as st

from model_core.trace import TranslationTrace
from model_core.translator import Translator
from viz.choose import choose_map
from viz.frame import about, ask_sentence, find, open_page, show_notes
from viz.panels.inside.builder import builder_panel
from viz.panels.inside.labels import labels_of, shape_sentence
from viz.panels.inside.model import model_panel
from viz.panels.inside.panel import head_anatomy, stage_panel
from viz.selection import Selection

EXAMPLES = {  # by `viz.languages.direction`
    "en-fr": ("How are you?", "I don't speak French.", "He sat on the bank of the river."),
    "copy": ("a b c d", "d c b a", "a b a b a b"),
}


@st.fragment
def inside_panel(translator: Translator, trace: TranslationTrace, text: str) -> None:
    """All that depends on the chosen head: its stages, and where it sits."""
    selection = choose_map(trace, mean=False)
    config = translator.config
    st.text(shape_sentence(trace, selection.site, config.d_model, config.heads))
    anatomy = head_anatomy(translator.checkpoint.id, text, selection, translator, trace)
    stage_panel(anatomy, labels_of(trace, selection.site, config.d_model, config.d_head))
    model_panel(translator, trace, selection)
    about_inside(translator, trace, selection)


def about_inside(translator: Translator, trace: TranslationTrace, selection: Selection) -> None:
    """The formula, with this sentence's shapes, and its source."""
    config, maps = translator.config, trace.maps(selection.site)
    queries, keys = len(maps.query_tokens), len(maps.key_tokens)
    with about():
        st.latex(
            r"\text{head}_i = \text{softmax}\!\left(\frac{(X W^Q_i + b^Q_i)(Y W^K_i + b^K_i)^\top}{\sqrt{d_k}} + M"
            r"\right)(Y W^V_i + b^V_i)"
        )
        st.latex(r"\text{output} = \text{concat}(\text{head}_1, \dots, \text{head}_h)\, W^O + b^O")
        st.markdown(
            f"Here $X$ is {queries} × {config.d_model}, $Y$ is {keys} × {config.d_model}, each head's $W^Q_i$, $W^K_i$ "
            f"and $W^V_i$ are {config.d_model} × {config.d_head}, the weights are {queries} × {keys}, one head's "
            f"output is {queries} × {config.d_head}, and $W^O$ is {config.d_model} × {config.d_model}. In "
            "self-attention $Y = X$; in cross-attention $Y$ is the encoder's output. $M$ is 0 where a query "
            "may look and −∞ where it may not.\n\n"
            f"This model has its LayerNorm {'before' if config.norm == 'pre' else 'after'} each sublayer "
            f"({config.norm}-norm). Formulas: Vaswani et al. 2017, *Attention Is All You Need*, sections 3.2.1 and "
            "3.2.2 (which leave out the biases); residual and norm: section 3.1; LayerNorm: Ba, Kiros and Hinton 2016. "
            "All numbers are float32, computed from the states that the recorded pass left behind, with the layer's "
            "own modules; sums under “How this cell came about” are made in float64, so their last digits may differ."
        )


translator = open_page(
    "inside", "Inside a head", "Every number of one attention head, from its input to what it adds to each token."
)
if translator is not None:
    text = ask_sentence(translator, EXAMPLES)
    found = find(translator, text)
    if found is not None:
        show_notes(found)
        inside_panel(translator, found.trace, text)
    builder_panel()
