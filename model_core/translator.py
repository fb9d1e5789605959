"""Text in; a translation, or the trace of one, out: all that pages, the command line and notebooks need."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self, Unpack, overload

import torch

from model_core.checkpoint.checkpoint import Checkpoint, CheckpointError, load_checkpoint
from model_core.checkpoint.shipped import find_checkpoint
from model_core.config import ConfigError, DecodingConfig
from model_core.config.options import DecodingOptions, chosen_decoding
from model_core.interventions import Interventions
from model_core.search.batches import decode_in_batches
from model_core.search.decoding import Cancelled, check_model
from model_core.sentence import SentenceTranslator
from model_core.text.source import MAX_CHARACTERS, MAX_PIECES, EmptyInput, InputError, Source
from model_core.trace.trace import TranslationTrace
from model_core.translation import Translation

__all__ = [
    "MAX_CHARACTERS", "MAX_PIECES", "Cancelled", "Checkpoint", "CheckpointError", "DecodingConfig", "EmptyInput",
    "InputError", "Source", "Translation", "Translator", "load",
]  # fmt: skip


def load(folder: str | Path, max_pieces: int = MAX_PIECES) -> Translator:
    """The translator of a checkpoint: of a folder, or of one that ships, by its name, such as "en-fr".

    Raises:
        CheckpointError: there is no such checkpoint, or a file of it is wrong; named.
    """
    return Translator(load_checkpoint(find_checkpoint(folder)), max_pieces)


class Translator(SentenceTranslator):
    """A checkpoint at work. Holds no state of any request, so that threads and browser sessions can share one."""

    @classmethod
    def load(cls, folder: str | Path, max_pieces: int = MAX_PIECES) -> Self:
        """As the function `load`."""
        return cls(load_checkpoint(find_checkpoint(folder)), max_pieces)

    def to(self, device: str | torch.device) -> Self:
        """Moves the model's weights, such as to "cuda" or "cpu", and returns the translator itself.

        Raises:
            ConfigError: there is no such device here.
        """
        try:
            self.checkpoint.model.to(torch.device(device))
        except (RuntimeError, AssertionError) as error:
            raise ConfigError(f"The model can't be moved to {str(device)!r}: {str(error).splitlines()[0]}") from error
        return self

    def __repr__(self) -> str:
        device = next(self.checkpoint.model.parameters()).device
        return f"<Translator on {device}, at most {self.max_pieces} pieces a sentence:\n {self.checkpoint!r}>"

    @overload
    def translate(
        self,
        text: str,
        decoding: DecodingConfig | None = None,
        *,
        prefix: str | Sequence[int] = (),
        interventions: Interventions = (),
        on_text: Callable[[str], None] | None = None,
        cancelled: threading.Event | None = None,
        **options: Unpack[DecodingOptions],
    ) -> Translation: ...
    @overload
    def translate(
        self,
        text: list[str] | tuple[str, ...],
        decoding: DecodingConfig | None = None,
        *,
        prefix: str | Sequence[int] = (),
        interventions: Interventions = (),
        cancelled: threading.Event | None = None,
        **options: Unpack[DecodingOptions],
    ) -> list[Translation]: ...
    def translate(
        self,
        text: str | list[str] | tuple[str, ...],
        decoding: DecodingConfig | None = None,
        *,
        prefix: str | Sequence[int] = (),
        interventions: Interventions = (),
        on_text: Callable[[str], None] | None = None,
        cancelled: threading.Event | None = None,
        **options: Unpack[DecodingOptions],
    ) -> Translation | list[Translation]:
        """Searches for a translation by the fastest exact path; nothing is recorded.

        The search is a `decoding`, or keywords such as `beam=5` or `temperature=0.8` (`DecodingOptions`); greedy search
        without either. `prefix` (text, or ids of pieces without <s>) is how the translation has to begin: every kind of
        search goes on from there, and its pieces count in lengths and sums. `on_text` is called with the translation
        as far as it has been found, at each step. Several texts are searched for together; each gets the translation
        that it would get alone.

        Raises:
            InputError: the text can't be translated (see `prepare`), or no translation of it can begin so.
            ConfigError, TypeError: the keywords contradict each other, or there are none of that name.
            Cancelled: `cancelled` was set.
        """
        decoding = chosen_decoding(decoding, options)
        if isinstance(text, str):
            return self.find(self.prepare(text), decoding, prefix, interventions, on_text, cancelled)
        if on_text is not None:
            raise InputError("A translation can be shown as it grows for one sentence only: leave out on_text.")
        sources = self._prepare_all(text)
        if interventions:  # their results are about one sentence
            return [self.find(source, decoding, prefix, interventions, None, cancelled) for source in sources]
        check_model(self.checkpoint.model)
        beginnings = [self.beginning(prefix, source, decoding) for source in sources]
        begun = beginnings[0] if beginnings else ()
        ids = [source.ids for source in sources]
        found = decode_in_batches(self.checkpoint.model, ids, decoding, prefix=begun, cancelled=cancelled)
        return [self.translation(*pair, decoding, begun) for pair in zip(sources, found, strict=True)]

    def _prepare_all(self, texts: Sequence[str]) -> list[Source]:
        return [self.prepare(text, f"Sentence {number}") for number, text in enumerate(texts, 1)]

    @overload
    def trace(
        self,
        text: str,
        *,
        target: str | Sequence[int] | None = None,
        decoding: DecodingConfig | None = None,
        interventions: Interventions = (),
        **options: Unpack[DecodingOptions],
    ) -> TranslationTrace: ...
    @overload
    def trace(
        self,
        text: list[str] | tuple[str, ...],
        *,
        target: Sequence[str | Sequence[int]] | None = None,
        decoding: DecodingConfig | None = None,
        interventions: Interventions = (),
        **options: Unpack[DecodingOptions],
    ) -> list[TranslationTrace]: ...
    def trace(
        self,
        text: str | list[str] | tuple[str, ...],
        *,
        target: Any = None,
        decoding: DecodingConfig | None = None,
        interventions: Interventions = (),
        **options: Unpack[DecodingOptions],
    ) -> TranslationTrace | list[TranslationTrace]:
        """Translates a text, or takes the `target` that somebody typed, and records every weight behind it.

        The search is chosen as in `translate`. Several texts get a trace each; `target` then has one for each.

        A `target` may also be ids of pieces, such as a beam's hypothesis; </s> is put to its end if it has none. As
        many ids are taken as a search with this `decoding` may write, even where these are more than `max_pieces`.

        The same `interventions` act on the search and on the recorded pass (see `model_core.interventions`).

        Raises:
            InputError: the text or the target can't be used (see `prepare`), or there are not as many targets as texts.
            ConfigError, TypeError: the keywords contradict each other, or there are none of that name.
        """
        decoding = chosen_decoding(decoding, options)
        if isinstance(text, str):
            return self.record_one(self.prepare(text), target, decoding, interventions)
        if target is None and not interventions:
            return [self.replay(translation) for translation in self.translate(text, decoding)]
        targets = [target] if isinstance(target, str) else [None] * len(text) if target is None else list(target)
        if len(targets) != len(text):
            raise InputError(f"There are {len(text)} texts but {len(targets)} targets: give one for each text.")
        pairs = zip(self._prepare_all(text), targets, strict=True)
        return [self.record_one(source, one, decoding, interventions) for source, one in pairs]
