"""One word of the homograph set: its vectors in all its sentences, and what is fitted to them."""

from __future__ import annotations

import numpy as np
import pytest

from model_core.data.homographs import Homograph
from model_core.experiments.meaning import encode_all
from model_core.experiments.meaning_map import SenseSet, fit_sense_set
from model_core.experiments.sense_map import fit_probe, nearest_own_sense, planes_by_layer, told_sense
from model_core.text.words import find_word
from model_core.translator import Translator

TEXTS = {
    ("season", "train"): ("In spring it rains.", "Birds sing in spring.", "Spring is here."),
    ("season", "test"): ("It was spring.",),
    ("water", "train"): ("The spring is cold.", "Drink from the spring.", "A spring of water."),
    ("water", "test"): ("The spring was dry.",),
}
SET = [Homograph("spring", sense, text, "x", split) for (sense, split), texts in TEXTS.items() for text in texts]
MISSING = Homograph("spring", "water", "No such word.", "x", "train")
OTHER = Homograph("bank", "river", "The bank is wet.", "x", "train")


@pytest.fixture(scope="module")
def fitted(translator: Translator) -> SenseSet:
    return fit_sense_set(translator, "spring", [OTHER, *SET, MISSING])


def test_the_vectors_are_the_words_in_each_sentence(translator: Translator, fitted: SenseSet) -> None:
    encoded = encode_all(translator, [homograph.source for homograph in SET])
    spans = [find_word(one.words, "spring") for one in encoded]
    wanted = np.stack([one.vectors(span) for one, span in zip(encoded, spans, strict=True) if span], axis=1)
    np.testing.assert_allclose(fitted.vectors, wanted, atol=2e-5)
    assert fitted.texts == tuple(homograph.source for homograph in SET)
    assert fitted.held_out == tuple(homograph.split == "test" for homograph in SET)
    assert fitted.unrecognised == 1 and fitted.chance == 0.5


def test_shares_are_those_of_probes_and_centroids(fitted: SenseSet) -> None:
    train = ~np.array(fitted.held_out)
    names = np.array(fitted.senses)
    for layer, vectors in enumerate(fitted.vectors):
        probe = fit_probe(vectors, fitted.senses)
        right = [told == sense for told, sense in zip(told_sense(probe, probe.left_out), fitted.senses, strict=True)]
        assert fitted.told[layer] == np.mean(right)
        blind = fit_probe(vectors[train], names[train].tolist())
        told = told_sense(blind, blind.scores(vectors[~train]))
        assert fitted.held_out_told[layer] == np.mean(np.array(told) == names[~train])
        assert fitted.nearest[layer] == nearest_own_sense(vectors, fitted.senses)
        flat = planes_by_layer(fitted.vectors)[layer].coordinates(vectors)
        assert fitted.nearest_in_plane[layer] == nearest_own_sense(flat, fitted.senses)


def test_a_sentence_of_the_set_is_judged_by_the_probe_without_it(fitted: SenseSet) -> None:
    vector, probe = fitted.vectors[1, 2], fitted.probes[1]
    np.testing.assert_array_equal(fitted.scores(1, vector, fitted.texts[2]), probe.left_out[2])
    np.testing.assert_array_equal(fitted.scores(1, vector, "Another text."), probe.scores(vector))
    places = fitted.places(1, fitted.vectors[1], probe.left_out)
    assert places.shape == (len(SET), 2)
    assert places[:, 1].std() == pytest.approx(1 / 2.5)


def test_a_word_without_sentences_is_told(translator: Translator) -> None:
    with pytest.raises(ValueError, match="no sentence in which “spring”"):
        fit_sense_set(translator, "spring", [OTHER, MISSING])
