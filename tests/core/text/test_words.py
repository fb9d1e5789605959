"""Words found in pieces, and forms taken for one word."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_core.text.words import base_forms, find_word, shared_words, word_bounds, word_numbers, word_spans
from model_core.trace import Token


def pieces(*spelled: str, language: str = "en") -> tuple[Token, ...]:
    """`<s>`, the pieces as the vocabulary spells them, `</s>`."""
    numbers = word_numbers(spelled, language)
    inner = [
        Token(10 + i, piece, piece.replace("▁", ""), number, False)
        for i, (piece, number) in enumerate(zip(spelled, numbers, strict=True))
    ]
    return (Token(1, "<s>", "<s>", -1, True), *inner, Token(2, "</s>", "</s>", -1, True))


def spans_of(*spelled: str, language: str = "en") -> list[tuple[str, int, int]]:
    return [(s.text, s.start, s.stop) for s in word_spans(pieces(*spelled, language=language))]


def test_a_word_is_its_pieces_without_punctuation() -> None:
    assert spans_of("▁The", "▁ba", "nk", "s", ",", "▁closed", "!") == [("The", 1, 2), ("banks", 2, 5), ("closed", 6, 7)]


def test_english_keeps_apostrophes_and_parts_hyphens() -> None:
    assert spans_of("▁don", "'", "t", "▁river", "-", "bank") == [("don't", 1, 4), ("river", 4, 5), ("bank", 6, 7)]


def test_french_parts_elisions_and_keeps_hyphens() -> None:
    assert spans_of("▁l", "'", "eau", "▁chau", "ve", "-", "souris", language="fr") == [
        ("l'", 1, 3),
        ("eau", 3, 4),
        ("chauve-souris", 4, 8),
    ]


def test_bytes_of_a_letter_belong_to_one_word() -> None:
    assert spans_of("▁", "<0xC3>", "<0xA9>", "t", "<0xC3>", "<0xA9>", "▁a") == [("été", 2, 7), ("a", 7, 8)]


def test_each_character_of_a_script_without_blanks_is_a_word() -> None:
    bytes_of = [f"<0x{byte:02X}>" for byte in "你好".encode()]
    assert spans_of("▁", *bytes_of, "▁a") == [("你", 2, 5), ("好", 5, 8), ("a", 8, 9)]


@pytest.mark.parametrize("word", ["हिन्दी", "q̃e", "שָׁלוֹם", "தமிழ்", "می\u200cخواهم"])
def test_combining_marks_belong_to_their_word(word: str) -> None:
    """Vowel signs, viramas, accents that no letter has built in, points; also where a piece begins with one."""
    assert spans_of("▁" + word, "▁a") == [(word, 1, 2), ("a", 2, 3)]
    assert spans_of("▁", *word, "!") == [(word, 2, 2 + len(word))]
    assert spans_of("▁l", "'", word, language="fr") == [("l'", 1, 3), (word, 3, 4)]


def test_a_mark_alone_is_no_word() -> None:
    assert spans_of("▁\u0301", "▁❤️", "▁a") == [("a", 3, 4)]


def test_broken_bytes_and_no_words_do_no_harm() -> None:
    assert spans_of("▁a", "<0xE4>", "▁b") == [("a", 1, 2), ("b", 3, 4)]
    assert spans_of("▁", "!", "?") == []
    assert word_spans(()) == []


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("I don't know: 3.14, O’Neill’s.", "en", "I|don't|know|:|3.14|,|O’Neill’s|."),
        ("river-bank... (really?!)", "en", "river|-|bank|...|(|really|?|!|)"),
        ("L'eau d'aujourd'hui", "fr-CA", "L'|eau|d'|aujourd'hui"),
        ("Jusqu’à quelqu'un, chauve-souris !", "fr", "Jusqu’|à|quelqu'un|,|chauve-souris|!"),
        ("l'eau chauve-souris", "", "l'eau|chauve|-|souris"),
        ("你好，世界 a", "zh", "你|好|，|世|界|a"),
        ("コーヒーを飲む", "ja", "コー|ヒー|を|飲|む"),
        ("ไทยนี้", "th", "ไ|ท|ย|นี้"),
        ("한국어 글", "ko", "한국어|글"),
        ("👩\u200d🔬🇫🇷❤️ <b>$x^2$", "", "👩\u200d🔬|🇫🇷|❤️|<|b|>|$|x|^|2|$"),
        ("a_b \udce4\udcbd", "", "a|_|b|\udce4\udcbd"),
        ("", "en", ""),
    ],
)
def test_words_and_marks_follow_the_language_and_the_script(text: str, language: str, words: str) -> None:
    assert [text[start:end] for start, end in word_bounds(text, language)] == (words.split("|") if words else [])


def test_a_segmenter_finds_the_words_of_a_run_without_blanks() -> None:
    def in_pairs(run: str) -> list[str]:
        return [run[i : i + 2] for i in range(0, len(run), 2)]

    text = "ab 你好世界，我x"
    words = [text[start:end] for start, end in word_bounds(text, "zh", in_pairs)]
    assert words == ["ab", "你好", "世界", "，", "我", "x"]
    assert word_numbers(["▁你", "好世", "界"], "zh", in_pairs) == [0, 0, 1], "a piece of two words belongs to the first"
    with pytest.raises(ValueError, match=r"cut '你好世界' into \['你好'\], which is not the same text"):
        word_bounds(text, "zh", lambda run: [run[:2]])


def test_blanks_belong_to_the_word_after_them_and_special_tokens_end_a_word() -> None:
    assert word_numbers(["▁", "▁a", "b", None, "c", "▁", "▁", None, "▁"]) == [0, 0, 0, -1, 1, 2, 2, -1, 3]
    assert word_numbers([]) == []


def test_a_sentence_numbered_by_blanks_alone_still_has_its_words_without_marks() -> None:
    """So did an earlier version, whose saved traces keep their numbers."""
    numbered = [replace(token, word=i // 2) for i, token in enumerate(pieces("▁bank", ",", "▁l'", "eau")[1:-1])]
    assert [(span.text, span.start, span.stop) for span in word_spans(tuple(numbered))] == [
        ("bank", 0, 1),
        ("l'eau", 2, 4),
    ]


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
