"""With and without the draft a translator says the same, and records the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import model_core.sentence as translator_module
from model_core.checkpoint import Checkpoint
from model_core.config import DecodingConfig
from model_core.interventions import HeadKnockout
from model_core.trace import SITES, TranslationTrace
from model_core.translator import Cancelled, Translation, Translator
from tests.small_checkpoint import SENTENCES, SHAPE, small_tokenizer
from tests.small_models import draftable_model

SHORT = DecodingConfig(max_length=5)
LONG = "The children are playing in the park, and their mother is reading a book under the old tree. " * 3
REAL = ["How are you?", "I have never seen such a beautiful garden before.", "a", "42 + 17 = 59; naïve 你好!", LONG]


def small_translator(seed: int) -> Translator:
    model = draftable_model(seed, vocabulary=SHAPE.source_vocabulary, spread=6.0)
    return Translator(Checkpoint("small", "small@0", model, small_tokenizer(), {}, {}))


@contextmanager
def drafts_forbidden(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(translator_module, "can_draft", lambda model: False)
        yield


@contextmanager
def drafts_counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    searches: list[object] = []
    search = translator_module.drafted_search

    def counted(*arguments: object, **options: object) -> object:
        searches.append(arguments)
        return search(*arguments, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(translator_module, "can_draft", lambda model: True)  # slow elsewhere, but right
        patch.setattr(translator_module, "drafted_search", counted)
        yield searches


def assert_same_translation(found: Translation, wanted: Translation) -> None:
    assert (found.text, found.source, found.decoding) == (wanted.text, wanted.source, wanted.decoding)
    assert (found.best.ids, found.best.finished) == (wanted.best.ids, wanted.best.finished)
    assert found.best.score == pytest.approx(wanted.best.score, abs=1e-3)


def assert_same_trace(found: TranslationTrace, wanted: TranslationTrace) -> None:
    assert (found.target_text, found.predicted_tokens) == (wanted.target_text, wanted.predicted_tokens)
    assert (found.strategy, found.checkpoint) == (wanted.strategy, wanted.checkpoint)
    assert found.score == pytest.approx(wanted.score, abs=1e-3)
    for site in SITES:
        np.testing.assert_allclose(found.maps(site).weights, wanted.maps(site).weights, atol=1e-5)
    np.testing.assert_allclose(found.decoder_states, wanted.decoder_states, atol=1e-4, rtol=1e-4)
    assert [len(step.alternatives) for step in found.decoding] == [len(step.alternatives) for step in wanted.decoding]


def compare(
    translator: Translator, text: str, decoding: DecodingConfig | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drafts_forbidden(monkeypatch):
        translation, trace = translator.translate(text, decoding), translator.trace(text, decoding=decoding)
    with drafts_counted(monkeypatch) as searches:
        assert_same_translation(translator.translate(text, decoding), translation)
        assert_same_trace(translator.trace(text, decoding=decoding), trace)
    assert len(searches) == 2


@pytest.mark.parametrize("decoding", [None, SHORT, DecodingConfig(alternatives=0)], ids=["plain", "cut", "bare"])
@pytest.mark.parametrize("seed", range(5))
def test_of_a_random_model(seed: int, decoding: DecodingConfig | None, monkeypatch: pytest.MonkeyPatch) -> None:
    translator = small_translator(seed)
    for text in SENTENCES[:3]:
        compare(translator, text, decoding, monkeypatch)


def test_of_the_shipped_model(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    translator = Translator.load(repository / "checkpoints" / "en-fr")
    for text in REAL:
        compare(translator, text, None, monkeypatch)


def test_no_draft_where_weights_are_changed_or_paths_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    translator = small_translator(1)
    with drafts_counted(monkeypatch) as searches:
        translator.translate(SENTENCES[0], interventions=HeadKnockout("cross", 1, 2))
        translator.trace(SENTENCES[0], interventions=HeadKnockout("cross", 1, 2))
        translator.trace(SENTENCES[0], target=SENTENCES[4])
        translator.translate(SENTENCES[0], on_text=lambda text: None)
        for decoding in (DecodingConfig("beam", beam_width=3), DecodingConfig("sample")):
            translator.trace(SENTENCES[0], decoding=decoding)
    assert searches == []


def test_what_a_search_refuses_a_draft_refuses() -> None:
    translator = small_translator(1)
    with pytest.raises(ValueError, match="one translation, not 3"):
        translator.translate(SENTENCES[0], DecodingConfig(n_best=3))
    translator.checkpoint.model.train()
    for ask in (translator.translate, translator.trace):
        with pytest.raises(ValueError, match="training mode"):
            ask(SENTENCES[0])


def test_a_drafted_search_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    stop.set()
    with drafts_counted(monkeypatch) as searches, pytest.raises(Cancelled):
        small_translator(1).translate(SENTENCES[0], cancelled=stop)
    assert len(searches) == 1


def test_new_weights_are_drafted_and_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    translator, other = small_translator(1), small_translator(2)
    with drafts_counted(monkeypatch):
        before = translator.translate(SENTENCES[0])
        translator.checkpoint.model.load_state_dict(other.checkpoint.model.state_dict())
        after, wanted = translator.translate(SENTENCES[0]), other.translate(SENTENCES[0])
    assert after.best.ids == wanted.best.ids != before.best.ids
