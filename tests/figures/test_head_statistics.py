"""The heatmap of one number a head."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from viz.figures.head_statistics import head_statistics_figure
from viz.theme import DARK, LIGHT

VALUES = np.linspace(0.0, 1.0, 15).reshape(3, 5)


def as_dict(dark: bool = False, **options: Any) -> dict[str, Any]:
    return head_statistics_figure(VALUES, "share", dark=dark, **options).to_dict()


def test_it_shows_layers_down_and_heads_across_from_one() -> None:
    cells, numbers = as_dict()["data"]
    drawn: Any = head_statistics_figure(VALUES, "share").data[0]
    np.testing.assert_array_equal(drawn.z, VALUES)
    assert (cells["x"], cells["y"]) == ([1, 2, 3, 4, 5], [1, 2, 3])
    written = dict(zip(zip(numbers["y"], numbers["x"], strict=True), numbers["text"], strict=True))
    assert written[(3, 1)] == f"{VALUES[2, 0]:.2f}" and written[(1, 5)] == f"{VALUES[0, 4]:.2f}"


def test_its_colours_span_zero_to_the_highest() -> None:
    cells = as_dict(highest=2.5)["data"][0]
    assert (cells["zmin"], cells["zmax"]) == (0.0, 2.5)
    assert cells["colorbar"]["ticktext"] == ["0", "1.25", "2.5"]


@pytest.mark.parametrize("dark", [False, True])
def test_a_number_stands_out_from_its_cell(dark: bool) -> None:
    inks = as_dict(dark)["data"][1]["textfont"]["color"]
    darkest, brightest = (0, -1) if dark else (-1, 0)
    assert inks[darkest] == DARK.text and inks[brightest] == LIGHT.text


def test_the_chosen_head_is_framed() -> None:
    (frame,) = as_dict(chosen=(2, 0))["layout"]["shapes"]
    assert [frame[name] for name in ("x0", "x1", "y0", "y1")] == [0.5, 1.5, 2.5, 3.5]
    assert "shapes" not in as_dict()["layout"] or not as_dict()["layout"]["shapes"]


def test_more_than_one_number_a_head_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\[3, 5, 7\]"):
        head_statistics_figure(np.zeros((3, 5, 7)), "share")
