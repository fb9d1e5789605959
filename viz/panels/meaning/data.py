"""Computations of the Meaning page: once per checkpoint and text, kept within bounds, shared by all sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from model_core.data.homographs import Homograph, read_homographs, read_senses
from model_core.experiments.meaning import Baseline, Encoded, baseline, encode_all, unrelated_sentences
from model_core.experiments.meaning_map import SenseSet, fit_sense_set
from model_core.translator import Translator


@st.cache_resource(show_spinner=False)
def homographs() -> list[Homograph]:
    """The homograph set that ships."""
    return read_homographs()


@st.cache_resource(show_spinner=False)
def senses() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """word -> sense -> the French forms that show it."""
    return read_senses()


@st.cache_resource(max_entries=64, show_spinner=False)
def _encoded(checkpoint: str, texts: tuple[str, ...], _translator: Translator) -> list[Encoded]:
    return encode_all(_translator, texts)


def encoded_sentences(translator: Translator, texts: Sequence[str]) -> list[Encoded]:
    """The person's sentences as the encoder has them."""
    return _encoded(translator.checkpoint.id, tuple(texts), translator)


@st.cache_resource(max_entries=16, show_spinner=False)
def _unrelated(checkpoint: str, _translator: Translator) -> Baseline:
    return baseline(_translator, unrelated_sentences(homographs()))


def unrelated(translator: Translator) -> Baseline:
    """How alike unrelated words and sentences are to this model."""
    return _unrelated(translator.checkpoint.id, translator)


@st.cache_resource(max_entries=32, show_spinner=False)
def _sense_set(checkpoint: str, word: str, _translator: Translator) -> SenseSet:
    return fit_sense_set(_translator, word, homographs())


def sense_set(translator: Translator, word: str) -> SenseSet | None:
    """The homograph set's sentences of a word; None where the set does not have it."""
    return _sense_set(translator.checkpoint.id, word, translator) if word in senses() else None
