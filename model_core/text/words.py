"""Words in a sequence of pieces, and which of them are forms of one word in several sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from model_core.text.pieces import Tokens, piece_bytes

_MARK = "\u0300"
"""Stands for every combining mark: `re` has no name for them, and takes them for the end of a word."""
_LETTERS = rf"[^\W_](?:[^\W_]|{_MARK})*"  # with their marks: the vowel signs of हिन्दी
_PATTERNS = {
    "en": re.compile(rf"{_LETTERS}(?:['’]{_LETTERS})*"),  # don't; but river and bank of river-bank
    "fr": re.compile(rf"{_LETTERS}(?:-{_LETTERS})*"),  # chauve-souris; but l' and eau of l'eau
}
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "r", "est", "st")
_IRREGULAR = {
    "flew": "fly", "flown": "fly", "lay": "lie", "lain": "lie", "lying": "lie", "rang": "ring", "rung": "ring",
    "bore": "bear", "borne": "bear", "meant": "mean", "leaves": "leaf", "rose": "rise", "stood": "stand",
    "struck": "strike", "drew": "draw", "drawn": "draw", "broke": "break", "broken": "break", "ran": "run",
}  # fmt: skip
_SHORTEST = 3  # letters of a base form that is made by taking an ending off


@dataclass(frozen=True)
class WordSpan:
    """A word as it is written, and the pieces `start` to `stop` (exclusive) that spell it."""

    text: str
    start: int
    stop: int

    @property
    def pieces(self) -> slice:
        return slice(self.start, self.stop)

    def __len__(self) -> int:
        return self.stop - self.start


def word_spans(tokens: Tokens, language: Literal["en", "fr"] = "en") -> list[WordSpan]:
    """The words of a sentence in their order: letters with their marks and digits, no punctuation or special tokens.

    A piece that holds letters of two words belongs to both.
    """
    owners: list[int] = []
    spelled = bytearray()
    for index, token in enumerate(tokens):
        part = b" " if token.special else piece_bytes(token.piece)
        spelled += part
        owners += [index] * len(part)
    text = spelled.decode("utf-8", errors="surrogateescape")  # broken bytes stay one byte a character
    places = [0]
    for character in text:
        places.append(places[-1] + len(character.encode("utf-8", errors="surrogateescape")))
    marked = "".join(_MARK if unicodedata.category(character)[0] == "M" else character for character in text)
    return [
        WordSpan(text[slice(*found.span())], owners[places[found.start()]], owners[places[found.end()] - 1] + 1)
        for found in _PATTERNS[language].finditer(marked)
    ]


def base_forms(word: str) -> set[str]:
    """What an English word may be a form of, in lower case, itself first of all: "flies" of "flie" and "fly".

    Takes endings off by rule, so that some are no words. Two words that share one are taken for forms of one word.
    """
    lowered = word.lower().replace("’", "'").removesuffix("'s")
    forms = {lowered} | ({_IRREGULAR[lowered]} if lowered in _IRREGULAR else set())
    for ending in _ENDINGS:
        stem = lowered.removesuffix(ending)
        if stem == lowered or len(stem) < _SHORTEST or not re.search("[aeiouy]", stem):
            continue
        forms.add(stem)
        if ending == "ing":
            forms.add(stem + "e")
        if stem.endswith("i") and ending in ("es", "ed", "er", "est"):
            forms.add(stem[:-1] + "y")
        if len(stem) > _SHORTEST and stem[-1] == stem[-2] and ending in ("ed", "ing", "er", "est"):
            forms.add(stem[:-1])
    return forms


def find_word(spans: Sequence[WordSpan], word: str) -> WordSpan | None:
    """The first span that is `word`, else the first that may be a form of it."""
    same = (span for span in spans if span.text.lower() == word.lower())
    forms = (span for span in spans if word.lower() in base_forms(span.text))
    return next(same, None) or next(forms, None)


def shared_words(
    sentences: Sequence[Sequence[WordSpan]], known: Collection[str] = ()
) -> dict[str, dict[int, WordSpan]]:
    """Words that two or more sentences have: word -> index of the sentence -> where its first occurrence stands.

    Forms of one word count as that word. First come the words of `known`, then those of most sentences, then the
    longest.
    """
    found: dict[str, dict[int, WordSpan]] = {}
    for index, spans in enumerate(sentences):
        for span in spans:
            for form in base_forms(span.text):
                found.setdefault(form, {}).setdefault(index, span)

    def rank(form: str) -> tuple[bool, int, bool, int, str]:
        written = sum(span.text.lower() == form for span in found[form].values())
        return form not in known, -len(found[form]), not written, -len(form), form

    chosen: dict[str, dict[int, WordSpan]] = {}
    for form in sorted((form for form in found if len(found[form]) > 1), key=rank):
        if not any(found[form].items() <= other.items() for other in chosen.values()):
            chosen[form] = found[form]
    return chosen
