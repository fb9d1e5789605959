"""Text as people type and paste it, made ready for the tokenizer."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

# Format characters that change how a script or an emoji reads: joiners, direction marks, signs that enclose digits.
_KEPT_FORMAT = frozenset(
    "\u200c\u200d\u200e\u200f\u061c\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2"
)
_BLANK_CONTROLS = frozenset("\t\n\v\f\r\x85")


@dataclass(frozen=True)
class CleanedText:
    """A text that is ready to encode, and how many characters had to be `removed` for that."""

    text: str
    removed: int


def clean_text(text: str) -> CleanedText:
    """NFC, single spaces between words, no invisible characters that carry no meaning.

    Removed and counted: control characters, lone surrogates, noncharacters, and format characters other than joiners,
    left/right marks, Arabic number signs and emoji tags. Tabs, line breaks and every kind of blank become one space,
    which does not count as removed. Cleaning a cleaned text changes nothing.
    """
    if text.isprintable():
        kept, removed = text, 0
    else:
        characters = [_cleaned_character(c) for c in text]
        kept, removed = "".join(characters), characters.count("")
    return CleanedText(" ".join(unicodedata.normalize("NFC", kept).split()), removed)


def _cleaned_character(character: str) -> str:
    """The character, a space for a blank, or nothing for what clean_text removes."""
    if character.isprintable():
        return character
    category = unicodedata.category(character)
    if character in _BLANK_CONTROLS or category in ("Zs", "Zl", "Zp"):
        return " "
    if category in ("Cc", "Cs") or _is_noncharacter(ord(character)):
        return ""
    is_emoji_tag = 0xE0020 <= ord(character) <= 0xE007F
    return "" if category == "Cf" and character not in _KEPT_FORMAT and not is_emoji_tag else character


def _is_noncharacter(code: int) -> bool:
    """The 66 code points that Unicode (section 23.7) reserves for a program's own use."""
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
