"""The curves and the film strip hold the numbers that they were given."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest

from tests.figures.looks import look
from viz.figures.learning import FRAMES, Curves, curves_csv, film_strip, frames_of, learning_curves
from viz.theme import DARK, LIGHT

SHIPPED = Curves("shipped", 0, (0, 5, 11), (0.1, 0.5, 1.0), (None, None, None), (None, 3.0, 0.7))
HOSTILE = Curves("<b>$x$</b>", 3, (0, 7), (0.25, 0.75), (0.0, 0.5), (None, 2.5))


def test_lines_hold_what_was_measured() -> None:
    figure: Any = learning_curves([SHIPPED, HOSTILE], 11)
    lines = {(line.legendgroup, line.yaxis): line for line in figure.data if line.legendgroup}
    assert set(lines) == {("0", "y"), ("0", "y3"), ("3", "y"), ("3", "y2"), ("3", "y3")}
    assert tuple(lines["0", "y3"].x) == (5, 11) and tuple(lines["0", "y3"].y) == (3.0, 0.7)
    assert tuple(lines["3", "y2"].y) == (0.0, 0.5)
    assert lines["3", "y"].name == "&lt;b&gt;&#36;x&#36;&lt;/b&gt;"


def test_trainings_differ_in_more_than_colour() -> None:
    figure: Any = learning_curves([SHIPPED, HOSTILE], 11)
    one, other = (next(line for line in figure.data if line.legendgroup == slot) for slot in ("0", "3"))
    assert one.line.color != other.line.color
    assert one.line.dash != other.line.dash and one.marker.symbol != other.marker.symbol


def test_a_panel_that_nobody_measured_is_left_out() -> None:
    without: Any = learning_curves([SHIPPED], 11)
    having: Any = learning_curves([SHIPPED, HOSTILE], 11)
    headings = [[note.text for note in figure.layout.annotations] for figure in (without, having)]
    assert [len(texts) for texts in headings] == [2, 3]
    assert set(headings[1]) - set(headings[0]) == {"<b>Share of held-out sequences copied exactly</b>"}
    assert {line.yaxis for line in without.data} == {"y", "y3"} and without.layout.xaxis.anchor == "y3"
    assert "yaxis2" not in without.to_plotly_json()["layout"]
    assert having.layout.height - without.layout.height == 150


def test_panels_lie_one_above_the_other() -> None:
    for curves in ([SHIPPED], [SHIPPED, HOSTILE]):
        layout: Any = learning_curves(curves, 11).to_plotly_json()["layout"]
        domains = [layout[name]["domain"] for name in ("yaxis", "yaxis2", "yaxis3") if name in layout]
        edges = [edge for low, high in reversed(domains) for edge in (low, high)]
        assert edges == sorted(edges) and edges[0] >= 0 and edges[-1] <= 1


def test_the_table_leaves_out_what_was_not_measured() -> None:
    rows = list(csv.DictReader(io.StringIO(curves_csv([SHIPPED, HOSTILE]))))
    assert len(rows) == 5
    assert rows[1] == {"training": "shipped", "step": "5", "diagonal": "0.5", "exact": "", "loss": "3.0"}
    assert rows[4]["training"] == "<b>$x$</b>" and float(rows[4]["exact"]) == 0.5


def test_a_strip_holds_its_maps_side_by_side() -> None:
    maps = [(step, np.full((3, 5), step / 11, dtype=np.float32)) for step in (0, 7, 11)]
    maps[1][1][2, 4] = 1.0
    figure: Any = film_strip(maps)
    strip = np.array(figure.data[0].z, dtype=np.float64)
    assert strip.shape == (3, 3 * 6 - 1)
    for place, (_, weights) in enumerate(maps):
        np.testing.assert_array_equal(strip[:, place * 6 : place * 6 + 5], weights)
    assert np.isnan(strip[:, 5]).all() and np.isnan(strip[:, 11]).all()
    assert tuple(figure.layout.xaxis.ticktext) == ("0", "7", "11")
    assert tuple(figure.layout.xaxis.tickvals) == (2.0, 8.0, 14.0)
    assert figure.layout.xaxis.range[1] == FRAMES * 6 - 1.5


def test_a_strip_refuses_maps_of_different_sizes() -> None:
    with pytest.raises(ValueError, match="one size"):
        film_strip([(0, np.zeros((3, 5), np.float32)), (1, np.zeros((5, 3), np.float32))])
    with pytest.raises(ValueError, match="got 0"):
        film_strip([])


@pytest.mark.parametrize(
    ("count", "indices"), [(0, []), (1, [0]), (3, [0, 1, 2]), (11, [0, 2, 4, 6, 8, 10]), (41, [0, 8, 16, 24, 32, 40])]
)
def test_frames_run_from_the_first_to_the_last(count: int, indices: list[int]) -> None:
    assert frames_of(count) == indices


def test_dark_is_dark() -> None:
    curves: Any = learning_curves([SHIPPED], 11, dark=True)
    strip: Any = film_strip([(0, np.zeros((3, 5), np.float32))])
    assert [look(figure)["paper_bgcolor"] for figure in (curves, strip)] == [DARK.background, LIGHT.background]


def test_only_trainings_make_a_legend() -> None:
    assert look(learning_curves([SHIPPED], 11))["showlegend"] and not look(learning_curves([], 11))["showlegend"]
