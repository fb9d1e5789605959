"""Attend: a sentence in, its translation and every attention map behind it out."""

from __future__ import annotations

import math

import streamlit as st

from model_core.trace import TraceError, TranslationTrace
from viz.components.chips import chips
from viz.frame import ask_sentence, find, open_page, show_notes
from viz.languages import reads_english
from viz.messages import tell
from viz.panels.attend.panel import attention_panel
from viz.wording import counted, fixed, percent

STORY = "viz/pages/meaning.py"


def uploaded_trace() -> TranslationTrace | None:
    """A trace file that somebody saved, in place of a new translation; each upload box serves until it is closed."""
    box = st.session_state.setdefault("upload-box", 0)
    with st.popover("Open a trace", icon=":material/folder_open:", type="tertiary"):
        file = st.file_uploader(
            "A trace (.safetensors), downloaded here or written by the command line", key=f"trace-file-{box}"
        )
    if file is None:
        return None
    try:
        return TranslationTrace.from_bytes(file.getvalue(), "The uploaded file")
    except TraceError as error:
        tell(str(error), "error")
        return None


def close_trace() -> None:
    """Lets the uploaded file go: a new upload box is empty."""
    st.session_state["upload-box"] += 1


def show_uploaded(trace: TranslationTrace) -> None:
    """An uploaded trace, and the way back."""
    with st.container(horizontal=True, vertical_alignment="center"):
        tell(f"This is a saved trace of {trace.checkpoint}: {trace.source_text}")
        st.button("Close this trace", icon=":material/close:", on_click=close_trace)
    show_translation(trace)
    attention_panel(trace, "file")


def show_translation(trace: TranslationTrace) -> None:
    """The translation, its score, and the pieces of both sentences."""
    with st.container(key="translation"):
        st.text(trace.target_text or "(an empty translation)")
    pieces = len(trace.predicted_tokens)
    total = min(trace.log_probability, 0.0)
    over = f"{counted(pieces, 'predicted token')}, the end among them" if pieces > 1 else "1 predicted token, the end"
    average = percent(math.exp(total / pieces))
    st.caption(f"Log-probability {fixed(total)} over {over}: {average} a token (geometric mean).")
    left, right = st.columns(2, gap="medium")
    with left:
        st.caption(f"Source: {counted(len(trace.source_tokens), 'token')}")
        chips("Source pieces", trace.source_tokens, key="source-chips")
    with right:
        st.caption(f"Prediction: {counted(pieces, 'token')}, and how probable the model found each")
        chips("Predicted pieces", trace.predicted_tokens, trace.decoding, key="target-chips")


def page() -> None:
    """The whole page."""
    translator = open_page(
        "attend",
        "Regard",
        "Watch a Transformer translate: type a sentence, then look at every attention map behind its translation.",
    )
    sentence_place, more = st.container(), st.container(horizontal=True, vertical_alignment="center", key="story")
    with more:
        if translator is not None and reads_english(translator.checkpoint.about):
            st.page_link(STORY, label="One word, two meanings: the story of “bank”", icon=":material/arrow_forward:")
        trace = uploaded_trace()
    if trace is not None:
        show_uploaded(trace)
    elif translator is not None:
        with sentence_place:
            text = ask_sentence(translator)
        found = find(translator, text)
        if found is not None:
            show_translation(found.trace)
            show_notes(found)
            attention_panel(found.trace, translator.checkpoint.name)


page()
