"""Meaning: one word in several sentences, and how the words around it change its vector and its translation."""

from __future__ import annotations

import streamlit as st

from model_core.translator import Translator
from viz.checkpoints import first_checkpoint
from viz.frame import about, open_page
from viz.languages import COPY, language_pair, reads_english
from viz.link import CHECKPOINT
from viz.linked import write
from viz.messages import tell
from viz.panels.meaning.layers import layers_panel
from viz.panels.meaning.panels import attention_of_word, find_traces, translations, whole_sentences
from viz.panels.meaning.sentences import Sentence, SharedWord, ask_sentences, choose_word
from viz.translators import checkpoint_names

NOTES = """
- **Grey line**: cosines of the ambiguous words of one held-out sentence a sense, pairs of different words only. That
  contextual vectors fill a narrow cone, and have to be read against such a line, is from Ethayarajh (2019), *How
  Contextual are Contextualized Word Representations?*
- **The word that comes out**: the words whose pieces are predicted while cross-attention, averaged over the heads of
  the layer that aligns best, gives the word more than any other source word; the probability is the product of their
  pieces' probabilities. Attention is a good hint at what was translated into what, and no proof.
- **Map between the senses**: a linear probe (Alain & Bengio 2016), ridge regression with λ = 0.1 from the word's vector
  to +1 for its sense and −1 for the others. Every point is placed by a probe that was fitted without it, yours by the
  probe of all; held-out sentences, which the model never saw, are told by a probe of the training sentences.
- **Widest map (PCA)**: at each layer the first two principal components of the homograph set's vectors (Pearson 1901),
  fitted without your sentences, then turned to lie as near as possible to the layer before (orthogonal Procrustes,
  Schönemann 1966): points drift instead of jumping, and no distance changes.
- **Nearest centroid**: the sense whose mean vector is nearest (Euclidean, all dimensions; a sentence does not count
  towards its own centroid). It asks for more than a probe: that the sense is what differs most.
- **Whole sentences**: the mean of the encoder's outputs over all tokens.
"""


def offer_switch(translator: Translator) -> None:
    """Why this page has nothing to show of the model, and the way to one of which it has."""
    if translator.checkpoint.about.task == COPY:
        reason = (
            "This model copies letters, and letters have no senses. The model that translates has words to compare."
        )
    else:
        reason = "This model does not read English, and the ambiguous words of this page are English."
    tell(reason)
    other = first_checkpoint(reads_english)
    if other is not None:
        name, itself = other
        change = CHECKPOINT.change(name, default=checkpoint_names()[0])
        st.button(f"Switch to {language_pair(itself)}", on_click=write, args=(change,))


def explain(sentences: list[Sentence], shared: SharedWord | None) -> None:
    """Formulas, the shapes of these sentences, and where all of it comes from."""
    states = sentences[0].encoded.states
    with about():
        st.latex(r"v_\ell = \frac{1}{|P|}\sum_{i \in P} h_{\ell,i} \qquad \cos(u, v) = \frac{u \cdot v}{\|u\|\,\|v\|}")
        st.markdown(
            "A word is its pieces $P$; its vector at layer $\\ell$ is the mean of theirs. If a sentence has the word "
            "twice, the first counts. Layer 0 is the embedding times $\\sqrt{d_{model}}$ plus the positional encoding "
            "(Vaswani et al. 2017, sections 3.4 and 3.5), so that one word at two places differs even there; *its own "
            "embedding* is without position. The last layer is the encoder's output, after the final norm."
        )
        shapes = ", ".join(f"{one.number}: [{', '.join(map(str, one.encoded.states.shape))}]" for one in sentences)
        st.text(
            f"Encoder states [layers + 1, tokens, d_model] of these sentences: {shapes}."
            + (f" The word's vectors: [{len(states)}, {len(shared.spans)}, {states.shape[2]}]." if shared else "")
        )
        st.markdown(NOTES)


def compare(translator: Translator) -> None:
    """The page for a model that translates."""
    sentences = ask_sentences(translator)
    if len(sentences) < 2:
        tell("Type two sentences that share a word, each on a line of its own, or take one of the examples.")
        return
    shared = choose_word(sentences)
    traces = find_traces(translator, sentences)
    translations(translator.checkpoint.about, traces, shared)
    if shared is not None:
        layers_panel(translator, shared)
        attention_of_word(traces, shared)
    whole_sentences(translator, sentences, traces)
    explain(sentences, shared)


def page() -> None:
    """The whole page."""
    translator = open_page(
        "meaning",
        "Meaning",
        "One word in several sentences: layer by layer, the words around it change its vector, and with it what it "
        "is translated into.",
    )
    if translator is None:
        return
    if reads_english(translator.checkpoint.about):
        compare(translator)
    else:
        offer_switch(translator)


page()
