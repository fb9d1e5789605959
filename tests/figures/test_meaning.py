"""The Meaning page's figures hold the numbers that they were given, and no text as markup."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from model_core.trace import Token
from tests.figures.looks import look
from viz.components.tinted import Tint, tinted_data
from viz.figures.meaning import across_lines, cosine_heatmap, own_lines, pairs_of, sentence_histogram
from viz.figures.sense_map import REACH, Star, hover_text, sense_map, separation_lines
from viz.theme import palette
from viz.wording import fixed

LAYERS, N, PAIRS = 4, 3, 11


@pytest.fixture
def cosines() -> np.ndarray:
    values = np.random.default_rng(2).uniform(-0.3, 1, size=(LAYERS, N, N))
    return (values + values.transpose(0, 2, 1)) / 2


@pytest.fixture
def unrelated() -> np.ndarray:
    return np.random.default_rng(3).uniform(-0.2, 0.6, size=(LAYERS, PAIRS))


def drawn(figure: go.Figure) -> dict[str, Any]:
    return json.loads(figure.to_json() or "")


def named(figure: go.Figure) -> dict[str, Any]:
    data: Any = figure.data
    return {trace.name: trace for trace in data if trace.name}


@pytest.mark.parametrize("dark", [False, True])
def test_each_pair_has_its_line_and_the_unrelated_theirs(
    cosines: np.ndarray, unrelated: np.ndarray, dark: bool
) -> None:
    figure = across_lines(cosines, unrelated, [1, 2, 5], chosen=2, dark=dark)
    lines = named(figure)
    assert set(lines) == {"1 and 2", "1 and 5", "2 and 5", "unrelated words"}
    np.testing.assert_allclose(lines["1 and 5"].y, cosines[:, 0, 2])
    np.testing.assert_allclose(lines["unrelated words"].y, unrelated.mean(axis=1))
    data: Any = figure.data
    np.testing.assert_allclose(data[1].y, np.percentile(unrelated, 5, axis=1))
    assert len({(line.line.color, line.line.dash, line.marker.symbol) for line in lines.values()}) == 4
    layout: Any = figure.layout
    assert look(figure)["paper_bgcolor"] == palette(dark).background
    low, high = layout.yaxis.range
    assert low < cosines[:, [0, 0, 1], [1, 2, 2]].min() and high > 1
    assert layout.shapes[0].x0 == 2


def test_many_pairs_can_be_told_apart() -> None:
    count = 6
    figure = across_lines(np.ones((LAYERS, count, count)), np.zeros((LAYERS, 2)), range(1, 7), chosen=0, dark=False)
    looks = [(line.line.color, line.line.dash) for name, line in named(figure).items() if name != "unrelated words"]
    assert len(looks) == len(pairs_of(count)) == len(set(looks)) == 15


def test_lines_to_the_own_embedding(cosines: np.ndarray) -> None:
    lines = named(own_lines(cosines[:, 0], [2, 3, 4], chosen=0, dark=False))
    np.testing.assert_allclose(lines["sentence 3"].y, cosines[:, 0, 1])


def test_the_matrix_states_its_range_and_its_numbers(cosines: np.ndarray) -> None:
    figure = cosine_heatmap(cosines[1], [1, 2, 4], dark=True)
    data, layout = figure.data, figure.layout
    cells, page = (data[0], layout) if isinstance(data, tuple) else (None, layout)
    assert cells is not None and (cells.zmin, cells.zmax) == (-1, 1)
    np.testing.assert_allclose(cells.z, cosines[1])
    notes: Any = page.annotations  # pyright: ignore[reportAttributeAccessIssue]
    assert {(note.x, note.y): note.text for note in notes}[(2, 0)] == fixed(cosines[1, 0, 2])


def test_the_histogram_counts_every_pair(unrelated: np.ndarray) -> None:
    figure = sentence_histogram(unrelated[0], [0.9, -0.5], ["1 and 2", "1 and 3"], dark=False)
    data: Any = figure.data
    assert sum(data[0].y) == PAIRS
    lines = named(figure)
    assert list(lines["1 and 2: 0.90"].x) == [0.9, 0.9] and list(lines["1 and 3: −0.50"].x) == [-0.5, -0.5]
    layout: Any = figure.layout
    assert layout.xaxis.range[0] < -0.5


SENSES = ("a", "a", "b", "b", "b<i>", "a", "b")
HELD_OUT = (False, True, False, False, False, False, True)


def test_the_map_has_a_point_a_sentence_and_the_stars() -> None:
    places = np.random.default_rng(4).normal(size=(7, 2))
    texts = [f"sentence {i}" for i in range(6)] + ["<b>bold</b> $x$ & more"]
    figure = sense_map(places, texts, SENSES, HELD_OUT, [Star("3", "<img>", (9.0, -9.0))], dark=False)
    points = named(figure)
    assert set(points) == {"a", "a (held out)", "b", "b (held out)", "b&lt;i&gt;", "your sentences"}
    np.testing.assert_allclose(points["a"].x, places[[0, 5], 0])
    np.testing.assert_allclose(points["b (held out)"].y, places[[6], 1])
    assert points["b (held out)"].marker.symbol == points["b"].marker.symbol + "-open"
    assert points["a"].marker.symbol != points["b"].marker.symbol
    assert points["b (held out)"].customdata[0] == "&lt;b&gt;bold&lt;/b&gt; &#36;x&#36; &amp; more"
    assert points["your sentences"].customdata[0] == "&lt;img&gt;"
    layout: Any = figure.layout
    assert layout.xaxis.range[1] > 9 and layout.yaxis.range[0] < -9 and layout.xaxis.scaleanchor == "y"
    assert "<img>" not in json.dumps(drawn(figure))


def test_a_map_of_one_place_has_a_range() -> None:
    layout: Any = sense_map(np.zeros((7, 2)), ["x"] * 7, SENSES, HELD_OUT, [], dark=True).layout
    assert layout.xaxis.range[0] < 0 < layout.xaxis.range[1]


def test_a_map_with_titles_keeps_its_range_from_layer_to_layer() -> None:
    layout: Any = sense_map(np.eye(7)[:, :2], ["x"] * 7, SENSES, HELD_OUT, [], dark=True, titles=("a", "b")).layout
    assert tuple(layout.xaxis.range) == (-REACH, REACH) and layout.xaxis.title.text == "a"
    assert layout.xaxis.scaleanchor is None


def test_a_map_writes_no_empty_title() -> None:
    layout: Any = sense_map(np.eye(7)[:, :2], ["x"] * 7, SENSES, HELD_OUT, [], dark=True, titles=("", "")).layout
    assert layout.xaxis.title.text is None and layout.yaxis.title.text is None
    assert layout.xaxis.range[0] <= -1.3 and layout.xaxis.range[1] >= 1.3


def test_hover_breaks_long_sentences() -> None:
    assert hover_text("word " * 30).count("<br>") == 3
    assert hover_text("") == "∅"


def test_separation_is_in_percent() -> None:
    shares = {"all": [0.5, 0.75, 1.0], "held out": [0.2, 0.4, 0.6]}
    lines = named(separation_lines(shares, 0.55, chosen=1, dark=False))
    assert list(lines["all"].y) == [50, 75, 100]
    assert list(lines["held out"].y) == pytest.approx([20, 40, 60])
    assert list(lines["the commonest sense always"].y) == pytest.approx([55, 55])


def test_tints_carry_colours_that_can_be_read() -> None:
    tokens = (
        Token(5, "▁a", "a", 0, False),
        Token(6, "<b>", "<b>", 0, False),
        Token(7, "▁c", "c", 1, False),
    )
    tints = [Tint(0.0), Tint(1.0, True, "0.50", "hint"), Tint()]
    light, dark = (tinted_data(tokens, tints, dark) for dark in (False, True))
    assert [entry["text"] for entry in light] == ["a", "<b>", "c"]
    assert [entry["joined"] for entry in light] == [False, True, False]
    assert light[0]["fill"] == palette(False).sequential[0] and light[0]["ink"] == "#14181d"
    assert light[1]["fill"] == palette(False).sequential[-1] and light[1]["ink"] == "#ffffff"
    assert dark[0]["ink"] == "#ffffff" and dark[1]["ink"] == "#14181d"
    assert "fill" not in light[2] and light[1]["note"] == "0.50" and light[1]["marked"]
    with pytest.raises(ValueError, match="3 tokens can't take 2 tints"):
        tinted_data(tokens, tints[:2], False)
