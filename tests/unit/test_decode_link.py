"""Pieces that a person chose, written into a link and read back."""

from __future__ import annotations

import pytest

from viz.panels.decode.link import MOST_IDS, Forced, forced_from, ids_as_query, ids_from


def test_a_forced_piece_stands_behind_what_was_written_before_it() -> None:
    first = Forced().then([12, 55, 7, 91, 2], step=1, id_=300)
    assert first == Forced((12, 300), (1,))
    second = first.then([12, 300, 8, 9, 2], step=3, id_=41)
    assert second == Forced((12, 300, 8, 41), (1, 3))
    assert second.as_query() == "12-300f-8-41f"


def test_forcing_before_or_at_an_earlier_mark_forgets_it() -> None:
    two = Forced((12, 300, 8, 41), (1, 3))
    assert two.then([12, 300, 8, 41, 5, 2], step=3, id_=6) == Forced((12, 300, 8, 6), (1, 3))
    assert two.then([12, 300, 8, 41, 5, 2], step=0, id_=6) == Forced((6,), (0,))


def test_undoing_goes_back_to_the_piece_forced_before() -> None:
    two = Forced((12, 300, 8, 41), (1, 3))
    assert two.undone() == Forced((12, 300), (1,))
    assert two.undone().undone() == Forced()
    assert not two.undone().undone()


@pytest.mark.parametrize("forced", [Forced(), Forced((7,), (0,)), Forced((12, 300, 8, 41), (1, 3))])
def test_a_link_says_what_was_forced(forced: Forced) -> None:
    assert forced_from(forced.as_query()) == forced


def test_what_follows_the_last_forced_piece_is_the_models_own() -> None:
    assert forced_from("12-300f-8-9") == Forced((12, 300), (1,))


@pytest.mark.parametrize(
    "text", ["12-55", "f", "-", "12f-", "12ff", "1234567f", "12f 55", "<b>", "１２f", "-3f", "5f" + "-5" * MOST_IDS]
)
def test_what_is_no_beginning_is_not_taken_for_one(text: str) -> None:
    assert forced_from(text) is None


def test_ids_go_into_a_link_and_come_back() -> None:
    assert ids_from(ids_as_query((12, 55, 2))) == (12, 55, 2)
    for text in ("", "12-", "12f", "a", "1" * 7, "5" + "-5" * MOST_IDS):
        assert ids_from(text) is None
