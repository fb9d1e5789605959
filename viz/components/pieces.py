"""The pieces of a sentence as shared/chips.js draws them."""

from __future__ import annotations

from collections.abc import Sequence

from model_core.trace import Token


def continues_word(tokens: Sequence[Token], index: int) -> bool:
    """Whether a token belongs to the same word as the one before it; special tokens belong to none."""
    token = tokens[index]
    return index > 0 and not token.special and token.word == tokens[index - 1].word
