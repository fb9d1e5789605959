"""Text in; a translation, or the trace of one, out: all that pages, the command line and notebooks need."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from model_core.checkpoint.checkpoint import Checkpoint, CheckpointError, load_checkpoint
from model_core.config import EOS_ID, DecodingConfig, ModelConfig
from model_core.model.hooks import AttentionHook
from model_core.search.decoding import Cancelled, Decoded, check_model, decode, length_limit
from model_core.search.draft import LazyDraft, can_draft
from model_core.search.drafted_search import drafted_search
from model_core.search.forced_pass import ForcedPass
from model_core.search.given import checked_beginning, checked_target
from model_core.search.recording import record
from model_core.search.sampling import DrawnFrom
from model_core.text.source import MAX_CHARACTERS, MAX_PIECES, EmptyInput, InputError, Source, prepare_source
from model_core.text.tokenizer import Tokenizer
from model_core.trace.trace import TranslationTrace

__all__ = [
    "MAX_CHARACTERS", "MAX_PIECES", "Cancelled", "Checkpoint", "CheckpointError", "DecodingConfig", "EmptyInput",
    "InputError", "Source", "Translation", "Translator",
]  # fmt: skip


@dataclass(frozen=True)
class Translation:
    """What a search found: the best translation first among `n_best` (ids and scores), and its text.

    Each begins with the ids of `prefix`, which the search was given.
    """

    source: Source
    text: str
    n_best: tuple[Decoded, ...]
    decoding: DecodingConfig
    prefix: tuple[int, ...] = ()

    @property
    def best(self) -> Decoded:
        return self.n_best[0]


class Translator:
    """A checkpoint at work. Holds no state of any request, so that threads and browser sessions can share one.

    A greedy translation on the CPU is drafted with 8-bit weights and confirmed in float32; the draft's weights are made
    when they are first needed.
    """

    def __init__(self, checkpoint: Checkpoint, max_pieces: int = MAX_PIECES) -> None:
        self.checkpoint = checkpoint
        self.max_pieces = max_pieces
        self._draft = LazyDraft(checkpoint.model)

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
        prefix: Sequence[int] = (),
        hook: AttentionHook | None = None,
        on_text: Callable[[str], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> Translation:
        """Searches for a translation by the fastest exact path; nothing is recorded.

        `prefix` (ids of pieces, without <s>) is how it has to begin: greedy search, beam search and sampling go on from
        there, and its pieces count in lengths and sums. `on_text` is called with the translation as far as it has been
        found, at each step.

        Raises:
            InputError: the text can't be translated (see `prepare`), or no translation of it can begin so.
            Cancelled: `cancelled` was set.
        """
        decoding = DecodingConfig() if decoding is None else decoding
        source = self.prepare(text)
        check_model(self.checkpoint.model)
        begun = checked_beginning(prefix, self.config.target_vocabulary, length_limit(source.ids, decoding))
        if on_text is None and not begun and self._drafts(decoding, hook):
            exact = ForcedPass(self.checkpoint.model, source.ids, keep=False)
            return self._search(source, decoding, exact, cancelled=cancelled)
        return self._search(source, decoding, None, hook, on_text, cancelled, begun)

    def _drafts(self, decoding: DecodingConfig, hook: AttentionHook | None) -> bool:
        """Whether a draft serves: one path, the most probable one, of the model as it is."""
        plain = decoding.strategy == "greedy" and decoding.n_best == 1 and hook is None
        return plain and can_draft(self.checkpoint.model)

    def _search(
        self,
        source: Source,
        decoding: DecodingConfig,
        exact: ForcedPass | None,
        hook: AttentionHook | None = None,
        on_text: Callable[[str], None] | None = None,
        cancelled: threading.Event | None = None,
        prefix: tuple[int, ...] = (),
    ) -> Translation:
        """Searches; with an `exact` pass the source is not encoded again, and by a draft if that serves."""
        if exact is not None and self._drafts(decoding, hook):
            limit = length_limit(source.ids, decoding)
            path = drafted_search(self._draft.get(), exact, limit, decoding.alternatives, cancelled)
            results = [path.decoded(decoding.length_penalty)]
        else:
            results = decode(
                self.checkpoint.model,
                [source.ids],
                # The recorded pass tells the alternatives of a single path, for all its steps at once.
                decoding if decoding.strategy == "beam" else replace(decoding, alternatives=0),
                hook=hook,
                on_step=None if on_text is None else lambda ids: on_text(self.tokenizer.decode(ids[0])),
                cancelled=cancelled,
                prefix=prefix,
                memory=None if exact is None else exact.memory,
            )[0]
        return Translation(source, self.tokenizer.decode(results[0].ids), tuple(results), decoding, prefix)

    def trace(
        self,
        text: str,
        *,
        target: str | Sequence[int] | None = None,
        decoding: DecodingConfig | None = None,
        hook: AttentionHook | None = None,
    ) -> TranslationTrace:
        """Translates a text, or takes the `target` that somebody typed, and records every weight behind it.

        A `target` may also be ids of pieces, such as a beam's hypothesis; </s> is put to its end if it has none. As
        many ids are taken as a search with this `decoding` may write, even where these are more than `max_pieces`.

        While it searches, a `hook` sees the decoder one query row at a time (see `decode`): one that is about certain
        target rows, such as `ForcedAlignment`, needs a `target`.

        Raises:
            InputError: the text or the target can't be used (see `prepare`).
        """
        decoding = DecodingConfig() if decoding is None else decoding
        source = self.prepare(text)
        wanted = None if target is None else self._target_ids(target, source, decoding)
        check_model(self.checkpoint.model)
        exact = ForcedPass(self.checkpoint.model, source.ids, hook, keep=True)
        if wanted is None:
            return self._record(self._search(source, decoding, exact, hook), 0, exact)
        return record(self.checkpoint, source, exact, wanted, "forced", decoding.alternatives)

    def _target_ids(self, target: str | Sequence[int], source: Source, decoding: DecodingConfig) -> tuple[int, ...]:
        """`pieces </s>` of a typed text or of given ids. Raises InputError where that is no translation.

        A typed text is held to `max_pieces`; ids may be as many as the model itself may write, so that whatever a
        search finds can be looked at.
        """
        if isinstance(target, str):
            return self.prepare(target, "The translation").ids[1:]
        limit = max(self.max_pieces, length_limit(source.ids, decoding))
        return checked_target(target, self.config.target_vocabulary, limit)

    def ranks(self, text: str, target: str | Sequence[int], decoding: DecodingConfig | None = None) -> tuple[int, ...]:
        """The place of each id of `target` (as in `trace`; </s> included) among all that the model might write there.

        1 is the most probable one. `decoding` says how long ids may be, as in `trace`.

        Raises:
            InputError: the text or the target can't be used.
        """
        source = self.prepare(text)
        wanted = self._target_ids(target, source, DecodingConfig() if decoding is None else decoding)
        check_model(self.checkpoint.model)
        return ForcedPass(self.checkpoint.model, source.ids, keep=False).ranks(wanted)

    def drawn_from(
        self, text: str, target: str | Sequence[int], asked: Sequence[Sequence[int]], decoding: DecodingConfig
    ) -> tuple[DrawnFrom, ...]:
        """What sampling draws from at each step of `target` (as in `trace`; </s> included).

        `asked` has the ids whose shares are wanted, for each step.

        Raises:
            InputError: the text or the target can't be used.
        """
        source = self.prepare(text)
        wanted = self._target_ids(target, source, decoding)
        check_model(self.checkpoint.model)
        return ForcedPass(self.checkpoint.model, source.ids, keep=False).drawn_from(wanted, asked, decoding)

    def replay(self, translation: Translation, rank: int = 0, hook: AttentionHook | None = None) -> TranslationTrace:
        """Records what stands behind a translation that was found; `rank` chooses among its n-best.

        A translation that the length limit cut off is recorded with the </s> that it did not reach as its last step.
        """
        check_model(self.checkpoint.model)
        exact = ForcedPass(self.checkpoint.model, translation.source.ids, hook, keep=True)
        return self._record(translation, rank, exact)

    def _record(self, translation: Translation, rank: int, exact: ForcedPass) -> TranslationTrace:
        found = translation.n_best[rank]
        ids = found.ids if found.finished else (*found.ids, EOS_ID)
        decoding = translation.decoding
        return record(
            self.checkpoint,
            translation.source,
            exact,
            ids,
            decoding.strategy,
            decoding.alternatives,
            beam=[step.hypotheses for step in found.steps] if decoding.strategy == "beam" else (),
            length_penalty=decoding.length_penalty,
        )
