"""Text to pieces to ids and back: SentencePiece with one joint vocabulary for both languages.

A piece that starts with "▁" begins a new word; a character outside the vocabulary is spelled as its UTF-8 bytes
("<0xE2>" and so on), so that a tokenizer with byte fallback never produces <unk>.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import sentencepiece

from model_core.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from model_core.text.cleaning import CleanedText, clean_text
from model_core.text.pieces import WORD_START, Token, Tokens, byte_of, piece_bytes
from model_core.text.words import word_numbers

__all__ = [
    "BOS_ID", "EOS_ID", "PAD_ID", "SPECIAL_PIECES", "UNK_ID", "WORD_START", "CleanedText", "Tokenizer",
    "TokenizerError", "clean_text", "is_special", "surface", "train_tokenizer", "word_tokenizer",
]  # fmt: skip

SPECIAL_PIECES = ("<pad>", "<s>", "</s>", "<unk>")

_WORD = re.compile(r"(?<!\S)\w+")  # letters after a blank: "don" of "don't"
COMMON_WORD = 10  # occurrences from which a word is proposed whole to the vocabulary
# SentencePiece cannot tell a "▁" in the text from the one that it puts for a space. A typed "▁" goes in as this
# noncharacter, which clean_text lets nobody else use, and its four bytes are then replaced by those of "▁".
_STAND_IN = "\U0010ffff"


class TokenizerError(ValueError):
    """A model that is no usable tokenizer, or a text or id that a tokenizer cannot take. Its message is a sentence."""


class Tokenizer:
    """A SentencePiece model. `serialized` holds the bytes of its file, so that a checkpoint can carry it."""

    def __init__(self, model_proto: bytes) -> None:
        """Raises TokenizerError where the bytes are no SentencePiece model or its special ids are not 0, 1, 2, 3."""
        self.serialized = bytes(model_proto)
        try:
            if not self.serialized:
                raise ValueError  # SentencePiece would take nothing for a model without pieces
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=self.serialized)
            self._pieces = [self._processor.id_to_piece(i) for i in range(self._processor.get_piece_size())]
        except (RuntimeError, ValueError, IndexError) as error:
            raise TokenizerError(
                f"These {len(self.serialized):,} bytes are no SentencePiece model{_reason(error)}. "
                "Take the tokenizer.model of the checkpoint again."
            ) from error
        self._check_special_pieces()
        self._ids = {piece: i for i, piece in enumerate(self._pieces)}
        self._stand_in_ids = self._byte_ids(_STAND_IN)
        self._word_start_ids = self._byte_ids(WORD_START)

    @classmethod
    def load(cls, path: str | Path) -> Tokenizer:
        """Reads a tokenizer.model file. Raises TokenizerError that names the file."""
        try:
            return cls(Path(path).read_bytes())
        except OSError as error:
            raise TokenizerError(f"The tokenizer {path} cannot be read: {error.strerror or error}.") from error
        except TokenizerError as error:
            raise TokenizerError(f"{path}: {error}") from error

    def _check_special_pieces(self) -> None:
        processor = self._processor
        special_ids = (processor.pad_id(), processor.bos_id(), processor.eos_id(), processor.unk_id())
        spelled = tuple(self._pieces[: len(SPECIAL_PIECES)])
        if special_ids != (PAD_ID, BOS_ID, EOS_ID, UNK_ID) or spelled != SPECIAL_PIECES:
            raise TokenizerError(
                f"The tokenizer's first pieces are {', '.join(spelled) or 'missing'} and the ids of pad, <s>, </s>, "
                f"<unk> are {', '.join(map(str, special_ids))}; they have to be {', '.join(SPECIAL_PIECES)} "
                "with ids 0, 1, 2, 3. Train a tokenizer with train_tokenizer."
            )

    def _byte_ids(self, character: str) -> list[int]:
        """Ids of a character's byte pieces; a vocabulary without byte fallback has none, and gives <unk>."""
        return [self._ids.get(f"<0x{byte:02X}>", UNK_ID) for byte in character.encode()]

    @property
    def vocabulary_size(self) -> int:
        return len(self._pieces)

    @property
    def pad_id(self) -> int:
        return PAD_ID

    @property
    def bos_id(self) -> int:
        return BOS_ID

    @property
    def eos_id(self) -> int:
        return EOS_ID

    def encode(self, text: str) -> list[int]:
        """Ids of the pieces of a text, without <s> and </s>. decode() gives exactly the text back if it was cleaned.

        Raises TokenizerError where the text holds a lone surrogate (see clean_text), and, for a tokenizer of whole
        words, where it holds a word outside the vocabulary.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise TokenizerError(
                f"Character {error.start + 1} of the text is a lone surrogate; pass the text through clean_text first."
            ) from error
        ids: list[int] = self._processor.encode(text.replace(WORD_START, _STAND_IN))
        if UNK_ID in ids:  # never with byte fallback
            raise TokenizerError(self._unknown_words(text))
        return self._without_stand_in(ids) if WORD_START in text else ids

    def _without_stand_in(self, ids: list[int]) -> list[int]:
        result, width, i = [], len(self._stand_in_ids), 0
        while i < len(ids):
            is_stand_in = ids[i : i + width] == self._stand_in_ids
            result.extend(self._word_start_ids if is_stand_in else ids[i : i + 1])
            i += width if is_stand_in else 1
        return result

    def _unknown_words(self, text: str) -> str:
        unknown = sorted({word for word in text.split() if WORD_START + word not in self._ids})
        known = [piece.removeprefix(WORD_START) for piece in self._pieces[len(SPECIAL_PIECES) :]]
        listed, more = known[:20], len(known) - 20
        return (
            f"This tokenizer does not know {', '.join(map(repr, unknown[:20])) or repr(text)}. "
            f"It knows {', '.join(listed)}{f' and {more:,} more' if more > 0 else ''}; put spaces between them."
        )

    def piece(self, id: int) -> str:
        """The vocabulary's spelling of an id, such as "▁How", "<0xE2>" or "</s>"."""
        if not 0 <= id < len(self._pieces):
            raise TokenizerError(
                f"There is no piece with id {id}: the vocabulary has ids 0 to {len(self._pieces) - 1:,}."
            )
        return self._pieces[id]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids; <pad>, <s>, </s> and <unk> are left out, broken UTF-8 becomes U+FFFD."""
        return surface(self.piece(i) for i in ids if not is_special(i))

    def tokens(self, ids: Iterable[int], language: str = "") -> Tokens:
        """One Token per id. Words are numbered by the rule of the language (ISO 639 code), "" where it is not known."""
        numbered = [(int(id_), self.piece(int(id_))) for id_ in ids]
        words = word_numbers([None if is_special(id_) else piece for id_, piece in numbered], language)
        return tuple(
            Token(id_, piece, piece if is_special(id_) else _shown(piece), word, is_special(id_))
            for (id_, piece), word in zip(numbered, words, strict=True)
        )


def is_special(id: int) -> bool:
    """Whether the id is one of <pad>, <s>, </s>, <unk>, which stand for no characters."""
    return id <= UNK_ID


def surface(pieces: Iterable[str]) -> str:
    """Joins pieces (no special ones) to their text: "▁" is a space, except at the start; byte pieces are UTF-8."""
    joined = b"".join(map(piece_bytes, pieces)).decode("utf-8", errors="replace")
    return joined.removeprefix(" ")


def _shown(piece: str) -> str:
    """A piece as a person should see it: no word mark, unless it is all there is; 0xE2 for the byte piece <0xE2>."""
    byte = byte_of(piece)
    return f"0x{byte:02X}" if byte is not None else piece.removeprefix(WORD_START) or piece


def train_tokenizer(sentences: Iterable[str], vocabulary_size: int = 8000) -> Tokenizer:
    """Trains a unigram SentencePiece model (Kudo 2018, arXiv:1804.10959) with byte fallback.

    `sentences` are those of all languages; the same ones in the same order give the same bytes. Raises TokenizerError
    where SentencePiece cannot make that many pieces out of them.
    """
    cleaned = [text for sentence in sentences if (text := clean_text(sentence).text)]
    return _train(
        cleaned + _common_words(cleaned),
        vocab_size=vocabulary_size,
        model_type="unigram",
        byte_fallback=True,
        character_coverage=0.99999,  # the rarest characters, 1 in 100,000 of all, are spelled in bytes
        split_digits=True,
    )


def _common_words(sentences: list[str]) -> list[str]:
    """Every common word once, with a comma after it, which makes it a candidate for the vocabulary.

    SentencePiece takes its candidates from the parts of distinct words that go on in two ways: "▁cette" with only a
    blank after it would not be one, however frequent. On the English-French corpus a sentence has 2.3 % fewer
    pieces for it, and of the 3,000 commonest words 51 are split instead of 191.
    """
    counts = Counter(word for sentence in sentences for word in _WORD.findall(sentence))
    return [f"{word}," for word, count in sorted(counts.items()) if count >= COMMON_WORD]


def word_tokenizer(symbols: Sequence[str]) -> Tokenizer:
    """A tokenizer whose vocabulary is the four special pieces and the symbols, ids 4, 5, ... in the order given.

    A text is then symbols with spaces between; there is no byte fallback. Raises TokenizerError where symbols are
    missing, repeated, or hold blanks.
    """
    bad = [symbol for symbol in symbols if not symbol or clean_text(symbol).text != symbol or WORD_START in symbol]
    bad += [symbol for symbol in symbols if any(map(str.isspace, symbol)) or symbol in SPECIAL_PIECES]
    if bad or not symbols or len(set(symbols)) != len(symbols):
        raise TokenizerError(
            f"A word tokenizer needs different symbols, each of them one word; "
            f"it got {len(symbols)}, {len(set(symbols))} of them different{', such as ' + repr(bad[0]) if bad else ''}."
        )
    # SentencePiece numbers words by falling frequency: the first symbol stands in most sentences.
    sentences = [" ".join(symbols[:count]) for count in range(1, len(symbols) + 1)]
    return _train(sentences, vocab_size=len(SPECIAL_PIECES) + len(symbols), model_type="word", character_coverage=1.0)


def _train(sentences: list[str], **options: Any) -> Tokenizer:
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            pad_id=PAD_ID,
            bos_id=BOS_ID,
            eos_id=EOS_ID,
            unk_id=UNK_ID,
            normalization_rule_name="identity",  # clean_text has done it
            add_dummy_prefix=True,
            remove_extra_whitespaces=True,
            max_sentence_length=1 << 20,  # bytes; SentencePiece skips longer ones
            num_threads=4,  # sums of floats depend on it: fixed, whatever the machine
            minloglevel=2,
            **options,
        )
    except (RuntimeError, ValueError, OSError) as error:
        raise TokenizerError(
            f"SentencePiece cannot make a vocabulary of {options['vocab_size']:,} pieces "
            f"from {len(sentences):,} sentences and common words{_reason(error)}."
        ) from error
    return Tokenizer(model.getvalue())


def _reason(error: Exception) -> str:
    """SentencePiece's reason without the place in its source code; nothing where it only names a check."""
    reason = re.sub(r"^[A-Z_]+: (?:\S+\(\d+\) \[.*\])?", "", str(error)).strip().rstrip(".")
    return f": {reason}" if reason else ""
