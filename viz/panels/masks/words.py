"""Two translations side by side, with the words that differ marked. No streamlit here."""

from __future__ import annotations

import html
from collections.abc import Sequence
from difflib import SequenceMatcher

from model_core.trace import Token
from viz.theme import visible

_MARK = "text-decoration:underline 2px;text-underline-offset:.2em;font-weight:700;background:none;color:inherit"


def differing(before: str, after: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """The words of both, and whether each belongs to what the other has not."""
    old, new = before.split(), after.split()
    marks = [True] * len(old), [True] * len(new)
    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        marks[0][block.a : block.a + block.size] = [False] * block.size
        marks[1][block.b : block.b + block.size] = [False] * block.size
    return list(zip(old, marks[0], strict=True)), list(zip(new, marks[1], strict=True))


def told_apart(tokens: Sequence[Token]) -> list[str]:
    """The tokens' texts; two of one text, the one that begins a word and the one that does not, by their spelling in
    the vocabulary ("▁?", "?")."""
    texts = [token.text for token in tokens]
    return [token.piece if texts.count(token.text) > 1 else token.text for token in tokens]


def marked_html(words: list[tuple[str, bool]]) -> str:
    """The words as HTML in which nothing but the marks is markup: every word is escaped."""
    told = [
        f'<mark style="{_MARK}">{html.escape(visible(word))}</mark>' if differs else html.escape(visible(word))
        for word, differs in words
    ]
    return f'<p dir="auto" style="font-size:1.25rem;margin:0">{" ".join(told) or "(an empty translation)"}</p>'
