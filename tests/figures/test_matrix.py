"""What a matrix sends to the page, says of itself, and whose choice of a cell wins."""

from __future__ import annotations

import numpy as np
import pytest

from viz.components.handshake import Agreement, Report
from viz.components.matrix import fitted_limits
from viz.components.matrix.choice import Cell, read_cell, settle_cell
from viz.components.matrix.pack import pack_matrix

VALUES = np.arange(15, dtype=np.float32).reshape(3, 5) - 4
ROWS, COLUMNS = ("<s>", "a", "a"), ("1", "2", "3", "4", "5")


def test_the_bytes_are_the_values_row_by_row_and_then_the_mask() -> None:
    masked = np.zeros((3, 5), dtype=np.bool_)
    masked[0, 4] = True
    header, cells = pack_matrix(VALUES, ROWS, COLUMNS, "Scores", masked)
    np.testing.assert_array_equal(np.frombuffer(cells[:60], dtype="<f4").reshape(3, 5), VALUES)
    np.testing.assert_array_equal(np.frombuffer(cells[60:], dtype=np.uint8).reshape(3, 5), masked)
    assert header["shape"] == [3, 5] and header["rows"] == [*ROWS] and header["file"] == "regard-scores"
    assert header["alt"] == "Scores: 3 x 5, 1 masked; the largest value is 10, at row 3 “a”, column 5."
    assert header["limits"] == [-4.0, 10.0]


def test_values_that_are_not_finite_are_masked_and_nothing_masked_sends_no_mask() -> None:
    values = VALUES.copy()
    values[1, 2:] = -np.inf
    header, cells = pack_matrix(values, None, None, "Scores", diverging=True)
    np.testing.assert_array_equal(np.frombuffer(cells[60:], dtype=np.uint8).reshape(3, 5), ~np.isfinite(values))
    assert header["limits"] == [-10.0, 10.0] and header["rows"] is None
    assert len(pack_matrix(VALUES, None, None, "Scores")[1]) == 60
    transposed = pack_matrix(VALUES.T, None, None, "Scores")[1]
    np.testing.assert_array_equal(np.frombuffer(transposed, dtype="<f4").reshape(5, 3), VALUES.T)


def test_all_masked_and_all_equal_still_have_a_range() -> None:
    header, _ = pack_matrix(np.full((3, 5), -np.inf), None, None, "Scores")
    assert header["alt"] == "Scores: 3 x 5, 15 masked." and header["limits"] == [0.0, 1.0]
    assert fitted_limits(np.full((3, 5), 2.0), diverging=False) == (0.0, 2.0)
    assert fitted_limits(np.full((3, 5), -2.0), diverging=False) == (-2.0, 1.0)
    assert fitted_limits(np.zeros((3, 5)), diverging=True) == (-1.0, 1.0)
    assert fitted_limits([[-3.0, np.inf, 2.0]], diverging=True) == (-3.0, 3.0)


def test_the_farthest_from_0_is_told_where_colours_diverge() -> None:
    header, _ = pack_matrix(-VALUES, ROWS, COLUMNS, "QKᵀ", diverging=True)
    assert header["alt"] == "QKᵀ: 3 x 5; the value farthest from 0 is −10, at row 3 “a”, column 5."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(5), None, None), r"Scores has shape \[5\]"),
        ((np.zeros((0, 5)), None, None), r"Scores has shape \[0, 5\]"),
        ((VALUES, COLUMNS, None), "Scores has 3 rows, but 5 labels"),
        ((VALUES, ROWS, ROWS), "Scores has 5 columns, but 3 labels"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_numbers(
    arguments: tuple[np.ndarray, tuple[str, ...] | None, tuple[str, ...] | None], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        pack_matrix(arguments[0], arguments[1], arguments[2], "Scores")
    with pytest.raises(ValueError, match=r"shape \[3, 5\], its mask \[5, 3\]"):
        pack_matrix(VALUES, None, None, "Scores", np.zeros((5, 3)))


def settled(
    memory: Agreement[Cell | None] | None, wish: Cell | None, picked: Report[Cell | None] | None = None
) -> Agreement[Cell | None]:
    return settle_cell(memory, wish, picked, (3, 5))


def test_a_person_wins_over_the_script_once_and_the_page_is_told_only_news() -> None:
    first = settled(None, (2, 4))
    assert first.chosen == (2, 4) == first.sent
    picked: Report[Cell | None] = Report((1, 3), first.token, 1)
    second = settled(first, (2, 4), picked)
    assert second.chosen == (1, 3) and second.token == first.token, "the page knows what was picked in it"
    third = settled(second, (0, 0), picked)
    assert third.chosen == (0, 0) == third.sent and third.token != second.token
    assert settled(third, None, picked).chosen == (0, 0), "no wish keeps what was chosen"


def test_a_cell_that_is_not_there_is_none() -> None:
    assert settled(None, (3, 0)).chosen is None
    assert settled(None, (0, -1)).chosen is None
    memory = settled(None, None)
    assert settled(memory, None, Report((2, 5), memory.token, 1)).chosen is None


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {"cell": None},
        {"cell": {"row": "1", "column": 2, "token": "t", "number": 1}},
        {"cell": [1, 2]},
        {"cell": {"row": 1, "column": True, "token": "t"}},
        {"cell": {"row": 1, "column": 2, "token": "t", "number": "1"}},
    ],
)
def test_a_state_that_no_component_makes_is_no_pick(state: object) -> None:
    assert read_cell(state) is None
    assert read_cell({"cell": {"row": 1, "column": 2, "token": "t", "number": 7}}) == Report((1, 2), "t", 7)
