"""Who decides what the head view shows, and what its Python side refuses."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from model_core.trace.view import view_maps
from tests.small_traces import small_trace
from viz.components.head_view import Shown, head_view
from viz.components.head_view.shown import Memory, fit, read, settle

SIZES = (5, 3, 7)
ASKED = Shown((0, 2), 80, 1, 6, "key")


def report(shown: Shown, token: str) -> dict[str, object]:
    """As the page sends it: lists in place of tuples."""
    return {"shown": {**asdict(shown), "heads": list(shown.heads), "token": token}}


def settled(memory: Memory | None, asked: Shown, reported: object = None, view: str = "a") -> Memory:
    return settle(memory, view, asked, reported, SIZES, alike=False)


def test_a_view_starts_with_what_is_asked() -> None:
    memory = settled(None, ASKED)
    assert memory.shown == memory.told == ASKED


def test_what_a_person_changed_wins_and_is_not_told_back() -> None:
    first = settled(None, ASKED)
    changed = replace(ASKED, heads=(4,), pin=None)
    second = settled(first, ASKED, report(changed, first.token))
    assert second.shown == changed and (second.told, second.token) == (ASKED, first.token)
    assert settled(second, changed, report(changed, first.token)) == second


def test_an_old_report_does_not_hide_what_the_script_asks_for() -> None:
    first = settled(None, ASKED)
    changed = replace(ASKED, mass=45)
    second = settled(first, ASKED, report(changed, first.token))
    elsewhere = replace(changed, query=2)  # another page chose another step
    third = settled(second, elsewhere, report(changed, first.token))
    assert third.shown == third.told == elsewhere and third.token != second.token


def test_another_view_forgets_what_was_reported() -> None:
    first = settled(None, ASKED)
    second = settled(first, Shown((1,)), report(ASKED, first.token), view="b")
    assert second.shown == Shown((1,))
    assert settled(second, Shown((1,)), report(ASKED, first.token), view="b") == second, "an old token is no news"


def test_what_does_not_exist_is_left_out() -> None:
    assert fit(Shown((4, 9, 0, -1), 400, 3, 7, "key"), SIZES, alike=False) == Shown((0, 4), 100)
    assert fit(Shown((), 1, None, 2, "query"), SIZES, alike=False) == Shown((), 5, None, 2, None)
    assert fit(Shown((), 50, None, 2, "query"), (5, 7, 7), alike=True) == Shown((), 50, 2, 2, "query")


@pytest.mark.parametrize(
    "state", [None, {}, {"shown": 3}, {"shown": {"token": "a"}}, {"shown": {"token": 1, "heads": [1], "mass": 5}}]
)
def test_a_report_that_the_page_would_not_send_is_no_report(state: object) -> None:
    assert read(state) == ("", None)


def test_a_whole_site_is_refused() -> None:
    maps = view_maps(small_trace(), "cross")
    with pytest.raises(ValueError, match=r"\[3, 4, 5, 7\]"):
        head_view(maps, Shown((0,)), title="", name="", dark=False, key="x")
