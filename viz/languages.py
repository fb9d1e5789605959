"""Names of a checkpoint's sentences and languages on the pages, from the checkpoint's own description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from model_core.checkpoint import CheckpointAbout

T = TypeVar("T")
COPY = "copy"


def direction(about: CheckpointAbout) -> str:
    """The task, and of a translation its languages: "copy", "en-fr"; "translate" where these are not named.

    By these names pages keep examples of their own.
    """
    if about.task == COPY:
        return COPY
    if about.source_language is None or about.target_language is None:
        return "translate"
    return f"{about.source_language.code}-{about.target_language.code}"


def by_direction(table: Mapping[str, T], about: CheckpointAbout, otherwise: T) -> T:
    """The entry of a table by `direction` for this checkpoint, or `otherwise`."""
    return table.get(direction(about), otherwise)


def examples_of(about: CheckpointAbout, own: Mapping[str, Sequence[str]] | None = None) -> tuple[str, ...]:
    """Sentences to offer: a page's `own` for this direction, else the checkpoint's."""
    return tuple(by_direction(own or {}, about, about.examples))


def source_words(about: CheckpointAbout) -> str:
    """The source language before a noun, with a blank behind: "English "; nothing where it is not named."""
    return f"{about.source_language.name} " if about.source_language else ""


def target_words(about: CheckpointAbout) -> str:
    """As `source_words`, the target language."""
    return f"{about.target_language.name} " if about.target_language else ""


def sentence_label(about: CheckpointAbout) -> str:
    """The label of the box for the source: "English sentence"."""
    if about.task == COPY:
        return "Letters to copy: a to p, with blanks between"
    return _capital(f"{source_words(about)}sentence")


def own_target_label(about: CheckpointAbout) -> str:
    """The label of the box for a person's own translation: "Your own French"."""
    if about.task == COPY:
        return "Your own copy of the letters"
    return f"Your own {target_words(about).strip() or 'translation'}"


def language_pair(about: CheckpointAbout) -> str:
    """Both languages: "English–French"; the model that translates where they are not named."""
    if about.source_language is None or about.target_language is None:
        return "the model that translates"
    return f"{about.source_language.name}–{about.target_language.name}"


def reads_english(about: CheckpointAbout) -> bool:
    """Whether the set of ambiguous English words is for this model; yes, where it does not name its languages."""
    return about.task != COPY and (about.source_language is None or about.source_language.code == "en")


def writes_french(about: CheckpointAbout) -> bool:
    """Whether the French forms of that set are for this model; yes, where it does not name its languages."""
    return about.task != COPY and (about.target_language is None or about.target_language.code == "fr")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
