"""Sentences encoded together, a word's vectors, and the cosines between them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model_core.data.homographs import Homograph, read_homographs
from model_core.experiments.cosines import cosines
from model_core.experiments.meaning import (
    baseline,
    cosine,
    cosine_matrix,
    encode_all,
    unrelated_sentences,
    word_similarity,
)
from model_core.text.words import find_word, word_spans
from model_core.translator import EmptyInput, Translator
from tests.small_checkpoint import SENTENCES

TEXTS = ("How old are you?", "Where is the station?", "How are you?")


def test_a_batch_holds_what_each_sentence_has_alone(translator: Translator) -> None:
    for text, encoded in zip(TEXTS, encode_all(translator, TEXTS), strict=True):
        trace = translator.trace(text, target="x")
        assert encoded.text == text
        assert encoded.tokens == trace.source_tokens
        np.testing.assert_allclose(encoded.states, trace.encoder_states, atol=2e-5)
        assert encoded.embedding.shape == encoded.states.shape[1:]
    assert encode_all(translator, []) == []
    with pytest.raises(EmptyInput):
        encode_all(translator, ["How are you?", " "])


def test_a_model_in_training_mode_is_refused(translator: Translator) -> None:
    translator.checkpoint.model.train()
    try:
        with pytest.raises(ValueError, match=r"training mode.*model\.eval"):
            encode_all(translator, TEXTS)
    finally:
        translator.checkpoint.model.eval()


def test_the_embedding_is_layer_0_without_positions(translator: Translator) -> None:
    first, _, last = encode_all(translator, TEXTS)
    positions = translator.checkpoint.model.positions
    shifts = first.states[0] - first.embedding, last.states[0] - last.embedding
    np.testing.assert_allclose(shifts[0][: len(shifts[1])], shifts[1], atol=1e-5)
    assert positions is not None and np.abs(shifts[0]).max() > 0.5


def test_a_word_of_several_pieces_is_their_mean(translator: Translator) -> None:
    (encoded,) = encode_all(translator, ["Where is the statiom?"])
    span = encoded.words[-1]
    assert span.text == "statiom" and len(span) > 1
    wanted = sum(encoded.states[:, i] for i in range(span.start, span.stop)) / len(span)
    np.testing.assert_allclose(encoded.vectors(span), wanted, atol=1e-6)
    assert encoded.vectors(span).shape == (translator.config.layers + 1, translator.config.d_model)
    np.testing.assert_allclose(encoded.own_embedding(span), encoded.embedding[span.pieces].mean(axis=0))


def test_similarity_is_the_cosine_layer_by_layer(translator: Translator) -> None:
    encoded = encode_all(translator, TEXTS)
    chosen = [one for one in encoded if find_word(one.words, "you") is not None]
    spans = [span for one in chosen if (span := find_word(one.words, "you")) is not None]
    assert len(spans) == 2
    alike = word_similarity(chosen, spans)
    layers = translator.config.layers + 1
    assert alike.across.shape == (layers, 2, 2) and alike.own.shape == (layers, 2)
    for layer in range(layers):
        a, b = (one.vectors(span)[layer] for one, span in zip(chosen, spans, strict=True))
        assert alike.across[layer, 0, 1] == pytest.approx(cosine(a, b), abs=1e-5)
        assert alike.own[layer, 1] == pytest.approx(cosine(b, chosen[1].own_embedding(spans[1])), abs=1e-5)
        np.testing.assert_allclose(np.diagonal(alike.across[layer]), 1, atol=1e-6)


def test_cosines_by_hand() -> None:
    vectors = np.array([[1.0, 0], [1, 1], [0, -3], [0, 0]])
    half = 2**-0.5
    np.testing.assert_allclose(
        cosine_matrix(vectors), [[1, half, 0, 0], [half, 1, -half, 0], [0, -half, 1, 0], [0, 0, 0, 0]], atol=1e-12
    )
    assert cosine(vectors[1], vectors[2]) == pytest.approx(-half)
    assert cosine(vectors[1], vectors[3]) == 0, "nothing is alike to zeros"
    np.testing.assert_allclose(cosines(vectors, vectors[::-1]), [0, -half, -half, 0], atol=1e-7)
    assert cosine_matrix(np.ones((3, 5, 7))).shape == (3, 5, 5)


def homographs() -> list[Homograph]:
    rows = [("old", "a", SENTENCES[1]), ("speak", "b", SENTENCES[2]), ("station", "c", SENTENCES[3])]
    return [
        *(Homograph(word, sense, text, "x", "test") for word, sense, text in rows),
        Homograph("station", "c", SENTENCES[0], "x", "test"),
        Homograph("you", "d", SENTENCES[0], "x", "train"),
    ]


def test_unrelated_sentences_are_one_held_out_sentence_a_sense() -> None:
    assert [homograph.sense for homograph in unrelated_sentences(homographs())] == ["a", "b", "c"]


def test_the_baseline_compares_different_words_only(translator: Translator) -> None:
    chosen = unrelated_sentences(homographs())
    twice = [*chosen, Homograph("old", "e", "How old are you?", "x", "test")]
    found = baseline(translator, twice)
    encoded = encode_all(translator, [homograph.source for homograph in twice])
    assert found.words.shape == (translator.config.layers + 1, 5)  # 6 pairs, less old and old
    assert found.sentences[0] == pytest.approx(cosine(encoded[0].mean, encoded[1].mean), abs=1e-6)
    spans = [span for one, h in zip(encoded, twice, strict=True) if (span := find_word(one.words, h.word)) is not None]
    wanted = cosine(encoded[0].vectors(spans[0])[2], encoded[1].vectors(spans[1])[2])
    assert found.words[2, 0] == pytest.approx(wanted, abs=1e-5)
    with pytest.raises(ValueError, match="no pair of different words"):
        baseline(translator, chosen[:1])


def test_every_word_of_the_set_is_found_in_its_sentences() -> None:
    """All but a few: forms that no rule leads back."""
    translator = Translator.load(Path(__file__).parents[3] / "checkpoints" / "en-fr")
    every = read_homographs()
    missed = [
        (homograph.word, homograph.source)
        for homograph in every
        if find_word(word_spans(translator.tokenizer.tokens(translator.prepare(homograph.source).ids)), homograph.word)
        is None
    ]
    assert len(missed) <= len(every) // 100, missed
