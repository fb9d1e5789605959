"""Positions: the encoding, what it adds to a sentence, and what happens without it."""

from __future__ import annotations

import streamlit as st

from model_core.trace import TranslationTrace
from model_core.translator import Translator
from viz.frame import about, ask_sentence, find, open_page, show_notes
from viz.link import (
    ALL_CHANGES,
    BACK,
    BOTH,
    CHANGE,
    ORDER_SEED,
    POSITIONS_VIEW,
    SHIFT,
    SHUFFLE_SEED,
    PositionsView,
)
from viz.linked import is_given, read, write
from viz.panels.positions.encoding import EncodingSize, encoding_panel, follow_checkpoint, own_settings
from viz.panels.positions.facts import equivariance_panel, norms_panel
from viz.panels.positions.sentence import experiment_panel

VIEWS: dict[PositionsView, str] = {
    "encoding": "Encoding",
    "sentence": "Lengths",
    "experiment": "Experiment",
    "order": "Word order",
}
_OF_THE_EXPERIMENT = (CHANGE, SHIFT, SHUFFLE_SEED, BOTH, BACK, ALL_CHANGES)
EXAMPLES = {  # by `viz.languages.direction`
    "en-fr": (
        "The woman loves the man.",
        "The dog saw the cat.",
        "My brother gave his sister a book.",
        "The cat is on the table and the dog is under the chair.",
    ),
    "copy": ("a b c d e f g", "d c b a", "a b a b a b"),
}


def about_positions(translator: Translator, trace: TranslationTrace | None) -> None:
    """The formula, this sentence's shapes, and where both come from."""
    d_model = translator.config.d_model
    with about():
        st.latex(
            r"PE_{(pos,\,2i)} = \sin\!\left(pos\,/\,n^{2i/d_\text{model}}\right)\qquad "
            r"PE_{(pos,\,2i+1)} = \cos\!\left(pos\,/\,n^{2i/d_\text{model}}\right)"
        )
        shapes = ""
        if trace is not None:
            tokens = len(trace.source_tokens)
            shapes = (
                f" Here the embeddings and the encoding are {tokens} × {d_model} each, and so is their sum, the "
                f"encoder's input; a map of its attention is {tokens} × {tokens}."
            )
        st.markdown(
            "*pos* is the position, from 0 at `<s>`; *i* counts the pairs of dimensions, from 0; *n* is the base, "
            f"10,000 in the paper and {translator.config.position_base:,.0f} in this model.{shapes}\n\n"
            "One pair is a hand that turns by the same angle at each position, so the encoding of *pos + k* is a "
            "rotation of that of *pos*, the same for all *pos*. The dot product of two encodings is the sum of the "
            "cosines of those angles, Σᵢ cos(k / n^(2i/d_model)): it depends on the distance *k* only.\n\n"
            "Self-attention without positions is *permutation-equivariant*: every output is a weighted sum over a "
            "*set* of keys and values, so reordering the input reorders the output and changes nothing else.\n\n"
            "“Goes elsewhere” is the total variation distance of two rows of attention, ½ Σ |a − b|. All changes are "
            "made to a model that was trained with positions as they are.\n\n"
            "Source: Vaswani et al. 2017, *Attention Is All You Need*, section 3.5 (the encoding) and 3.4 (the factor "
            "√d_model)."
        )


def linked_view() -> PositionsView:
    """The view that the link names, or the one that its settings belong to."""
    named = read(POSITIONS_VIEW)
    if named is not None:
        return named
    if any(map(is_given, _OF_THE_EXPERIMENT)):
        return "experiment"
    return "order" if is_given(ORDER_SEED) else "encoding"


def views(translator: Translator, trace: TranslationTrace, own: EncodingSize) -> None:
    """Four views, of which only the open one is computed."""
    st.session_state[POSITIONS_VIEW.name] = VIEWS[linked_view()]
    names: dict[str, PositionsView] = {title: name for name, title in VIEWS.items()}

    def chosen() -> None:
        write(POSITIONS_VIEW.change(names[st.session_state[POSITIONS_VIEW.name]]))

    encoding, sentence, experiment, order = st.tabs(list(names), key=POSITIONS_VIEW.name, on_change=chosen)
    if encoding.open:
        with encoding:
            encoding_panel(own, len(trace.source_tokens))
    if sentence.open:
        with sentence:
            norms_panel(translator, trace)
    if experiment.open:
        with experiment:
            experiment_panel(translator, trace)
    if order.open:
        with order:
            equivariance_panel(translator, trace)


def page() -> None:
    """The whole page."""
    translator = open_page(
        "positions",
        "Positions",
        "See how each token is told where it stands, and what the model does when it is not.",
    )
    if translator is None:
        return
    found = find(translator, ask_sentence(translator, EXAMPLES))
    if found is not None:
        show_notes(found)
    trace = None if found is None else found.trace
    own = own_settings(translator)
    follow_checkpoint(translator.checkpoint.id)
    if trace is None:
        encoding_panel(own, None)
    else:
        views(translator, trace, own)
    about_positions(translator, trace)


page()
