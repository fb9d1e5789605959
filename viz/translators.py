"""Checkpoints on offer, and what was computed with them: loaded once, kept within bounds, shared by all sessions."""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
import torch

from model_core.config import DecodingConfig
from model_core.shipped import shipped_checkpoints
from model_core.trace import TranslationTrace
from model_core.translator import Translator

CHECKPOINTS = shipped_checkpoints()
FIRST_CHOICE = "en-fr"
TRACES_KEPT = 64  # of 0.1 to 10 MB each


def checkpoint_names() -> list[str]:
    """The folders in checkpoints/, the translating one first. Only these names are ever opened."""
    folders = [p.name for p in CHECKPOINTS.iterdir() if p.is_dir()] if CHECKPOINTS.is_dir() else []
    return sorted(folders, key=lambda name: (name != FIRST_CHOICE, name))


@st.cache_resource(show_spinner="Loading the model …", max_entries=8)
def load_translator(name: str) -> Translator:
    """Reads a checkpoint, once a server.

    Raises:
        CheckpointError: names the file that is wrong.
        ValueError: `name` is none of `checkpoint_names()`.
    """
    if name not in checkpoint_names():
        raise ValueError(f"There is no checkpoint named {name!r}.")
    torch.set_num_threads(1)  # more threads a request are slower as soon as two people share the server
    translator = Translator.load(CHECKPOINTS / name)
    # Streamlit collects garbage after each run, before the browser is told: what stays for good is taken out of it.
    gc.collect()
    gc.freeze()
    return translator


@dataclass(frozen=True)
class Found:
    """A trace, what the cleaning of the text removed, and whether the search ended by itself."""

    trace: TranslationTrace
    removed: int
    finished: bool


class TraceStore:
    """The last TRACES_KEPT results by checkpoint, text and options; the one unused for longest goes first."""

    def __init__(self, size: int = TRACES_KEPT) -> None:
        self.size = size
        self._found: OrderedDict[tuple[object, ...], Found] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[object, ...]) -> Found | None:
        """The result under the key, or None."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, key: tuple[object, ...], found: Found) -> None:
        """Keeps a result, and lets the oldest go where there are too many."""
        with self._lock:
            self._found[key] = found
            self._found.move_to_end(key)
            while len(self._found) > self.size:
                self._found.popitem(last=False)


@st.cache_resource
def trace_store() -> TraceStore:
    """The server's store of results."""
    return TraceStore()


def find_trace(
    translator: Translator, text: str, decoding: DecodingConfig, on_text: Callable[[str], None] | None = None
) -> Found:
    """Translates and records, or takes what is kept; `on_text` is shown a new translation while it is found.

    Raises:
        InputError: the text can't be translated.
    """
    key = (translator.checkpoint.id, text, decoding)
    kept = trace_store().get(key)
    if kept is not None:
        return kept
    translation = translator.translate(text, decoding, on_text=on_text)
    found = Found(translator.replay(translation), translation.source.removed, translation.best.finished)
    trace_store().put(key, found)
    return found
