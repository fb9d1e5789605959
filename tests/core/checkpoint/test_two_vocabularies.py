"""A checkpoint whose two languages have a vocabulary each: saved, loaded, translated with, recorded, and damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_core.building import make_model
from model_core.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from model_core.config import ModelConfig
from model_core.text.tokenizer import word_tokenizer
from model_core.trace import TranslationTrace
from model_core.translator import Translator
from tests.small_models import randomise

SOURCE_WORDS = ("one", "two", "three", "four", "five")
TARGET_WORDS = ("yi", "er", "san", "si", "wu", "liu", "qi")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = make_model(ModelConfig(9, 11, 2, 12, 7, 3, sharing="output"), seed=1).eval()
    randomise(model, 3, 2.0)
    source, target = word_tokenizer(SOURCE_WORDS), word_tokenizer(TARGET_WORDS)
    save_checkpoint(tmp_path / "two", model, source, name="two", card="# two", target_tokenizer=target)
    return tmp_path / "two"


def test_each_language_has_its_own_pieces(folder: Path, tmp_path: Path) -> None:
    translator = Translator.load(folder)
    assert (translator.tokenizer.vocabulary_size, translator.target_tokenizer.vocabulary_size) == (9, 11)
    assert "9 + 11 pieces" in repr(translator.checkpoint)
    trace = translator.trace("one two five")
    assert [token.text for token in trace.source_tokens] == ["<s>", "one", "two", "five", "</s>"]
    assert set(trace.target_text.split()) <= set(TARGET_WORDS)
    assert str(translator.translate("one two five")) == trace.target_text
    trace.save(tmp_path / "two.safetensors")
    again = TranslationTrace.load(tmp_path / "two.safetensors")
    assert again.predicted_tokens == trace.predicted_tokens and again.pieces == trace.pieces


def test_typed_text_is_read_in_its_own_language(folder: Path) -> None:
    translator = Translator.load(folder)
    assert translator.trace("one two", target="san si").target_text == "san si"
    assert translator.translate("one two", prefix="qi").text.split()[0] == "qi"
    with pytest.raises(ValueError, match="does not know 'one'"):
        translator.trace("one two", target="one")


def test_a_target_tokenizer_of_another_size_is_named(folder: Path, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(folder)
    other = word_tokenizer(TARGET_WORDS[:3])
    save_checkpoint(tmp_path / "x", checkpoint.model, checkpoint.tokenizer, name="x", card="#", target_tokenizer=other)
    with pytest.raises(CheckpointError, match=r"9 pieces, and target_tokenizer\.model 7, but config"):
        load_checkpoint(tmp_path / "x")


def test_a_damaged_target_tokenizer_is_named(folder: Path) -> None:
    (folder / "target_tokenizer.model").write_bytes(b"no tokenizer")
    with pytest.raises(CheckpointError, match=r"target_tokenizer\.model"):
        load_checkpoint(folder)
