"""Attend: a sentence in, its translation and every attention map behind it out."""

from __future__ import annotations

import math

import streamlit as st

from model_core.checkpoint import CheckpointError
from model_core.config import DecodingConfig
from model_core.trace import TraceError, TranslationTrace
from model_core.translator import EmptyInput, InputError, Translator
from viz.attention_panel import attention_panel
from viz.components.chips import chips
from viz.messages import Kind, tell
from viz.translators import Found, checkpoint_names, find_trace, load_translator

EXAMPLES = {
    "en-fr": (
        "How are you?",
        "I don't speak French.",
        "Kate went to the bank after work yesterday and deposited a check there.",
        "I went fishing by the river yesterday, remaining near the bank the whole afternoon.",
        "The animal didn't cross the street because it was too tired.",
    ),
    "copy": ("a b c d", "d c b a", "a b a b a b", "p o n m l k j i h g"),
}
SEARCH = DecodingConfig(strategy="beam", beam_width=5)


def choose_checkpoint() -> Translator | None:
    """The chosen checkpoint's translator; where it can't be loaded, the page says why and the others stay on offer."""
    names = checkpoint_names()
    if not names:
        st.error("There is no checkpoint in the folder checkpoints/: train one with `python -m model_core train`.")
        return None
    name = names[0]
    if len(names) > 1:
        name = st.segmented_control(
            "Checkpoint", names, default=names[0], required=True, key="checkpoint", bind="query-params"
        )
    try:
        return load_translator(name or names[0])
    except CheckpointError as error:
        tell(f"The checkpoint {name} can't be used. {error}", "error")
        return None


def ask_sentence(translator: Translator) -> str:
    """The text box, and examples that fill it with one click. Each checkpoint has a text of its own."""
    name = translator.checkpoint.name
    copies = name == "copy"
    examples = EXAMPLES.get(name, ())
    key = "letters" if copies else "text"

    def take(example: str) -> None:
        st.session_state[key] = example

    text = st.text_input(
        "Letters to copy: a to p, with blanks between" if copies else "English sentence",
        examples[0] if examples else "",
        key=key,
        bind="query-params",
        placeholder="Type a sentence and press Enter",
    )
    with st.container(horizontal=True, gap="small", key="examples"):
        for number, example in enumerate(examples):
            st.button(example, key=f"example-{name}-{number}", type="tertiary", on_click=take, args=(example,))
    return text or ""


def translate(translator: Translator, text: str) -> Found | None:
    """The trace of the text; while it is searched for, the translation so far. Where there is none, says why."""
    place = st.empty()

    def show(found: str) -> None:
        with place:
            tell(f"{found} …", "progress")

    problem: tuple[str, Kind]
    try:
        found = find_trace(translator, text, SEARCH, on_text=show)
        place.empty()
        return found
    except EmptyInput:
        problem = "Type a sentence, or take one of the examples.", "note"
    except InputError as error:
        problem = str(error), "warning"
    with place:
        tell(*problem)
    return None


def uploaded_trace() -> TranslationTrace | None:
    """A trace file that somebody saved, in place of a new translation; each upload box serves until it is closed."""
    box = st.session_state.setdefault("upload-box", 0)
    with st.popover("Open a trace", icon=":material/folder_open:"):
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


def percent(share: float) -> str:
    """As the chips say it."""
    return "99+ %" if share >= 0.995 else f"{100 * share:.0f} %"


def show_translation(trace: TranslationTrace) -> None:
    """The translation, its score, and the pieces of both sentences."""
    with st.container(key="translation"):
        st.text(trace.target_text or "(an empty translation)")
    pieces = len(trace.predicted_tokens)
    average = math.exp(min(trace.log_probability, 0.0) / pieces)
    total = f"{min(trace.log_probability, 0.0):.2f}".replace("-0.00", "0.00").replace("-", "−")
    st.caption(
        f"Log-probability {total} over {pieces} predicted tokens, the end among them: "
        f"{percent(average)} a token (geometric mean)."
    )
    left, right = st.columns(2, gap="medium")
    with left:
        st.caption(f"Source: {len(trace.source_tokens)} tokens")
        chips("Source pieces", trace.source_tokens, key="source-chips")
    with right:
        st.caption(f"Prediction: {pieces} tokens, and how probable the model found each")
        chips("Predicted pieces", trace.predicted_tokens, trace.decoding, key="target-chips")


def show_notes(found: Found) -> None:
    """What was done to the text or the translation that the person may not expect."""
    if found.removed:
        plural = "s" if found.removed > 1 else ""
        st.caption(f":material/info: {found.removed} control character{plural} in what you typed had to be removed.")
    if not found.finished:
        tell("The translation reached its length limit before it ended; its last step, </s>, was added.", "warning")


def page() -> None:
    """The whole page."""
    top = st.container(horizontal=True, vertical_alignment="bottom")
    with top, st.container():
        st.title("Regard", anchor=False)
        st.markdown(
            "Watch a Transformer translate: type a sentence, then look at every attention map behind its translation."
        )
    with top, st.container(horizontal=True, vertical_alignment="bottom", width="content"):
        translator = choose_checkpoint()
        trace = uploaded_trace()
    if trace is not None:
        show_uploaded(trace)
    elif translator is not None:
        found = translate(translator, ask_sentence(translator))
        if found is not None:
            show_translation(found.trace)
            show_notes(found)
            attention_panel(found.trace, translator.checkpoint.name)


page()
