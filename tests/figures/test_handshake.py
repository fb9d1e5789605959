"""Packing, words and the handshake, as all components' Python sides share them."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from model_core.trace import Token
from viz.components.colours import of_both_themes
from viz.components.handshake import Agreement, Report, is_whole, read_report, settle, written_in
from viz.components.packing import digest_of, header_of, packed
from viz.components.pieces import continues_word
from viz.theme import DARK, LIGHT


def settled(
    before: Agreement[int] | None, wish: int, report: Report[int] | None = None, *, subject: str = "", late: bool = True
) -> Agreement[int]:
    return settle(before, wish, report, lambda value: min(value, 7), subject=subject, late=late)


def test_a_report_counts_once_and_a_wish_that_the_page_shows_already_is_not_sent() -> None:
    first = settled(None, 9)
    assert (first.chosen, first.sent, first.seen) == (7, 7, None)
    second = settled(first, 7, Report(3, first.token))
    assert (second.chosen, second.sent, second.token) == (3, 7, first.token)
    third = settled(second, 5, Report(3, first.token))
    assert (third.chosen, third.sent) == (5, 5) and third.token != first.token
    assert settled(third, 5, Report(3, first.token)).token == third.token


def test_the_same_value_picked_again_is_another_report() -> None:
    first = settled(None, 1)
    second = settled(first, 1, Report(3, first.token, 1))
    assert settled(second, 5, Report(3, first.token, 2)).chosen == 3


def test_a_late_report_counts_where_it_may() -> None:
    first = settled(None, 1)
    second = settled(first, 2)
    assert settled(second, 2, Report(3, first.token)).chosen == 3
    assert settled(second, 2, Report(3, first.token), late=False).chosen == 2


def test_another_subject_starts_with_the_wish() -> None:
    first = settled(None, 1, subject="a")
    report = Report(3, first.token)
    other = settled(first, 2, report, subject="b")
    assert (other.chosen, other.sent) == (2, 2) and other.token != first.token
    assert settled(other, 2, report, subject="b") == other, "it was seen"


@pytest.mark.parametrize(
    "written", [None, 3, {}, {"token": "a"}, {"token": 5, "value": 1}, {"token": "a", "value": 1, "number": True}]
)
def test_a_report_needs_its_value_and_its_token(written: object) -> None:
    assert read_report({"name": written}, "name", lambda fields: fields.get("value")) is None


def test_a_report_is_read_with_its_number() -> None:
    state = {"name": {"token": "a", "value": 1, "number": 5}}
    assert read_report(state, "name", lambda fields: fields["value"]) == Report(1, "a", 5)
    assert read_report(state, "other", lambda fields: fields["value"]) is None
    assert written_in(None, "name") is None
    assert is_whole(3) and not is_whole(3.0) and not is_whole(True)


def _script() -> None:
    import streamlit as st

    from viz.components.handshake import remembered, settle

    agreement = remembered(
        "key", lambda before, state: settle(before, 1 if before is None else before.chosen + 1, state, int)
    )
    st.text(f"{agreement.chosen}")


def test_the_session_remembers_an_agreement() -> None:
    app = AppTest.from_function(_script).run()
    assert app.text[0].value == "1"
    assert app.run().text[0].value == "2"


def test_a_line_of_json_stands_before_the_body() -> None:
    content = packed({"text": "a\nb", "numbers": (3, 5)}, b"\n\x00")
    assert content == b'{"text":"a\\nb","numbers":[3,5]}\n\n\x00'
    assert header_of(content) == {"text": "a\nb", "numbers": [3, 5]}
    assert digest_of(b"a") != digest_of(b"b") and len(digest_of(b"")) == 16
    with pytest.raises(ValueError):
        header_of(b"no line")


def test_a_token_continues_the_word_of_the_one_before_it() -> None:
    words = (-1, 0, 0, 1, 1, 1, -1, -1)  # -1 is the word of special tokens
    tokens = [Token(5 + place, "a", "a", word, word < 0) for place, word in enumerate(words)]
    wanted = [False, False, True, False, True, True, False, False]
    assert [continues_word(tokens, index) for index in range(len(tokens))] == wanted


def test_colours_of_both_themes() -> None:
    assert of_both_themes(lambda palette: palette.accent) == {"light": LIGHT.accent, "dark": DARK.accent}
