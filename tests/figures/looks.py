"""How figures look: their layout with the template's defaults, and one example of every kind of figure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from model_core.trace import Alternative, TranslationTrace
from model_core.trace.view import view_map
from tests.small_traces import make_tokens, small_trace
from viz.figures import (
    head_statistics,
    heatmap,
    learning,
    masks,
    meaning,
    piece_scores,
    position_bars,
    positions,
    products,
    sense_map,
)


def look(figure: go.Figure) -> dict[str, Any]:
    """The figure's layout over the defaults of its template; axis x2 takes those of x, as in plotly.js."""
    own = figure.to_plotly_json()["layout"]
    defaults = own.get("template", {}).get("layout", {})
    axes = {name: defaults.get(name.rstrip("123456789"), {}) for name in own if name[1:].startswith("axis")}
    return _over(own, defaults | axes)


def heatmap_stops(figure: go.Figure) -> list[tuple[float, str]]:
    """The colour scale of the figure's first trace, a heatmap: its own or the template's."""
    plain = figure.to_plotly_json()
    (defaults,) = plain["layout"]["template"]["data"]["heatmap"]
    return [(share, colour) for share, colour in plain["data"][0].get("colorscale", defaults["colorscale"])]


def _over(own: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(defaults) | dict(own)
    for name in own.keys() & defaults.keys():
        if isinstance(own[name], Mapping) and isinstance(defaults[name], Mapping):
            merged[name] = _over(own[name], defaults[name])
    return merged


def trace_with_alternatives() -> TranslationTrace:
    """A small trace that knows the likeliest piece of every step."""
    trace = small_trace()
    steps = tuple(replace(step, alternatives=(Alternative(step.chosen_id, -0.5),)) for step in trace.decoding)
    return replace(trace, decoding=steps)


def encoding(positions_count: int, d_model: int) -> np.ndarray:
    """The sinusoidal encoding `[P, D]` from its formula."""
    rows = np.empty((positions_count, d_model), dtype=np.float32)
    for position in range(positions_count):
        for pair in range(d_model // 2):
            angle = position / 10000 ** (2 * pair / d_model)
            rows[position, 2 * pair : 2 * pair + 2] = math.sin(angle), math.cos(angle)
    return rows


def examples(dark: bool) -> dict[str, go.Figure]:
    """A figure of every public function that makes one, by "module.function"."""
    return _of_attention(dark) | _of_numbers(dark) | _of_meaning(dark)


def _of_attention(dark: bool) -> dict[str, go.Figure]:
    view, tokens = view_map(small_trace(), "decoder_self", 1, 2), make_tokens(["<s>", "a", "b"])
    curves = learning.Curves("copy", 0, (0, 5), (0.1, 0.5), (None, 0.25), (3.0, 0.7))
    allowed = np.tril(np.ones((3, 3), dtype=bool))
    names = {"query_label": "query", "key_label": "key"}
    return {
        "heatmap.attention_heatmap": heatmap.attention_heatmap(view, dark=dark),
        "head_statistics.head_statistics_figure": head_statistics.head_statistics_figure(
            np.linspace(0, 1, 15).reshape(3, 5), "share", chosen=(1, 2), dark=dark
        ),
        "learning.learning_curves": learning.learning_curves([curves], 11, dark=dark),
        "learning.film_strip": learning.film_strip([(0, np.ones((3, 5), np.float32))], dark=dark),
        "masks.mask_figure": masks.mask_figure(allowed, tokens, tokens, site="decoder_self", **names, dark=dark),
        "masks.padding_figure": masks.padding_figure([tokens, tokens], dark=dark),
        "masks.next_token_figure": masks.next_token_figure(["a", "b"], [0.7, 0.2], [0.1, 0.65], dark=dark),
    }


def _of_numbers(dark: bool) -> dict[str, go.Figure]:
    table, tokens = encoding(11, 6), make_tokens(["<s>", "a", "b"])
    values = np.array([0.5, -1.0, 2.0], dtype=np.float32)
    distances = positions.similarity_by_distance(table, "cosine")
    return {
        "positions.encoding_heatmap": positions.encoding_heatmap(table, 5, dark=dark),
        "positions.encoding_curves": positions.encoding_curves(table, [0, 3], 10000.0, dark=dark),
        "positions.similarity_heatmap": positions.similarity_heatmap(table, "cosine", dark=dark),
        "positions.similarity_curve": positions.similarity_curve(distances, "cosine", dark=dark),
        "position_bars.token_bars": position_bars.token_bars(tokens, {"one": values, "two": values}, "size", dark=dark),
        "products.product_bars": products.product_bars(
            values, "abc", values_are="product", terms_are="dimension", dark=dark
        ),
        "piece_scores.piece_scores": piece_scores.piece_scores(trace_with_alternatives(), dark=dark),
    }


def _of_meaning(dark: bool) -> dict[str, go.Figure]:
    generator = np.random.default_rng(5)
    cosines, unrelated = generator.uniform(-0.3, 1, (4, 3, 3)), generator.uniform(-0.2, 0.6, (4, 11))
    places, star = generator.normal(size=(3, 2)), sense_map.Star("1", "mine", (0.5, 0.5))
    names = ["1 and 2", "1 and 3"]
    return {
        "meaning.across_lines": meaning.across_lines(cosines, unrelated, [1, 2, 3], chosen=2, dark=dark),
        "meaning.own_lines": meaning.own_lines(cosines[:, 0], [1, 2, 3], chosen=2, dark=dark),
        "meaning.cosine_heatmap": meaning.cosine_heatmap(cosines[1], [1, 2, 3], dark=dark),
        "meaning.sentence_histogram": meaning.sentence_histogram(unrelated[0], [0.9, -0.5], names, dark=dark),
        "sense_map.sense_map": sense_map.sense_map(
            places, ["x", "y", "z"], ["a", "b", "b"], [False, False, True], [star], dark=dark
        ),
        "sense_map.separation_lines": sense_map.separation_lines({"all": [0.5, 0.75]}, 0.5, chosen=1, dark=dark),
    }
