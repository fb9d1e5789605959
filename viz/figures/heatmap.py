"""One attention map as a heatmap: a row for each query, a column for each key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from model_core.trace import Site, Token
from model_core.trace.view import AttentionView, Unit, strongest
from viz.figures.map_layout import empty_layout, map_layout
from viz.figures.template import axis_holder, even_stops, short_bar
from viz.theme import Palette, cut, palette, visible

Scale = Literal["linear", "root"]
Limits = Literal["unit", "fitted"]

_ROOT_STOPS = 32
_SAME_SUM = 0.0005  # sums closer than this are equal in three digits
SENTENCE_WIDTH = 48  # characters of a token in a sentence


def axis_labels(site: Site, unit: Unit = "piece") -> tuple[str, str]:
    """The titles of the rows and of the columns of a site's maps."""
    key = f"key: decoder input {unit}" if site == "decoder_self" else f"key: source {unit}"
    if site == "encoder_self":
        return f"query: source {unit}", key
    if unit == "piece":
        return "query: decoder input, each row predicts the next piece", key
    return "query: decoder input word, each row predicts what comes next", key


def attention_heatmap(
    view: AttentionView,
    *,
    scale: Scale = "linear",
    limits: Limits = "unit",
    dark: bool = False,
    query_label: str | None = None,
    key_label: str | None = None,
) -> go.Figure:
    """The heatmap of a view with weights `[Q, K]`, queries from top to bottom.

    `limits` "unit" spreads the colours over 0 to 1, "fitted" from the smallest to the largest weight. `scale` "root"
    gives a weight the colour of its square root, so that faint weights show; hover label and colour bar have the true
    weight. Masked cells are hatched. The rows' sum stands below the map where all rows agree, else beside each row.
    The axes are named after the view's site and unit unless labels are given. The height is fixed, the width is not.

    Raises:
        ValueError: the view holds more than one map.
    """
    if view.weights.ndim != 2:
        raise ValueError(f"A heatmap shows one map [Q, K], not weights of shape {list(view.weights.shape)}.")
    colours = palette(dark)
    if not view.weights.size:
        return go.Figure(layout=empty_layout(colours))
    rows_are, columns_are = axis_labels(view.site, view.unit)
    sums_differ = float(np.ptp(view.row_sums)) > _SAME_SUM
    layout = map_layout(view, query_label or rows_are, key_label or columns_are, colours, sums_differ)
    height = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    traces = [_cells(view, colours, scale, limits, height), axis_holder()]
    return go.Figure([*traces, axis_holder("y3")] if sums_differ else traces, layout)


def attention_alt(view: AttentionView) -> str:
    """One plain sentence with the picture's main number, for people and programs that do not see it."""
    if not view.allowed.any():
        return "There is no attention to show."
    row, column, weight = strongest(view.weights, view.allowed)
    query, key = _quoted(view.query_tokens[row]), _quoted(view.key_tokens[column])
    if view.predicted_tokens:
        query += f" (which predicts {_quoted(view.predicted_tokens[row])})"
    larger_left_out = view.weights[view.allowed].max() > weight
    note = " Rows that may look at one key only are left out." if larger_left_out else ""
    return f"The strongest weight is {weight:.2f}, from {query} to {key}.{note}"


def _quoted(token: Token) -> str:
    """A token in a sentence: in quotation marks, since it may be a full stop, and not longer than a line."""
    return f"“{cut(visible(token.text), SENTENCE_WIDTH)}”"


def _cells(view: AttentionView, colours: Palette, scale: Scale, limits: Limits, height: float) -> go.Heatmap:
    low, high = (0.0, 1.0) if limits == "unit" else _fitted(view)
    return go.Heatmap(
        z=np.where(view.allowed, view.weights, np.float32("nan")),
        x=_categories(view.key_tokens),
        y=_categories(view.query_tokens),
        xaxis="x2",
        yaxis="y2",
        zmin=low,
        zmax=high,
        colorscale=_colour_stops(colours, scale),
        colorbar=_colour_bar(low, high, _bar_title(scale, limits), height),
        hovertemplate="weight: <b>%{z:.4g}</b><br>%{x}<br>%{y}<extra></extra>",
    )


def _fitted(view: AttentionView) -> tuple[float, float]:
    weights = view.weights[view.allowed]
    low, high = (float(weights.min()), float(weights.max())) if weights.size else (0.0, 1.0)
    return (low, high) if low < high else (min(low, 0.0), high if high > 0.0 else 1.0)


def _colour_stops(colours: Palette, scale: Scale) -> list[tuple[float, str]]:
    """Colours over the range of weights. The root scale moves the stops, not the weights, which stay true."""
    if scale == "linear":
        return even_stops(colours.sequential)
    shares = [i / _ROOT_STOPS for i in range(_ROOT_STOPS + 1)]
    return [(share**2, colours.colour_at(share)) for share in shares]


def _bar_title(scale: Scale, limits: Limits) -> str:
    notes = (["colour: square root"] if scale == "root" else []) + (["fitted"] if limits == "fitted" else [])
    return f"weight ({', '.join(notes)})" if notes else "weight"


def _colour_bar(low: float, high: float, title: str, height: float) -> dict[str, Any]:
    return short_bar(title, dict(zip((low, (low + high) / 2, high), _tick_texts(low, high), strict=True)), 4 / height)


def _tick_texts(low: float, high: float) -> list[str]:
    """The ends of the range and its middle, to two digits of the range."""
    digits = max(2, 1 - math.floor(math.log10(high - low)))
    return [f"{value:.{digits}f}".rstrip("0").rstrip(".") for value in (low, (low + high) / 2, high)]


def _categories(tokens: Sequence[Token]) -> list[str]:
    """Places, not texts: two equal tokens are two columns."""
    return [str(i) for i in range(len(tokens))]
