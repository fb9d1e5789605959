"""One sentence in; its translation, or the trace of one, out: the search, the draft and the recorded pass behind it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from model_core.checkpoint.checkpoint import Checkpoint
from model_core.config import EOS_ID, DecodingConfig, ModelConfig
from model_core.interventions import Interventions
from model_core.search.decoding import Decoded, check_model, decode, length_limit
from model_core.search.draft import LazyDraft, can_draft
from model_core.search.drafted_search import drafted_search
from model_core.search.forced_pass import ForcedPass
from model_core.search.given import checked_beginning, checked_target
from model_core.search.recording import record
from model_core.search.sampling import DrawnFrom
from model_core.text.source import MAX_PIECES, Source, prepare_source
from model_core.text.tokenizer import Tokenizer
from model_core.trace.trace import TranslationTrace
from model_core.translation import Translation


class SentenceTranslator:
    """A checkpoint at work on one sentence at a time.

    Holds no state of any request, so that threads and browser sessions can share one. A greedy translation on the CPU
    is drafted with 8-bit weights and confirmed in float32; the draft's weights are made when they are first needed.
    """

    def __init__(self, checkpoint: Checkpoint, max_pieces: int = MAX_PIECES) -> None:
        self.checkpoint = checkpoint
        self.max_pieces = max_pieces
        self._draft = LazyDraft(checkpoint.model)

    @property
    def config(self) -> ModelConfig:
        return self.checkpoint.model.config

    @property
    def tokenizer(self) -> Tokenizer:
        """The source's, which is the target's too where both languages share a vocabulary."""
        return self.checkpoint.tokenizer

    @property
    def target_tokenizer(self) -> Tokenizer:
        return self.checkpoint.target_tokenizer

    @property
    def languages(self) -> tuple[str, str]:
        """ISO 639 codes of source and target, each "" where none is named: words are found by their rules."""
        about = self.checkpoint.about
        source, target = about.source_language, about.target_language
        return source.code if source else "", target.code if target else ""

    def prepare(self, text: str, what: str = "The sentence") -> Source:
        """Cleans and encodes a text.

        Raises:
            EmptyInput: nothing is left of it.
            InputError: it has more characters or pieces than are allowed, or symbols that this tokenizer has not.
        """
        return prepare_source(self.tokenizer, text, self.max_pieces, what)

    def find(
        self,
        source: Source,
        decoding: DecodingConfig,
        prefix: str | Sequence[int] = (),
        interventions: Interventions = (),
        on_text: Callable[[str], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> Translation:
        """Searches for a translation of one sentence by the fastest exact path; see `Translator.translate`."""
        check_model(self.checkpoint.model)
        begun = self.beginning(prefix, source, decoding)
        if on_text is None and not begun and self._drafts(decoding, interventions):
            exact = ForcedPass(self.checkpoint.model, source.ids, keep=False)
            return self._search(source, decoding, exact, cancelled=cancelled)
        return self._search(source, decoding, None, interventions, on_text, cancelled, begun)

    def beginning(self, prefix: str | Sequence[int], source: Source, decoding: DecodingConfig) -> tuple[int, ...]:
        """The ids that a translation of the source has to begin with, of a text or as given.

        Raises:
            InputError: no translation can begin so.
        """
        ids = self._prepare_target(prefix, "The beginning")[:-1] if isinstance(prefix, str) else prefix
        return checked_beginning(ids, self.config.target_vocabulary, length_limit(source.ids, decoding))

    def translation(
        self, source: Source, found: Sequence[Decoded], decoding: DecodingConfig, prefix: tuple[int, ...] = ()
    ) -> Translation:
        """The results of a search, with their text."""
        return Translation(source, self.target_tokenizer.decode(found[0].ids), tuple(found), decoding, prefix)

    def _drafts(self, decoding: DecodingConfig, interventions: Interventions) -> bool:
        """Whether a draft serves: one path, the most probable one, of the model as it is."""
        plain = decoding.strategy == "greedy" and decoding.n_best == 1 and not interventions
        return plain and can_draft(self.checkpoint.model)

    def _search(
        self,
        source: Source,
        decoding: DecodingConfig,
        exact: ForcedPass | None,
        interventions: Interventions = (),
        on_text: Callable[[str], None] | None = None,
        cancelled: threading.Event | None = None,
        prefix: tuple[int, ...] = (),
    ) -> Translation:
        """Searches; with an `exact` pass the source is not encoded again, and by a draft if that serves."""
        if exact is not None and self._drafts(decoding, interventions):
            limit = length_limit(source.ids, decoding)
            path = drafted_search(self._draft.get(), exact, limit, decoding.alternatives, cancelled)
            results = [path.decoded(decoding.length_penalty)]
        else:
            results = decode(
                self.checkpoint.model,
                [source.ids],
                # The recorded pass tells the alternatives of a single path, for all its steps at once.
                decoding if decoding.strategy == "beam" else replace(decoding, alternatives=0),
                interventions=interventions,
                on_step=None if on_text is None else lambda ids: on_text(self.target_tokenizer.decode(ids[0])),
                cancelled=cancelled,
                prefix=prefix,
                memory=None if exact is None else exact.memory,
            )[0]
        return self.translation(source, results, decoding, prefix)

    def record_one(
        self,
        source: Source,
        target: str | Sequence[int] | None,
        decoding: DecodingConfig,
        interventions: Interventions = (),
    ) -> TranslationTrace:
        """The trace of one sentence's translation, or of its `target`; see `Translator.trace`."""
        wanted = None if target is None else self._target_ids(target, source, decoding)
        check_model(self.checkpoint.model)
        exact = ForcedPass(self.checkpoint.model, source.ids, interventions, keep=True)
        if wanted is None:
            return self._record(self._search(source, decoding, exact, interventions), 0, exact)
        return record(
            (self.tokenizer, self.target_tokenizer),
            self.checkpoint.id,
            source,
            exact,
            wanted,
            "forced",
            decoding.alternatives,
            languages=self.languages,
        )

    def _target_ids(self, target: str | Sequence[int], source: Source, decoding: DecodingConfig) -> tuple[int, ...]:
        """`pieces </s>` of a typed text or of given ids. Raises InputError where that is no translation.

        A typed text is held to `max_pieces`; ids may be as many as the model itself may write, so that whatever a
        search finds can be looked at.
        """
        if isinstance(target, str):
            return self._prepare_target(target, "The translation")
        limit = max(self.max_pieces, length_limit(source.ids, decoding))
        return checked_target(target, self.config.target_vocabulary, limit)

    def _prepare_target(self, text: str, what: str) -> tuple[int, ...]:
        """`pieces </s>` of a text in the target's language."""
        return prepare_source(self.target_tokenizer, text, self.max_pieces, what).ids[1:]

    def ranks(self, text: str, target: str | Sequence[int], decoding: DecodingConfig | None = None) -> tuple[int, ...]:
        """The place of each id of `target` (as in `Translator.trace`, with </s>) among all that the model might write.

        1 is the most probable one. `decoding` says how long ids may be, as in `Translator.trace`.

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
        """The distribution that sampling draws from at each step of `target` (as in `Translator.trace`; </s> included).

        `asked` has the ids whose shares are wanted, for each step.

        Raises:
            InputError: the text or the target can't be used.
        """
        source = self.prepare(text)
        wanted = self._target_ids(target, source, decoding)
        check_model(self.checkpoint.model)
        return ForcedPass(self.checkpoint.model, source.ids, keep=False).drawn_from(wanted, asked, decoding)

    def replay(self, translation: Translation, rank: int = 0, interventions: Interventions = ()) -> TranslationTrace:
        """Records what stands behind a translation that was found; `rank` chooses among its n-best.

        A translation that the length limit cut off is recorded with the </s> that it did not reach as its last step.
        """
        check_model(self.checkpoint.model)
        exact = ForcedPass(self.checkpoint.model, translation.source.ids, interventions, keep=True)
        return self._record(translation, rank, exact)

    def _record(self, translation: Translation, rank: int, exact: ForcedPass) -> TranslationTrace:
        found = translation.n_best[rank]
        ids = found.ids if found.finished else (*found.ids, EOS_ID)
        decoding = translation.decoding
        return record(
            (self.tokenizer, self.target_tokenizer),
            self.checkpoint.id,
            translation.source,
            exact,
            ids,
            decoding.strategy,
            decoding.alternatives,
            beam=[step.hypotheses for step in found.steps] if decoding.strategy == "beam" else (),
            length_penalty=decoding.length_penalty,
            languages=self.languages,
        )
