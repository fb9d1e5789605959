"""Values with a spelling of their own: heads, cells of masks, pieces that a person chose."""

from __future__ import annotations

import pytest

from model_core.experiments.masks import MaskCell
from viz.link_values import MOST_IDS, Cells, ForcedPieces, ForcedStart, Heads, HeadSet, Ids, TurnedCells, spell_cells

CELLS = frozenset({MaskCell("cross", 2, 1), MaskCell("decoder_self", 4, 0, 2), MaskCell("encoder_self", 10, 6, 0, 7)})
SPELLED = "cross-3-2.decoder_self-5-1-3.encoder_self-11-7-1-8"


def test_a_forced_piece_stands_behind_what_was_written_before_it() -> None:
    first = ForcedStart().then([12, 55, 7, 91, 2], step=1, id_=300)
    assert first == ForcedStart((12, 300), (1,))
    second = first.then([12, 300, 8, 9, 2], step=3, id_=41)
    assert second == ForcedStart((12, 300, 8, 41), (1, 3))
    assert ForcedPieces().spell(second) == ["12-300f-8-41f"]


def test_forcing_before_or_at_an_earlier_mark_forgets_it() -> None:
    two = ForcedStart((12, 300, 8, 41), (1, 3))
    assert two.then([12, 300, 8, 41, 5, 2], step=3, id_=6) == ForcedStart((12, 300, 8, 6), (1, 3))
    assert two.then([12, 300, 8, 41, 5, 2], step=0, id_=6) == ForcedStart((6,), (0,))


def test_undoing_goes_back_to_the_piece_forced_before() -> None:
    two = ForcedStart((12, 300, 8, 41), (1, 3))
    assert two.undone() == ForcedStart((12, 300), (1,))
    assert two.undone().undone() == ForcedStart()
    assert not two.undone().undone()


@pytest.mark.parametrize("start", [ForcedStart(), ForcedStart((7,), (0,)), ForcedStart((12, 300, 8, 41), (1, 3))])
def test_a_link_says_what_was_forced(start: ForcedStart) -> None:
    assert ForcedPieces().read(ForcedPieces().spell(start)) == start


def test_what_follows_the_last_forced_piece_is_the_models_own() -> None:
    assert ForcedPieces().parse("12-300f-8-9") == ForcedStart((12, 300), (1,))


@pytest.mark.parametrize(
    "text", ["12-55", "f", "-", "12f-", "12ff", "1234567f", "12f 55", "<b>", "１２f", "-3f", "5f" + "-5" * MOST_IDS]
)
def test_what_is_no_beginning_is_not_taken_for_one(text: str) -> None:
    assert ForcedPieces().parse(text) is None


def test_ids_go_into_a_link_and_come_back() -> None:
    assert Ids().read(Ids().spell((12, 55, 2))) == (12, 55, 2)
    assert Ids().parse("") == ()
    for text in ("12-", "12f", "a", "1" * 7, "5" + "-5" * MOST_IDS):
        assert Ids().parse(text) is None


def test_cells_are_spelt_from_1_and_read_back() -> None:
    assert spell_cells(CELLS) == SPELLED and Cells().spell(TurnedCells(CELLS)) == [SPELLED]
    assert Cells().parse(SPELLED) == TurnedCells(CELLS)
    assert Cells().parse("") == TurnedCells()


@pytest.mark.parametrize(
    "part",
    ["foo", "cross", "cross-1", "cross-0-1", "cross-1-x", "cross--1-2", "mean-1-2", "cross-1-2-3-4-5", "/etc-1-2"],
)
def test_what_is_no_cell_is_counted(part: str) -> None:
    assert Cells().parse(f"cross-3-2.{part}") == TurnedCells(frozenset({MaskCell("cross", 2, 1)}), 1)


def test_a_link_without_end_is_cut_and_that_is_told() -> None:
    turned = Cells().parse(".".join(f"cross-{number}-1" for number in range(1, 2000)))
    assert turned is not None and turned.unreadable >= 1 and 0 < len(turned.cells) < 1999


@pytest.mark.parametrize(
    ("text", "on"),
    [("all", (0, 1, 2)), ("none", ()), ("1,3", (0, 2)), ("3,1,1", (0, 2)), ("2,9", (1,)), ("9", None), ("x,2", (1,))],
)
def test_heads_are_those_that_the_layer_has(text: str, on: tuple[int, ...] | None) -> None:
    heads = Heads().parse(text)
    assert heads is not None and heads.among(3) == on


def test_heads_are_spelt_from_1() -> None:
    assert Heads().spell(HeadSet.of((0, 2), 3)) == ["1,3"]
    assert Heads().spell(HeadSet.of((), 3)) == ["none"]
    assert Heads().spell(HeadSet.of((0, 1, 2), 3)) == ["all"]
    assert Heads().parse("0,x") is None
