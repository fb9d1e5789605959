"""Words found in pieces, and forms taken for one word."""

from __future__ import annotations

import pytest

from model_core.text.words import base_forms, find_word, shared_words, word_spans
from model_core.trace import Token


def pieces(*spelled: str) -> tuple[Token, ...]:
    """`<s>`, the pieces as the vocabulary spells them, `</s>`."""
    inner = [Token(10 + i, piece, piece.replace("▁", ""), 0, False) for i, piece in enumerate(spelled)]
    return (Token(1, "<s>", "<s>", -1, True), *inner, Token(2, "</s>", "</s>", -1, True))


def told(*spelled: str, language: str = "en") -> list[tuple[str, int, int]]:
    return [(s.text, s.start, s.stop) for s in word_spans(pieces(*spelled), "fr" if language == "fr" else "en")]


def test_a_word_is_its_pieces_without_punctuation() -> None:
    assert told("▁The", "▁ba", "nk", "s", ",", "▁closed", "!") == [("The", 1, 2), ("banks", 2, 5), ("closed", 6, 7)]


def test_english_keeps_apostrophes_and_parts_hyphens() -> None:
    assert told("▁don", "'", "t", "▁river", "-", "bank") == [("don't", 1, 4), ("river", 4, 5), ("bank", 6, 7)]


def test_french_parts_apostrophes_and_keeps_hyphens() -> None:
    assert told("▁l", "'", "eau", "▁chau", "ve", "-", "souris", language="fr") == [
        ("l", 1, 2),
        ("eau", 3, 4),
        ("chauve-souris", 4, 8),
    ]


def test_bytes_of_a_letter_belong_to_one_word() -> None:
    assert told("▁", "<0xE4>", "<0xBD>", "<0xA0>", "<0xE5>", "<0xA5>", "<0xBD>", "▁a") == [("你好", 2, 8), ("a", 8, 9)]


@pytest.mark.parametrize("word", ["हिन्दी", "ภาษาไทย", "q̃e", "שָׁלוֹם", "தமிழ்"])
def test_combining_marks_belong_to_their_word(word: str) -> None:
    """Vowel signs, viramas, accents that no letter has built in, points; also where a piece begins with one."""
    assert told("▁" + word, "▁a") == [(word, 1, 2), ("a", 2, 3)]
    assert told("▁", *word, "!") == [(word, 2, 2 + len(word))]
    assert told("▁l'" + word, language="fr") == [("l", 1, 2), (word, 1, 2)]


def test_a_mark_alone_is_no_word() -> None:
    assert told("▁\u0301", "▁❤️", "▁a") == [("a", 3, 4)]


def test_broken_bytes_and_no_words_do_no_harm() -> None:
    assert told("▁a", "<0xE4>", "▁b") == [("a", 1, 2), ("b", 3, 4)]
    assert told("▁", "!", "?") == []
    assert word_spans(()) == []


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("banks", "bank"), ("Matches", "match"), ("flies", "fly"), ("flew", "fly"), ("lying", "lie"), ("lay", "lie"),
        ("running", "run"), ("changing", "change"), ("changed", "change"), ("lightest", "light"), ("bank's", "bank"),
    ],
)  # fmt: skip
def test_a_form_leads_to_its_word(form: str, base: str) -> None:
    assert base in base_forms(form)


@pytest.mark.parametrize(
    ("word", "other"), [("ring", "r"), ("us", "u"), ("spring", "spr"), ("bed", "b"), ("his", "hi")]
)
def test_a_short_word_is_not_taken_apart(word: str, other: str) -> None:
    assert base_forms(word) == {word}


def test_the_word_itself_is_found_before_its_forms() -> None:
    spans = word_spans(pieces("▁Matches", "▁for", "▁a", "▁match"))
    found, form = find_word(spans, "match"), find_word(spans[:2], "match")
    assert found is not None and found.text == "match"
    assert form is not None and form.text == "Matches"
    assert find_word(spans, "bank") is None


def test_shared_words_are_known_ones_first_then_those_of_most_sentences() -> None:
    sentences = [
        word_spans(pieces("▁the", "▁bank", "▁of", "▁rivers")),
        word_spans(pieces("▁the", "▁river", "▁the", "▁Banks")),
        word_spans(pieces("▁the", "▁sea")),
    ]
    shared = shared_words(sentences, known={"bank"})
    assert list(shared) == ["bank", "the", "river"]
    assert {i: (s.text, s.start) for i, s in shared["bank"].items()} == {0: ("bank", 2), 1: ("Banks", 4)}
    assert [span.start for span in shared["the"].values()] == [1, 1, 1]
    assert list(shared_words(sentences)) == ["the", "river", "bank"]
    assert shared_words(sentences[:1]) == {}
