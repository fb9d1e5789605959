"""The pictures of the encoding: their numbers, labels and what is left out of them."""

from __future__ import annotations

import html
import math
from typing import Any

import numpy as np
import pytest

from model_core.trace import Token
from tests.figures.looks import look
from tests.figures.test_heatmap import TRICKY
from tests.small_traces import make_tokens
from viz.figures import position_bars, positions
from viz.figures.positions import MAX_CELLS, shown_dimensions, shown_positions, wave_length
from viz.theme import DARK, LIGHT


def some_table(length: int, d_model: int, base: float = 10000.0) -> np.ndarray:
    """The encoding from its formula."""
    rows = np.empty((length, d_model), dtype=np.float32)
    for position in range(length):
        for pair in range(d_model // 2):
            angle = position / base ** (2 * pair / d_model)
            rows[position, 2 * pair : 2 * pair + 2] = math.sin(angle), math.cos(angle)
    return rows


def heatmap(*args: Any, **options: Any) -> Any:
    return positions.encoding_heatmap(*args, **options)


def curves(*args: Any, **options: Any) -> Any:
    return positions.encoding_curves(*args, **options)


def bars(*args: Any, **options: Any) -> Any:
    return position_bars.token_bars(*args, **options)


def test_the_heatmap_holds_the_table_over_a_signed_range() -> None:
    table = some_table(7, 10)
    figure = heatmap(table)
    cells = figure.data[0]
    np.testing.assert_array_equal(cells.z, table)
    assert (cells.zmin, cells.zmax) == (-1, 1)
    assert cells.x == tuple("0123456789") and list(cells.y) == list(range(7))
    assert cells.colorscale[0][1] == LIGHT.diverging[0] and cells.colorscale[-1][1] == LIGHT.diverging[-1]
    assert tuple(figure.layout.yaxis.range) == (6.5, -0.5), "positions run from top to bottom"
    assert look(heatmap(table, dark=True))["paper_bgcolor"] == DARK.background


def test_the_line_stands_under_the_sentences_last_row() -> None:
    table = some_table(11, 6)
    figure = heatmap(table, 5)
    assert figure.layout.shapes[0].y0 == figure.layout.shapes[0].y1 == 4.5
    assert figure.layout.annotations[0].text == "↑ this sentence: positions 0 to 4"
    assert not heatmap(table, 11).layout.shapes and not heatmap(table).layout.shapes


@pytest.mark.parametrize(("count", "d_model"), [(4, 512), (130, 256), (131, 256), (256, 512), (200, 8), (256, 64)])
def test_too_many_dimensions_are_thinned_by_whole_pairs_and_the_title_says_so(count: int, d_model: int) -> None:
    dimensions = shown_dimensions(count, d_model)
    assert dimensions[:2] == [0, 1] and max(dimensions) < d_model
    assert all(odd == even + 1 and even % 2 == 0 for even, odd in zip(dimensions[::2], dimensions[1::2], strict=True))
    assert len(dimensions) * count <= MAX_CELLS
    assert len(set(np.diff(dimensions[::2]))) <= 1, "evenly spread"
    title = heatmap(np.zeros((count, d_model), np.float32)).layout.xaxis.title.text
    whole = count * d_model <= MAX_CELLS
    assert (len(dimensions) == d_model) == whole
    assert title == ("dimension" if whole else f"dimension ({len(dimensions)} of {d_model} drawn)")


def test_thinned_columns_keep_their_numbers() -> None:
    table = np.arange(256 * 512, dtype=np.float32).reshape(256, 512)
    cells = heatmap(table).data[0]
    for column, dimension in enumerate(cells.x):
        assert cells.z[3, column] == table[3, int(dimension)]


def test_curves_are_columns_and_tell_their_wave_length() -> None:
    table = some_table(13, 10, 100.0)
    figure = curves(table, [3, 0], 100.0)
    np.testing.assert_array_equal(figure.data[0].y, table[:, 3])
    np.testing.assert_array_equal(figure.data[1].y, table[:, 0])
    assert [curve.name for curve in figure.data] == [
        f"3, cosine, wave length {2 * math.pi * 100 ** (2 / 10):.4g}",
        "0, sine, wave length 6.283",
    ]
    assert figure.data[0].line.dash != figure.data[1].line.dash
    with pytest.raises(ValueError, match="9 curves"):
        curves(table, range(9), 100.0)


def test_a_curve_repeats_after_its_wave_length() -> None:
    for dimension in (0, 1, 4, 7):
        wave = wave_length(dimension, 8, 50.0)
        angle = wave / 50.0 ** (2 * (dimension // 2) / 8)
        assert angle == pytest.approx(2 * math.pi)


@pytest.mark.parametrize("kind", ["dot product", "cosine"])
def test_similarity_is_of_every_two_positions(kind: Any) -> None:
    table = some_table(11, 6)
    figure: Any = positions.similarity_heatmap(table, kind)
    scale = 1.0 if kind == "dot product" else 3.0
    for row in range(11):
        for column in range(11):
            expected = sum(math.cos((row - column) / 10000 ** (2 * pair / 6)) for pair in range(3)) / scale
            assert figure.data[0].z[row, column] == pytest.approx(expected, abs=1e-5)
    assert figure.data[0].zmax == pytest.approx(3 / scale) and figure.data[0].zmin == -figure.data[0].zmax
    curve: Any = positions.similarity_curve(positions.similarity_by_distance(table, kind), kind)
    np.testing.assert_allclose(curve.data[0].y, figure.data[0].z[0], atol=1e-6)


def test_many_positions_are_thinned_and_the_title_says_so() -> None:
    assert shown_positions(182) == list(range(182)) and shown_positions(256) == list(range(0, 256, 2))
    figure: Any = positions.similarity_heatmap(some_table(256, 8), "cosine")
    assert figure.data[0].z.shape == (128, 128)
    assert figure.layout.xaxis.title.text == "position (1 in 2 drawn)"


def test_bars_stand_at_places_and_tokens_are_text() -> None:
    tokens = make_tokens(TRICKY)
    values = np.arange(len(tokens), dtype=np.float32)
    figure = bars(tokens, {"first": values, "second": -values}, "size")
    np.testing.assert_array_equal(figure.data[0].y, values)
    np.testing.assert_array_equal(figure.data[1].y, -values)
    assert list(figure.data[0].x) == list(range(len(tokens))), "two equal tokens are two places"
    labels = figure.layout.xaxis.ticktext
    assert "<b>" not in "".join(labels) and "$" not in "".join(labels)
    assert html.unescape(labels[1]) == "$x^2$"
    assert figure.data[0].marker.pattern.shape != figure.data[1].marker.pattern.shape
    with pytest.raises(ValueError, match="has 3 numbers for 10 tokens"):
        bars(tokens, {"first": values[:3]}, "size")


def test_zero_is_drawn_on_a_logarithmic_axis_and_hover_tells_the_truth() -> None:
    tokens = make_tokens(["a", "b", "c"])
    figure = bars(tokens, {"difference": np.array([0.0, 1e-6, 3.0], np.float32)}, "size", log=True)
    assert figure.data[0].y[0] == pytest.approx(position_bars.SMALLEST)
    assert list(figure.data[0].customdata) == pytest.approx([0.0, 1e-6, 3.0])
    assert figure.layout.yaxis.type == "log"


def test_many_labels_are_thinned() -> None:
    tokens = tuple(Token(9, "▁a", f"a{i}", i, False) for i in range(131))
    axis = bars(tokens, {"size": np.zeros(131, np.float32)}, "size").layout.xaxis
    assert len(axis.ticktext) <= 48
    assert all(label == f"a{place}" for place, label in zip(axis.tickvals, axis.ticktext, strict=True))


@pytest.mark.parametrize("kind", ["dot product", "cosine"])
def test_one_row_of_the_similarities_is_computed_as_one(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = some_table(13, 6)
    np.testing.assert_allclose(
        positions.similarity_by_distance(table, kind), positions.similarity_matrix(table, kind)[0], atol=1e-6
    )
    monkeypatch.delattr(positions, "similarity_matrix")
    positions.similarity_curve(positions.similarity_by_distance(table, kind), kind)
