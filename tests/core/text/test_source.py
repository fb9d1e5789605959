"""Preparing what somebody typed: what becomes of it, and the sentence that says why it can't be translated."""

import pytest

from model_core.config import BOS_ID, EOS_ID
from model_core.text.source import MAX_CHARACTERS, EmptyInput, InputError, prepare_source
from model_core.text.tokenizer import word_tokenizer
from tests.small_checkpoint import small_tokenizer


def test_a_source_is_cleaned_and_framed() -> None:
    tokenizer = small_tokenizer()
    source = prepare_source(tokenizer, "\tHow  are\x00 you?\n", 11)
    assert (source.text, source.removed) == ("How are you?", 1)
    assert source.ids == (BOS_ID, *tokenizer.encode("How are you?"), EOS_ID)


@pytest.mark.parametrize("text", ["", " \t\n", "\x00\x1b", "\ud800", "\u200b"])
def test_nothing_to_translate_is_an_error_of_its_own(text: str) -> None:
    with pytest.raises(EmptyInput, match=r"^The title is empty: type a few words\.$"):
        prepare_source(small_tokenizer(), text, 11, "The title")


def test_the_limit_of_pieces_is_kept_and_told() -> None:
    tokenizer = small_tokenizer()
    text = "How are you? " * 5
    pieces = len(tokenizer.encode(text.strip()))
    assert len(prepare_source(tokenizer, text, pieces).ids) == pieces + 2
    with pytest.raises(InputError, match=rf"^The sentence has {pieces} pieces; at most {pieces - 1} are allowed"):
        prepare_source(tokenizer, text, pieces - 1)


def test_a_very_long_text_is_not_even_encoded() -> None:
    class NeverAsked:
        def encode(self, text: str) -> list[int]:
            raise AssertionError("encoded")

    with pytest.raises(InputError, match=r"has 20,001 characters; at most 20,000 are read"):
        prepare_source(NeverAsked(), "a" * (MAX_CHARACTERS + 1), 7)  # type: ignore[arg-type]


def test_a_word_that_the_tokenizer_has_not_is_named() -> None:
    with pytest.raises(InputError, match="'z'"):
        prepare_source(word_tokenizer(["a", "b"]), "a z", 7)


@pytest.mark.parametrize(
    "text",
    ['<b>bold</b> & "q"', "$x^2$", "![a](http://127.0.0.1:1/x.png)", "שלום", "你好", "🙂" * 30, "</s> <pad>", "a▁b"],
)
def test_what_people_paste_goes_through_as_it_is(text: str) -> None:
    source = prepare_source(small_tokenizer(), text, 200)
    assert source.text == text and source.removed == 0
    assert small_tokenizer().decode(source.ids) == text
