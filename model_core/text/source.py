"""A text that somebody typed, made ready for a model, or the sentence that says why it can't be."""

from __future__ import annotations

from dataclasses import dataclass

from model_core.config import BOS_ID, EOS_ID
from model_core.text.cleaning import clean_text
from model_core.text.tokenizer import Tokenizer, TokenizerError

MAX_PIECES = 128
MAX_CHARACTERS = 20_000


class InputError(ValueError):
    """A text that can't be translated. Its message is a sentence for the person who typed it."""


class EmptyInput(InputError):  # noqa: N818 -- reads as what it is: nothing was typed
    """There is nothing to translate."""


@dataclass(frozen=True)
class Source:
    """A text made ready: cleaned, and its ids `<s> pieces </s>`. `removed` counts characters that were taken out."""

    text: str
    removed: int
    ids: tuple[int, ...]


def prepare_source(tokenizer: Tokenizer, text: str, max_pieces: int, name: str = "The sentence") -> Source:
    """Cleans and encodes a text; `name` is how the errors call it.

    Raises:
        EmptyInput: nothing is left of it.
        InputError: it has more characters or pieces than are allowed, or symbols that this tokenizer has not.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"{name} has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read. Translate it in parts."
        )
    cleaned = clean_text(text)
    if not cleaned.text:
        raise EmptyInput(f"{name} is empty: type a few words.")
    try:
        pieces = tokenizer.encode(cleaned.text)
    except TokenizerError as error:
        raise InputError(str(error)) from error
    if len(pieces) > max_pieces:
        raise InputError(f"{name} has {len(pieces):,} pieces; at most {max_pieces} are allowed. Translate it in parts.")
    return Source(cleaned.text, cleaned.removed, (BOS_ID, *pieces, EOS_ID))
