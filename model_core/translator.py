"""Text in; a translation, or the trace of one, out: all that pages, the command line and notebooks need."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from model_core.checkpoint import Checkpoint, CheckpointError, load_checkpoint
from model_core.config import EOS_ID, DecodingConfig, ModelConfig
from model_core.decoding import Cancelled, Decoded, decode
from model_core.hooks import AttentionHook
from model_core.recording import record
from model_core.source import MAX_CHARACTERS, MAX_PIECES, EmptyInput, InputError, Source, prepare_source
from model_core.tokenizer import Tokenizer
from model_core.trace import TranslationTrace

__all__ = [
    "MAX_CHARACTERS", "MAX_PIECES", "Cancelled", "Checkpoint", "CheckpointError", "DecodingConfig", "EmptyInput",
    "InputError", "Source", "Translation", "Translator",
]  # fmt: skip


@dataclass(frozen=True)
class Translation:
    """What a search found: the best translation first among `n_best` (ids and scores), and its text."""

    source: Source
    text: str
    n_best: tuple[Decoded, ...]
    decoding: DecodingConfig

    @property
    def best(self) -> Decoded:
        return self.n_best[0]


class Translator:
    """A checkpoint at work. Holds no state of any request, so that threads and browser sessions can share one."""

    def __init__(self, checkpoint: Checkpoint, max_pieces: int = MAX_PIECES) -> None:
        self.checkpoint = checkpoint
        self.max_pieces = max_pieces

    @classmethod
    def load(cls, folder: str | Path, max_pieces: int = MAX_PIECES) -> Translator:
        """Reads a checkpoint folder. Raises CheckpointError, which names the file that is wrong."""
        return cls(load_checkpoint(folder), max_pieces)

    @property
    def config(self) -> ModelConfig:
        return self.checkpoint.model.config

    @property
    def tokenizer(self) -> Tokenizer:
        return self.checkpoint.tokenizer

    def prepare(self, text: str, what: str = "The sentence") -> Source:
        """Cleans and encodes a text.

        Raises:
            EmptyInput: nothing is left of it.
            InputError: it has more characters or pieces than are allowed, or symbols that this tokenizer has not.
        """
        return prepare_source(self.tokenizer, text, self.max_pieces, what)

    def translate(
        self,
        text: str,
        decoding: DecodingConfig | None = None,
        *,
        hook: AttentionHook | None = None,
        on_text: Callable[[str], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> Translation:
        """Searches for a translation by the fastest exact path; nothing is recorded.

        `on_text` is called with the translation as far as it has been found, at each step.

        Raises:
            InputError: the text can't be translated (see `prepare`).
            Cancelled: `cancelled` was set.
        """
        decoding = DecodingConfig() if decoding is None else decoding
        source = self.prepare(text)

        def on_step(found: list[list[int]]) -> None:
            if on_text is not None:
                on_text(self.tokenizer.decode(found[0]))

        results = decode(
            self.checkpoint.model,
            [source.ids],
            # The recorded pass tells the alternatives of a single path, for all its steps at once.
            decoding if decoding.strategy == "beam" else replace(decoding, alternatives=0),
            hook=hook,
            on_step=None if on_text is None else on_step,
            cancelled=cancelled,
        )[0]
        return Translation(source, self.tokenizer.decode(results[0].ids), tuple(results), decoding)

    def trace(
        self,
        text: str,
        *,
        target: str | None = None,
        decoding: DecodingConfig | None = None,
        hook: AttentionHook | None = None,
    ) -> TranslationTrace:
        """Translates a text, or takes the `target` that somebody typed, and records every weight behind it.

        While it searches, a `hook` sees the decoder one query row at a time (see `decode`): one that is about certain
        target rows, such as `ForcedAlignment`, needs a `target`.

        Raises:
            InputError: the text or the target can't be used (see `prepare`).
        """
        if target is None:
            return self.replay(self.translate(text, decoding, hook=hook), hook=hook)
        source, wanted = self.prepare(text), self.prepare(target, "The translation")
        alternatives = (decoding or DecodingConfig()).alternatives
        return record(self.checkpoint, source, wanted.ids[1:], "forced", alternatives, hook=hook)

    def replay(self, translation: Translation, rank: int = 0, hook: AttentionHook | None = None) -> TranslationTrace:
        """Records what stands behind a translation that was found; `rank` chooses among its n-best.

        A translation that the length limit cut off is recorded with the </s> that it did not reach as its last step.
        """
        found = translation.n_best[rank]
        ids = found.ids if found.finished else (*found.ids, EOS_ID)
        decoding = translation.decoding
        return record(
            self.checkpoint,
            translation.source,
            ids,
            decoding.strategy,
            decoding.alternatives,
            beam=[step.hypotheses for step in found.steps] if decoding.strategy == "beam" else (),
            length_penalty=decoding.length_penalty,
            hook=hook,
        )
