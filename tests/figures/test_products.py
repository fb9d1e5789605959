"""The bars of the numbers that add up to a cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.figures.looks import look
from viz.figures.products import product_bars
from viz.theme import palette

VALUES = np.array([1.5, -2.0, 0.0, 4.0, -0.5])
LABELS = ("a", "a", "<b>", "$x$", "e")


def axes_of(figure: go.Figure) -> Any:
    """The figure's layout, as untyped as Plotly leaves it."""
    return figure.layout


def bars_of(figure: go.Figure) -> Any:
    """The figure's only trace."""
    traces: Any = figure.data
    (bars,) = traces
    return bars


def test_each_value_is_one_bar_at_its_place_and_equal_labels_stay_apart() -> None:
    figure = product_bars(VALUES, LABELS, values_are="Q × K", terms_are="dimension")
    bars = bars_of(figure)
    np.testing.assert_array_equal(bars.y, VALUES)
    np.testing.assert_array_equal(bars.x, np.arange(5))
    assert tuple(bars.customdata) == ("a", "a", "&lt;b&gt;", "&#36;x&#36;", "e")
    assert bars.y.sum() == 3.0
    assert look(figure)["xaxis"]["automargin"] is look(figure)["yaxis"]["automargin"] is False


def test_signs_and_the_marked_bar_have_colours_of_the_theme() -> None:
    for dark in (False, True):
        colours = palette(dark)
        plain = bars_of(product_bars(VALUES, LABELS, values_are="", terms_are="", dark=dark)).marker.color
        assert [colour == colours.series[0] for colour in plain] == [True, False, True, True, False]
        figure = product_bars(VALUES, LABELS, values_are="", terms_are="", marked=3, dark=dark)
        marked = bars_of(figure).marker.color
        assert [colour == colours.accent for colour in marked] == [False, False, False, True, False]


def test_labels_are_thinned_and_long_ones_stand_upright() -> None:
    many = axes_of(product_bars(np.ones(257), [str(i) for i in range(257)], values_are="", terms_are="")).xaxis
    assert len(many.tickvals) <= 8 and many.tickvals[0] == 0 and many.tickangle == 0  # three digits each: wide
    assert [int(text) for text in many.ticktext] == list(many.tickvals)
    long = axes_of(product_bars(np.ones(3), ["station", "gare", "x"], values_are="", terms_are="")).xaxis
    assert long.tickangle == -90 and len(long.tickvals) == 3


def test_values_without_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="5 values need as many labels, not 3"):
        product_bars(VALUES, LABELS[:3], values_are="", terms_are="")
