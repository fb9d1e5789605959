"""The heatmap's content: cells, labels, colours, notes. How a browser draws it is tests/browser/test_heatmap.py."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from model_core.trace import Site
from model_core.trace.view import AttentionView, hide_special, merge_words, view_map, view_maps
from tests.figures.looks import heatmap_stops, look
from tests.small_traces import make_tokens, small_trace
from viz.figures import heatmap
from viz.figures.heatmap import attention_alt, axis_labels
from viz.theme import DARK, LIGHT

TRICKY = ('<b>bold</b> & "q"', "$x^2$", "![a](http://127.0.0.1:1/x.png)", "`", "שלום", "你好", "🙂", "\0", "the", "the")


def some_view(queries: Sequence[str], keys: Sequence[str], weights: Any = None) -> AttentionView:
    """A cross-attention view of these texts; random weights unless given."""
    shape = (len(queries), len(keys))
    rows = (
        np.random.default_rng(7).dirichlet(np.full(shape[1], 0.3), shape[0]) if weights is None else np.array(weights)
    )
    read = make_tokens(queries)
    predicted = (*read[1:], *make_tokens(["</s>"]))
    return AttentionView(
        "cross", np.array(rows, dtype=np.float32), np.ones(shape, dtype=bool), read, make_tokens(keys), predicted
    )


def drawn(view: AttentionView, **options: Any) -> Any:
    """The figure; plotly's types do not say what its traces and its layout have."""
    return heatmap.attention_heatmap(view, **options)


def shown(aliases: dict[str, str]) -> list[str]:
    """Labels from top or left on, as a person reads them."""
    labels = [re.sub(r"</?b>", "", aliases[str(i)]) for i in range(len(aliases))]
    return [html.unescape(label) for label in labels]


def test_rows_are_queries_and_columns_are_keys() -> None:
    view = view_map(small_trace(), "cross", 2, 1)
    figure = drawn(view)
    cells = figure.data[0]
    np.testing.assert_array_equal(cells.z, view.weights)
    assert cells.z.dtype == np.float32
    assert cells.x == tuple("0123456") and cells.y == tuple("01234")
    layout = figure.layout
    assert shown(layout.yaxis.labelalias) == ["<s>", "Comment", "allez", "-", "vous"]
    assert shown(layout.xaxis.labelalias) == ["<s>", "How", "are", "you", "?", "</s>", "are"]  # both "are" are there
    assert layout.yaxis.range == layout.yaxis2.range == (4.5, -0.5)
    assert layout.xaxis.range == layout.xaxis2.range == (-0.5, 6.5)


@pytest.mark.parametrize(
    ("site", "query", "key"),
    [
        ("encoder_self", "query: source piece", "key: source piece"),
        ("decoder_self", "query: decoder input, each row predicts the next piece", "key: decoder input piece"),
        ("cross", "query: decoder input, each row predicts the next piece", "key: source piece"),
    ],
)
def test_axes_say_what_they_are(site: Site, query: str, key: str) -> None:
    assert axis_labels(site) == (query, key)
    layout = drawn(view_map(small_trace(), site, 0)).layout
    assert layout.yaxis.title.text.replace("<br>", " ") == query
    assert layout.xaxis.title.text.split("<br>")[0] == key
    words = drawn(merge_words(view_map(small_trace(), site, 0))).layout
    assert words.xaxis.title.text.split("<br>")[0] == key.replace("piece", "word")
    given = drawn(view_map(small_trace(), site, 0), query_label="rows & co", key_label="columns").layout
    assert (given.yaxis.title.text, given.xaxis.title.text.split("<br>")[0]) == ("rows &amp; co", "columns")


def test_tokens_are_text_in_every_label_and_uncut_in_the_hover() -> None:
    layout = drawn(some_view(TRICKY, TRICKY[::-1])).layout
    ticks, hovers = shown(layout.yaxis.labelalias), shown(layout.yaxis2.labelalias)
    assert ticks[0] == "<b>bold</b> &…" and ticks[1:2] == ["$x^2$"] and ticks[7:] == ["␀", "the", "the"]
    assert hovers[0].startswith('query 1: <b>bold</b> & "q"<br>')
    assert "query 3: ![a](http://127.0.0.1:1/x.png)" in hovers[2]
    assert shown(layout.xaxis2.labelalias)[0] == "key 1: the"
    for axis in (layout.xaxis, layout.yaxis, layout.xaxis2, layout.yaxis2):
        for label in axis.labelalias.values():
            assert set(re.findall(r"<[^>]*>", label)) <= {"<b>", "</b>", "<br>"} and "$" not in label


def test_the_hover_says_what_the_row_predicts_and_its_sum() -> None:
    view = some_view(["<s>", "a", "b"], ["c", "d"], [[0.25, 0.5], [0.5, 0.5], [0.0, 0.125]])
    hovers = shown(drawn(view).layout.yaxis2.labelalias)
    assert hovers[0] == "query 1: <s><br>this row predicts: a<br>this row's sum: 0.750"
    assert hovers[2] == "query 3: b<br>this row predicts: </s><br>this row's sum: 0.125"
    encoder = drawn(view_map(small_trace(), "encoder_self", 0)).layout
    assert shown(encoder.yaxis2.labelalias)[1] == "query 2: How<br>this row's sum: 1.000"


def test_a_long_token_takes_several_lines_of_the_hover_and_loses_nothing() -> None:
    token = "".join(chr(ord("a") + i % 26) for i in range(130))
    hover = shown(drawn(some_view([token], ["b"])).layout.yaxis2.labelalias)[0]
    assert hover.count("<br>") == 4
    assert hover.replace("<br>", "").startswith(f"query 1: {token}this row predicts")


def test_masked_cells_are_holes_over_a_hatched_ground() -> None:
    view = view_map(small_trace(), "decoder_self", 1, 2)
    figure = drawn(view)
    np.testing.assert_array_equal(np.isnan(figure.data[0].z), ~view.allowed)
    np.testing.assert_array_equal(figure.data[0].z[view.allowed], view.weights[view.allowed])
    template = figure.layout.template
    assert figure.data[0].hoverongaps is None and template.data.heatmap[0].hoverongaps is False
    (ground,) = figure.layout.images
    assert ground.layer == "below" and LIGHT.hatch[1:] in ground.source
    assert "masked" in figure.layout.xaxis.title.text
    open_map = drawn(view_map(small_trace(), "cross", 1, 2))
    assert open_map.layout.images == () and "masked" not in open_map.layout.xaxis.title.text


def test_one_sum_is_written_once_and_different_sums_beside_their_rows() -> None:
    view = view_map(small_trace(), "cross", 1, 2)
    figure = drawn(view)
    assert "each row sums to 1.00" in figure.layout.xaxis.title.text and len(figure.data) == 2
    halves = replace(view, weights=view.weights * np.float32(0.5))
    assert "each row sums to 0.50" in drawn(halves).layout.xaxis.title.text
    hidden = hide_special(view)
    beside = drawn(hidden)
    assert shown(beside.layout.yaxis3.labelalias) == [f"{total:.2f}" for total in hidden.row_sums]
    assert beside.layout.yaxis3.side == "right" and beside.data[-1].yaxis == "y3"
    assert [note.text for note in beside.layout.annotations] == ["row sum"]
    assert "sums" not in beside.layout.xaxis.title.text


def colour_of(figure: Any, weight: float) -> np.ndarray:
    """The colour that plotly gives a weight: linear between the stops around its share of the range."""
    cells, stops = figure.data[0], heatmap_stops(figure)
    share = (weight - cells.zmin) / (cells.zmax - cells.zmin)
    places = [place for place, _ in stops]
    colours = np.array([list(bytes.fromhex(colour[1:])) for _, colour in stops])
    return np.array([np.interp(share, places, colours[:, channel]) for channel in range(3)])


@pytest.mark.parametrize("dark", [False, True])
def test_the_root_scale_gives_a_weight_the_colour_of_its_root(dark: bool) -> None:
    view = some_view(["a", "b", "c"], ["d", "e", "f", "g", "h"])
    linear, root = (drawn(view, scale=scale, dark=dark) for scale in ("linear", "root"))
    np.testing.assert_array_equal(linear.data[0].z, root.data[0].z)  # hover and colour bar show the true weight
    for weight in (0.0, 0.001, 0.01, 0.09, 0.3, 0.77, 1.0):
        np.testing.assert_allclose(colour_of(root, weight), colour_of(linear, weight**0.5), atol=2)
    stops = (DARK if dark else LIGHT).sequential
    assert [colour for _, colour in heatmap_stops(linear)] == list(stops)
    titles = [figure.data[0].colorbar.title.text for figure in (linear, root)]
    assert titles[0] == "weight" and "square root" in titles[1]


def test_colours_span_0_to_1_or_what_is_there() -> None:
    weights = [[0.125, 0.5, 0.375], [0.25, 0.5, 0.25]]
    unit, fitted = (
        drawn(some_view(["a", "b"], ["c", "d", "e"], weights), limits=limits).data[0] for limits in ("unit", "fitted")
    )
    assert (unit.zmin, unit.zmax) == (0, 1) and unit.colorbar.ticktext == ("0", "0.5", "1")
    assert (fitted.zmin, fitted.zmax) == (0.125, 0.5)
    assert fitted.colorbar.ticktext == ("0.12", "0.31", "0.5") and "fitted" in fitted.colorbar.title.text


@pytest.mark.parametrize(("value", "limits"), [(0.25, (0.0, 0.25)), (0.0, (0.0, 1.0))])
def test_a_fitted_range_of_equal_weights_is_not_empty(value: float, limits: tuple[float, float]) -> None:
    cells = drawn(some_view(["a", "b"], ["c", "d"], np.full((2, 2), value)), limits="fitted").data[0]
    assert (cells.zmin, cells.zmax) == limits


def test_a_fitted_range_leaves_masked_cells_out() -> None:
    view = view_map(small_trace(), "decoder_self", 0, 0)
    weights = np.where(view.allowed, 0.5, 0.0)
    weights[4] = 0.2
    cells = drawn(replace(view, weights=weights), limits="fitted").data[0]
    np.testing.assert_allclose((cells.zmin, cells.zmax), (0.2, 0.5), rtol=1e-6)


def test_tick_texts_have_digits_enough_for_a_narrow_range() -> None:
    cells = drawn(some_view(["a"], ["b", "c"], [[0.0004, 0.0012]]), limits="fitted").data[0]
    assert cells.colorbar.ticktext == ("0.0004", "0.0008", "0.0012")


def test_what_costs_time_in_the_browser_is_left_out() -> None:
    tokens = [f"token{i}" for i in range(66)]
    figure = drawn(some_view(tokens, tokens))
    layout = look(figure)
    for axis in ("xaxis", "yaxis", "xaxis2", "yaxis2"):
        assert layout[axis]["automargin"] is False and layout[axis]["type"] == "category"
        assert "tickvals" not in layout[axis] and layout[axis]["showgrid"] is False
    assert layout["xaxis2"]["showticklabels"] is layout["yaxis2"]["showticklabels"] is False
    assert figure.data[0].texttemplate is None and layout["margin"]["autoexpand"] is False
    assert len(figure.to_json()) < 60_000  # 23 kB of it are the weights


def test_the_height_grows_with_the_rows_and_stays_on_a_screen() -> None:
    heights = {}
    for rows in (1, 5, 8, 20, 66, 128):
        layout = drawn(some_view([str(i) for i in range(rows)], ["a", "b"])).layout
        heights[rows] = layout.height - layout.margin.t - layout.margin.b
    assert list(heights.values()) == sorted(heights.values())
    assert heights[1] == heights[5] < heights[8] < heights[20] < heights[66] == heights[128] <= 700


def test_margins_have_room_for_the_longest_label() -> None:
    short, long = (drawn(some_view([word], [word])).layout.margin for word in ("a", "deposited"))
    assert long.l - short.l > 40 and long.b - short.b > 40
    longest = drawn(some_view(["x" * 400], ["x" * 400])).layout.margin
    assert longest.l < 175 and longest.b < 175


@pytest.mark.parametrize(("dark", "theme"), [(False, LIGHT), (True, DARK)])
def test_figures_follow_the_theme(dark: bool, theme: Any) -> None:
    page = look(drawn(view_map(small_trace(), "cross", 0), dark=dark))
    assert (page["font"]["color"], page["paper_bgcolor"]) == (theme.text, theme.background)
    assert (page["hoverlabel"]["font"]["color"], page["hoverlabel"]["bgcolor"]) == (theme.text, theme.background)


def test_a_figure_of_no_tokens_says_so() -> None:
    empty = hide_special(some_view(["<s>"], ["<s>", "a"]))
    figure = drawn(empty)
    assert [note.text for note in figure.layout.annotations] == ["No tokens are left to show."]
    assert attention_alt(empty) == "There is no attention to show."


def test_several_maps_are_no_heatmap() -> None:
    with pytest.raises(ValueError, match=r"one map \[Q, K\], not weights of shape \[3, 4, 5, 7\]"):
        drawn(view_maps(small_trace(), "cross"))


def test_the_sentence_does_not_contradict_a_row_without_a_choice() -> None:
    view = some_view(["<s>", "banque"], ["<s>", "banque"], [[1.0, 0.0], [0.4, 0.6]])
    causal = replace(view, allowed=np.array([[True, False], [True, True]]))
    assert attention_alt(causal).endswith("to “banque”. Rows that may look at one key only are left out.")


def test_the_sentence_names_the_strongest_allowed_weight() -> None:
    view = some_view(["<s>", "banque"], ["the", "<b>", "\n"], [[0.2, 0.3, 0.5], [0.1, 0.734, 0.166]])
    assert attention_alt(view) == "The strongest weight is 0.73, from “banque” (which predicts “</s>”) to “<b>”."
    masked = replace(view, allowed=np.array([[True, True, True], [True, False, True]]))
    assert attention_alt(masked) == "The strongest weight is 0.50, from “<s>” (which predicts “banque”) to “␤”."
    encoder = replace(view, site="encoder_self", predicted_tokens=())
    assert attention_alt(encoder) == "The strongest weight is 0.73, from “banque” to “<b>”."
