"""Pieces: what a vocabulary spells, and the tokens of a sentence that are made of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

WORD_START = "▁"
"""The first character of a piece that begins a word."""
_BYTE_PIECE = re.compile(r"<0x([0-9A-F]{2})>")


def byte_of(piece: str) -> int | None:
    """The byte that a piece such as "<0xE2>" stands for; None for a piece of letters."""
    byte = _BYTE_PIECE.fullmatch(piece)
    return int(byte[1], 16) if byte else None


def piece_bytes(piece: str) -> bytes:
    """The characters of a piece in UTF-8, "▁" being a space; a lone surrogate, which UTF-8 has not, becomes "?"."""
    byte = byte_of(piece)
    return piece.replace(WORD_START, " ").encode(errors="replace") if byte is None else bytes([byte])


@dataclass(frozen=True)
class Token:
    """One piece of a sentence, as the model reads or writes it.

    `piece` is the vocabulary's spelling ("▁How", "<0xE2>", "</s>"), `text` what a person should see, `word` the number
    of the word or mark that the piece belongs to (-1 for special tokens; see `text/words.py`). Tokens of a trace that
    an earlier version saved keep their numbers, which counted a mark with the word before it.
    """

    id: int
    piece: str
    text: str
    word: int
    special: bool


Tokens = tuple[Token, ...]
