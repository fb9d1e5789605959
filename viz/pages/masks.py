"""Masks: who may look at whom, what that does to a head's scores, and what happens under another mask."""

from __future__ import annotations

import streamlit as st

from model_core.config import PAD_ID
from model_core.experiments.masks import MaskSetting, Padded
from model_core.trace import TranslationTrace
from model_core.translator import Translator
from viz.choose import choose_map
from viz.frame import about, ask_sentence, find, open_page, show_notes
from viz.languages import COPY, by_direction
from viz.link import ROW, SECOND, SECOND_LETTERS, Row
from viz.linked import choice, text_box
from viz.panels.masks.effect import effect, reset
from viz.panels.masks.panel import show_head, three_masks, told_cells
from viz.panels.masks.runs import run_pass
from viz.panels.masks.state import Subject, show_turned_cell
from viz.wording import counted

SECOND_EXAMPLES = {"en-fr": "No.", "copy": "c a"}  # by `viz.languages.direction`
THE_SECOND = "The second sentence"


def ask_second(translator: Translator) -> str:
    """The other sentence of the batch."""
    itself = translator.checkpoint.about
    key = SECOND_LETTERS if itself.task == COPY else SECOND
    example = by_direction(SECOND_EXAMPLES, itself, "")
    asks = "Type another sentence, to see padding"
    return text_box("Second sentence of the batch", key, default=example, placeholder=asks)


def subjects(translator: Translator, traces: list[TranslationTrace]) -> list[Subject]:
    """The batch: each sentence padded to the length of the longest."""
    length = max(len(trace.source_tokens) for trace in traces)
    made = []
    for trace in traces:
        ids = tuple(token.id for token in trace.source_tokens)
        padding = translator.tokenizer.tokens([PAD_ID] * (length - len(ids)))
        made.append(Subject(trace, Padded(ids, length), (*trace.source_tokens, *padding), translator.config))
    return made


@st.fragment
def panel(translator: Translator, traces: list[TranslationTrace]) -> None:
    """All pictures; a control reruns nothing else."""
    show_turned_cell()
    batch = subjects(translator, traces)
    row = choice("Sentence looked at", ROW) if len(batch) > 1 else ROW.default
    subject = batch[ROW.options.index(row)]
    setting = three_masks(subject, [each.keys for each in batch])
    st.subheader("In one head: scores, mask, softmax", anchor=False, divider="gray")
    selection = choose_map(subject.trace, mean=False, first="decoder_self")
    passes = tuple(
        run_pass(translator, subject, each, selection.site, selection.layer) for each in (MaskSetting(), setting)
    )
    show_head(subject, setting, selection, passes[1])
    lines = told_cells(subject, setting)
    if lines:
        with st.expander(counted(len(lines), "turned cell"), expanded=len(lines) < 5):
            st.text("\n".join(lines))
            st.button("Reset all masks", on_click=reset)
    padded: Row | None = next(
        (option for option, each in zip(ROW.options, batch, strict=False) if each.source.padding), None
    )
    effect(translator, subject, setting, selection, (passes[0], passes[1]), padded)
    explain(translator, subject)


def explain(translator: Translator, subject: Subject) -> None:
    """The formula, with this sentence's shapes."""
    queries, keys = len(subject.target), subject.source.length
    heads, d_head = translator.config.heads, translator.config.d_head
    with about():
        st.latex(
            r"\mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}} + M\right)V,\qquad "
            r"M_{qk} = \begin{cases} 0 & q \text{ may look at } k \\ -\infty & \text{otherwise}\end{cases}"
        )
        st.markdown(
            f"The softmax of $-\\infty$ is exactly 0, and the rest of the row still sums to 1. In this sentence, with "
            f"$d_k = {d_head}$, each of the {heads} heads has scores of {keys} x {keys} in the encoder, "
            f"{queries} x {queries} in the decoder and {queries} x {keys} in cross-attention. The causal mask lets row "
            "$q$ look at $k \\le q$ only; the padding mask takes out the columns of `<pad>`. A row with no column left "
            "has no softmax (0/0), so such a mask is refused.\n\n"
            "A cell that is turned acts before the softmax, at its own row: in a search that is step $q$, in every "
            "hypothesis of the beam. The decoder's input of a batch is padded as well, on the right: for a causal row "
            "that is its future, so nothing more need be masked.\n\n"
            "Vaswani et al. 2017, *Attention Is All You Need*, section 3.2.1 (scaled dot-product attention) and 3.2.3 "
            "(masking in the decoder)."
        )


def page() -> None:
    """The whole page."""
    translator = open_page(
        "masks",
        "Masks",
        "A mask says who may look at whom: here are all three masks, what they do to one head's scores, and what "
        "happens when you change them.",
    )
    if translator is None:
        return
    text = ask_sentence(translator)
    second = ask_second(translator)
    found = find(translator, text)
    if found is None:
        return
    show_notes(found)
    other = find(translator, second, name=THE_SECOND) if second.strip() else None
    if other is not None:
        show_notes(other, THE_SECOND)
    panel(translator, [found.trace] if other is None else [found.trace, other.trace])


page()
