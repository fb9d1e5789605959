"""The homograph set that ships: enough words, senses and sentences, some held out, the right French in each."""

import re
from collections import Counter

import pytest

from model_core.data.corpus import Homograph, read_homographs
from model_core.training.evaluation import read_senses, sense_accuracy, shows_sense
from model_core.training.translation_task import HOMOGRAPHS, homograph_split


@pytest.fixture(scope="module")
def homographs() -> list[Homograph]:
    return read_homographs(HOMOGRAPHS)


def test_there_are_24_words_of_two_senses_or_more(homographs: list[Homograph]) -> None:
    senses = {(homograph.word, homograph.sense) for homograph in homographs}
    words = Counter(word for word, _ in senses)
    assert len(words) >= 24 and min(words.values()) >= 2
    wanted = {"bank", "spring", "light", "bat", "match", "ring", "watch", "fly", "right", "left", "bear", "lie"}
    assert wanted | {"train", "it"} <= set(words)


def test_every_sense_has_25_different_pairs_and_five_of_them_or_more_are_held_out(homographs: list[Homograph]) -> None:
    """At most a quarter is; a sense that is hard to learn has more training sentences, so a smaller share held out."""
    sizes = Counter((homograph.word, homograph.sense) for homograph in homographs)
    held_out = Counter((homograph.word, homograph.sense) for homograph in homographs if homograph.split == "test")
    assert min(sizes.values()) >= 25
    for sense, size in sizes.items():
        assert 5 <= held_out[sense] <= size / 4, sense
    assert len({homograph.source for homograph in homographs}) == len(homographs)
    assert len(homograph_split("train")) + len(homograph_split("test")) == len(homographs)


def bare(sentence: str) -> str:
    return re.sub(r"\W+", " ", sentence.lower()).strip()


def test_no_held_out_sentence_is_a_training_sentence_in_another_spelling() -> None:
    trained = homograph_split("train")
    sources, targets = {bare(h.source) for h in trained}, {bare(h.target) for h in trained}
    twice = [h.source for h in homograph_split("test") if bare(h.source) in sources or bare(h.target) in targets]
    assert twice == []


def test_every_french_sentence_shows_its_sense_and_no_other(homographs: list[Homograph]) -> None:
    senses = read_senses()
    assert {(h.word, h.sense) for h in homographs} == {(word, sense) for word in senses for sense in senses[word]}
    wrong = [h for h in homographs if not shows_sense(h.target, h.word, h.sense, senses)]
    assert wrong == []
    right = sense_accuracy([h.target for h in homographs], homographs)
    assert all(shown == total for shown, total in right.values())
    assert sum(total for _, total in right.values()) == len(homographs)


def test_every_english_sentence_has_its_word(homographs: list[Homograph]) -> None:
    """In a form that begins like it ("flies" and "flew" of "fly", "lay" of "lie")."""
    irregular = {"fly": "fl", "lie": "l", "ring": "r", "bear": "b", "mean": "mean", "leave": "left", "change": "chang"}
    missing = [
        h.source
        for h in homographs
        if not re.search(rf"\b{irregular.get(h.word, h.word.rstrip('e'))}", h.source, re.IGNORECASE)
    ]
    assert missing == []


def test_the_sentences_of_a_sense_are_no_template(homographs: list[Homograph]) -> None:
    """Hardly two begin with the same three words."""
    by_sense: dict[tuple[str, str], list[str]] = {}
    for homograph in homographs:
        beginning = " ".join(bare(homograph.source).split()[:3])
        by_sense.setdefault((homograph.word, homograph.sense), []).append(beginning)
    for sense, beginnings in by_sense.items():
        assert len(set(beginnings)) >= 0.7 * len(beginnings), (sense, Counter(beginnings).most_common(3))
