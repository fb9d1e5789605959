"""Joined and varied pairs: nothing lost, nothing twice, sources only, and the same again from the same seed."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_core.data.corpus import Pair
from model_core.training.augment import (
    augment_epoch,
    drop_final_punctuation,
    join_pairs,
    lower_first_letter,
    swap_contractions,
    vary,
)


def numbered(count: int) -> list[Pair]:
    return [Pair(f"S{i}", f"T{i}") for i in range(count)]


def test_join_puts_spaces_between() -> None:
    pairs = [Pair("Hi.", "Salut."), Pair("How are you?", "Ça va ?"), Pair("Go.", "Va.")]
    assert join_pairs(pairs) == Pair("Hi. How are you? Go.", "Salut. Ça va ? Va.")


@pytest.mark.parametrize(
    ("sentence", "swapped"),
    [
        ("I do not know.", "I don't know."),
        ("I don't know.", "I do not know."),
        ("I am here.", "I'm here."),
        ("I'm here.", "I am here."),
        ("We cannot go.", "We can't go."),
        ("Can't go.", "Cannot go."),
        ("You will not go.", "You won't go."),
        ("Won't go.", "Will not go."),
        ("It is late.", "It's late."),
        ("Where is the station?", "Where's the station?"),
        ("They're old.", "They are old."),
        ("I've seen it.", "I have seen it."),
        ("He is not here.", "He isn't here."),
        ("Do not touch it.", "Don't touch it."),
        # These have no other form.
        ("I have a dog.", "I have a dog."),
        ("Yes, I am.", "Yes, I am."),
        ("Don't you know?", "Don't you know?"),
        ("It's been a year.", "It's been a year."),
        ("Tom's dog is old.", "Tom's dog is old."),
        ("An audio note.", "An audio note."),
    ],
)
def test_swap_contractions(sentence: str, swapped: str) -> None:
    assert swap_contractions(sentence) == swapped


@pytest.mark.parametrize(
    ("sentence", "lower"), [("How?", "how?"), ("TV is on.", "TV is on."), ("Éric", "éric"), ("I am", "i am"), ("", "")]
)
def test_lower_first_letter(sentence: str, lower: str) -> None:
    assert lower_first_letter(sentence) == lower


@pytest.mark.parametrize(
    ("sentence", "bare"), [("How are you?", "How are you"), ("Wait...", "Wait"), ("Ça va ?", "Ça va"), ("?!", "?!")]
)
def test_drop_final_punctuation(sentence: str, bare: str) -> None:
    assert drop_final_punctuation(sentence) == bare


def test_vary_reaches_every_form_and_leaves_the_target() -> None:
    rng = random.Random(3)
    varied = {vary(Pair("I'm here.", "Je suis là."), rng) for _ in range(200)}
    sources = ["I'm here.", "i'm here.", "I'm here", "i'm here", "I am here.", "i am here.", "I am here", "i am here"]
    assert varied == {Pair(source, "Je suis là.") for source in sources}


@given(st.integers(0, 200), st.integers(), st.sampled_from([0.0, 0.15, 0.7, 1.0]))
def test_every_pair_stands_in_one_example(count: int, seed: int, join_share: float) -> None:
    examples = augment_epoch(numbered(count), random.Random(seed), join_share, vary_share=0)
    assert Counter(word for e in examples for word in e.source.split()) == Counter(f"S{i}" for i in range(count))
    for example in examples:
        assert example.target.split() == [word.replace("S", "T") for word in example.source.split()]
        assert 1 <= len(example.source.split()) <= 3


@pytest.mark.parametrize(("join_share", "vary_share"), [(0.15, 0.1), (0.4, 0.3)])
def test_shares_are_of_the_examples(join_share: float, vary_share: float) -> None:
    examples = augment_epoch(numbered(30_011), random.Random(5), join_share, vary_share)
    sizes = Counter(len(e.source.split()) for e in examples)
    # Five standard deviations of the share among some 20,000 examples are below 0.02.
    assert (sizes[2] + sizes[3]) / len(examples) == pytest.approx(join_share, abs=0.02)
    assert sizes[2] / (sizes[2] + sizes[3]) == pytest.approx(0.5, abs=0.05)
    # Of "S1" only the capital can vary, which happens to half of the varied.
    assert sum(e.source[0] == "s" for e in examples) / len(examples) == pytest.approx(vary_share / 2, abs=0.02)
    assert all(e.target.startswith("T") for e in examples)


def test_an_epoch_is_shuffled_and_depends_on_the_seed_alone() -> None:
    pairs = numbered(101)
    first = augment_epoch(pairs, random.Random(7))
    assert first == augment_epoch(pairs, random.Random(7))
    assert first != augment_epoch(pairs, random.Random(8))
    assert pairs == numbered(101)
    assert augment_epoch(pairs, random.Random(7), 0, 0) != pairs
    assert Counter(augment_epoch(pairs, random.Random(7), 0, 0)) == Counter(pairs)
