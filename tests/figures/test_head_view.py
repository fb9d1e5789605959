"""Who decides what the head view shows, and what its Python side refuses."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from model_core.trace.view import view_maps
from tests.small_traces import small_trace
from viz.components.handshake import Agreement
from viz.components.head_view import Shown, head_view
from viz.components.head_view.shown import fit_shown, read_shown, settle_shown

SIZES = (5, 3, 7)
ASKED = Shown((0, 2), 80, 1, 6, "key")


def report(shown: Shown, token: str) -> dict[str, object]:
    """As the page sends it: lists in place of tuples."""
    return {"shown": {**asdict(shown), "heads": list(shown.heads), "token": token}}


def settled(memory: Agreement[Shown] | None, asked: Shown, state: object = None, view: str = "a") -> Agreement[Shown]:
    return settle_shown(memory, view, asked, read_shown(state), SIZES, alike=False)


def test_a_view_starts_with_what_is_asked() -> None:
    memory = settled(None, ASKED)
    assert memory.chosen == memory.sent == ASKED


def test_what_a_person_changed_wins_and_is_not_told_back() -> None:
    first = settled(None, ASKED)
    changed = replace(ASKED, heads=(4,), pin=None)
    second = settled(first, ASKED, report(changed, first.token))
    assert second.chosen == changed and (second.sent, second.token) == (ASKED, first.token)
    assert settled(second, changed, report(changed, first.token)) == second


def test_an_old_report_does_not_hide_what_the_script_asks_for() -> None:
    first = settled(None, ASKED)
    changed = replace(ASKED, mass=45)
    second = settled(first, ASKED, report(changed, first.token))
    elsewhere = replace(changed, query=2)  # another page chose another step
    third = settled(second, elsewhere, report(changed, first.token))
    assert third.chosen == third.sent == elsewhere and third.token != second.token


def test_another_view_forgets_what_was_reported() -> None:
    first = settled(None, ASKED)
    second = settled(first, Shown((1,)), report(ASKED, first.token), view="b")
    assert second.chosen == Shown((1,))
    assert settled(second, Shown((1,)), report(ASKED, first.token), view="b") == second, "an old token is no news"


def test_a_change_from_before_the_page_heard_of_the_last_wish_does_not_count() -> None:
    first = settled(None, ASKED)
    elsewhere = replace(ASKED, query=2)
    second = settled(first, elsewhere)
    assert second.token != first.token
    late = settled(second, elsewhere, report(replace(ASKED, heads=(4,)), first.token))
    assert late.chosen == elsewhere and late.token == second.token


def test_what_does_not_exist_is_left_out() -> None:
    assert fit_shown(Shown((4, 9, 0, -1), 400, 3, 7, "key"), SIZES, alike=False) == Shown((0, 4), 100)
    assert fit_shown(Shown((), 1, None, 2, "query"), SIZES, alike=False) == Shown((), 5, None, 2, None)
    assert fit_shown(Shown((), 50, None, 2, "query"), (5, 7, 7), alike=True) == Shown((), 50, 2, 2, "query")


@pytest.mark.parametrize(
    "state", [None, {}, {"shown": 3}, {"shown": {"token": "a"}}, {"shown": {"token": 1, "heads": [1], "mass": 5}}]
)
def test_a_report_that_the_page_would_not_send_is_no_report(state: object) -> None:
    assert read_shown(state) is None


def test_a_whole_site_is_refused() -> None:
    maps = view_maps(small_trace(), "cross")
    with pytest.raises(ValueError, match=r"\[3, 4, 5, 7\]"):
        head_view(maps, Shown((0,)), title="", name="", dark=False, key="x")
