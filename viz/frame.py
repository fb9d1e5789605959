"""The frame of every page: the bar, the title, the checkpoint, the sentence, and what is said when it fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

import streamlit as st

from model_core.checkpoint import CheckpointError
from model_core.config import DecodingConfig
from model_core.translator import EmptyInput, InputError, Translator
from viz.languages import COPY, examples_of, sentence_label
from viz.link import CHECKPOINT, LETTERS, TEXT, Page
from viz.linked import PAGE, clear, follow_link, read, restore, set_widget, write
from viz.messages import Kind, tell, tell_bytes, tell_cut_off, tell_removed
from viz.navigation import navigation_bar
from viz.translators import Found, checkpoint_names, find_trace, load_translator

THE_SENTENCE = "The sentence"
SEARCH = DecodingConfig(strategy="beam", beam_width=5)


def open_page(page: Page, title: str, lead: str, *, choose: bool = True) -> Translator | None:
    """The bar, the title, one sentence on what is seen, and the choice of the checkpoint.

    Returns the checkpoint's translator, or None where it can't be had: the page says why, and the others stay on
    offer. With `choose` False nothing is chosen or loaded.
    """
    restore(page)
    st.session_state[PAGE] = page
    navigation_bar()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container():
            st.title(title, anchor=False)
            st.markdown(lead)
        if choose:
            with st.container(width="content"):
                return _choose_checkpoint()
    return None


def _choose_checkpoint() -> Translator | None:
    names = checkpoint_names()
    if not names:
        st.error("There is no checkpoint in the folder checkpoints/: train one with `python -m model_core train`.")
        return None
    asked = read(CHECKPOINT)
    if asked is not None and asked not in names:
        tell(f"There is no checkpoint {asked}: this is {names[0]}.", "warning")
        clear(CHECKPOINT)
    name, chosen = follow_link(CHECKPOINT, default=names[0], options=names)
    name = name or names[0]
    if len(names) > 1:
        st.segmented_control("Checkpoint", names, required=True, key=CHECKPOINT.name, on_change=chosen)
    try:
        return load_translator(name)
    except CheckpointError as error:
        tell(f"The checkpoint {name} can't be used. {error}", "error")
        return None


def ask_sentence(translator: Translator, own_examples: Mapping[str, Sequence[str]] | None = None) -> str:
    """The text box, and examples that fill it with one click: the page's own for this direction (see
    `viz.languages.direction`), or else the checkpoint's. Letters and sentences are kept apart."""
    about = translator.checkpoint.about
    offered = examples_of(about, own_examples)
    key = LETTERS if about.task == COPY else TEXT
    text = read(key)
    if text is None:
        text = offered[0] if offered else ""
    set_widget(key.name, text)

    def take(example: str) -> None:
        write(key.change(example))

    st.text_input(
        sentence_label(about),
        key=key.name,
        on_change=lambda: take(st.session_state[key.name]),
        placeholder="Type a sentence and press Enter",
    )
    with st.container(horizontal=True, gap="small", key="examples"):
        for number, example in enumerate(offered):
            name = f"example-{translator.checkpoint.name}-{number}"
            st.button(example, key=name, type="tertiary", on_click=take, args=(example,))
    return text


def find(
    translator: Translator, text: str, decoding: DecodingConfig = SEARCH, *, name: str = THE_SENTENCE
) -> Found | None:
    """The trace of the text; while it is searched for, the translation so far. Where there is none, says why.

    `name` is what the text is called then, on a page that has several.
    """
    place = st.empty()

    def show(found: str) -> None:
        with place:
            tell(f"{found} …", "progress")

    problem: tuple[str, Kind]
    try:
        translator.prepare(text, name)  # so that what is wrong with the text is said by its name
        found = find_trace(translator, text, decoding, on_text=show)
        place.empty()
        return found
    except EmptyInput as error:
        only = name == THE_SENTENCE
        problem = "Type a sentence, or take one of the examples." if only else str(error), "note"
    except InputError as error:
        told = str(error)
        problem = told if name == THE_SENTENCE or told.startswith(name) else f"{name}: {told}", "warning"
    with place:
        tell(*problem)
    return None


def show_notes(found: Found, name: str = THE_SENTENCE) -> None:
    """Says how the text or the translation was changed in ways that the person may not expect; `name` as in `find`."""
    only = name == THE_SENTENCE
    tell_removed(found.removed, "what you typed" if only else _within(name))
    tell_bytes(found.trace.source_tokens)
    if not found.finished:
        tell_cut_off("The translation" if only else f"The translation of {_within(name)}")


def _within(name: str) -> str:
    """A name as it stands within a sentence: "the second sentence"."""
    return name[:1].lower() + name[1:]


def about(title: str = "About this picture") -> AbstractContextManager[object]:
    """Where a page keeps its formula, the shapes of this sentence, and where they come from."""
    return st.expander(title, icon=":material/function:")
