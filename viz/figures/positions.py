"""The sinusoidal encoding: as a heatmap, as curves, and how similar two positions are.

Positions and dimensions count from 0 here, as in the formula. Shapes: P position, D d_model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz.figures.template import DASHES, SMALL_SIZE, even_stops, frame, page_hover, series_line, short_bar
from viz.theme import Palette, palette

Floats = NDArray[np.float32]
Similarity = Literal["dot product", "cosine"]
MAX_CELLS = 256 * 130
MOST_CURVES = 8


def shown_dimensions(positions: int, d_model: int) -> list[int]:
    """The dimensions that a heatmap of this many positions draws: all, or every n-th pair of sine and cosine from the
    first on, so that there are at most MAX_CELLS cells."""
    pairs = d_model // 2
    stride = math.ceil(pairs / max(MAX_CELLS // positions // 2, 1))
    return [dimension for pair in range(0, pairs, stride) for dimension in (2 * pair, 2 * pair + 1)]


def shown_positions(positions: int) -> list[int]:
    """The positions that a heatmap of position by position draws: all, or every n-th; at most MAX_CELLS cells."""
    return list(range(0, positions, math.ceil(positions / math.isqrt(MAX_CELLS))))


def wave_length(dimension: int, d_model: int, base: float) -> float:
    """The number of positions after which a dimension (from 0) repeats: 2 pi base^(2i / d_model), i being its pair."""
    return 2 * math.pi * base ** (2 * (dimension // 2) / d_model)


def similarity_matrix(table: Floats, kind: Similarity) -> Floats:
    """Every position's encoding with every other's, `[P, D]` -> `[P, P]`."""
    rows = table.astype(np.float64)
    if kind == "cosine":
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows @ rows.T).astype(np.float32)


def similarity_by_distance(table: Floats, kind: Similarity) -> Floats:
    """The first position's encoding with every other's, `[P, D]` -> `[P]`: all rows of the matrix hold the same."""
    rows = table.astype(np.float64)
    values = rows @ rows[0]
    if kind == "cosine":
        values = values / (np.linalg.norm(rows, axis=1) * np.linalg.norm(rows[0]))
    return values.astype(np.float32)


def encoding_heatmap(table: Floats, sentence: int | None = None, *, dark: bool = False) -> go.Figure:
    """`table [P, D]`, positions from top to bottom; a line marks where a sentence of `sentence` tokens ends."""
    positions, d_model = table.shape
    dimensions = shown_dimensions(positions, d_model)
    colours, height = palette(dark), min(max(positions * 4, 200), 380)
    cells = go.Heatmap(
        z=table[:, dimensions],
        x=[str(dimension) for dimension in dimensions],
        y=np.arange(positions),
        hovertemplate="position %{y}, dimension %{x}: <b>%{z:.4f}</b><extra></extra>",
        **_signed(colours, 1.0, "encoding", height),
    )
    thinned = "" if len(dimensions) == d_model else f" ({len(dimensions)} of {d_model} drawn)"
    x = _axis(f"dimension{thinned}") | {
        "type": "category",
        "tickvals": [str(dimension) for dimension in dimensions[:: max(len(dimensions) // 8, 1)]],
        "tickangle": 0,
    }
    y = _axis("position") | {"range": [positions - 0.5, -0.5], "nticks": 8}
    layout = _layout(colours, height, x, y, top=54)
    if sentence is not None and sentence < positions:
        layout |= _end_of_sentence(sentence, colours)
    return go.Figure(cells, layout)


def encoding_curves(table: Floats, dimensions: Sequence[int], base: float, *, dark: bool = False) -> go.Figure:
    """The chosen dimensions of `table [P, D]` over the position, their wave lengths in the legend.

    Raises:
        ValueError: more than MOST_CURVES are chosen, for which there are no colours.
    """
    if len(dimensions) > MOST_CURVES:
        raise ValueError(f"{len(dimensions)} curves can't be told apart: choose at most {MOST_CURVES}.")
    positions, d_model = table.shape
    colours = palette(dark)
    curves = []
    for number, dimension in enumerate(dimensions):
        name = f"{dimension}, {'cosine' if dimension % 2 else 'sine'}, wave length "
        name += _plain(wave_length(dimension, d_model, base))
        line = series_line(colours, number) | {"dash": DASHES[number % 4]}  # long dashes look unbroken in a short wave
        hover = f"position %{{x}}, dimension {dimension}: <b>%{{y:.4f}}</b><extra></extra>"
        y = table[:, dimension]
        curves.append(go.Scatter(x=np.arange(positions), y=y, mode="lines", name=name, line=line, hovertemplate=hover))
    x = _axis("position") | {"range": [0, positions - 1], "nticks": 8}
    y = _axis("encoding") | {"range": [-1.08, 1.08], "tickvals": [-1, 0, 1]}
    layout = _layout(colours, 260, x, y, top=12, below=24 + 19 * len(dimensions))
    legend = {"orientation": "v", "title": {"text": "dimension"}, "y": -46 / 260, "yanchor": "top"}
    return go.Figure(curves, layout | {"showlegend": bool(curves), "legend": legend})


def similarity_heatmap(table: Floats, kind: Similarity, *, dark: bool = False) -> go.Figure:
    """How similar each position's encoding is to each other's; the colours are symmetrical about 0."""
    places = shown_positions(len(table))
    colours, height = palette(dark), 320
    matrix = similarity_matrix(table[places], kind)
    cells = go.Heatmap(
        z=matrix,
        x=places,
        y=places,
        hovertemplate=f"positions %{{y}} and %{{x}}: {kind} <b>%{{z:.3f}}</b><extra></extra>",
        **_signed(colours, float(matrix.max()), kind, height),
    )
    step = places[1] - places[0] if len(places) > 1 else 1
    thinned = "" if step == 1 else f" (1 in {step} drawn)"
    x = _axis(f"position{thinned}") | {"range": [-step / 2, places[-1] + step / 2], "nticks": 8}
    y = _axis("position") | {"range": [places[-1] + step / 2, -step / 2], "nticks": 8}
    return go.Figure(cells, _layout(colours, height, x, y, top=54))


def similarity_curve(values: Floats, kind: Similarity, *, dark: bool = False) -> go.Figure:
    """How similar two positions are by their distance: `values [P]` of `similarity_by_distance`."""
    colours = palette(dark)
    curve = go.Scatter(
        x=np.arange(len(values)),
        y=values,
        mode="lines",
        line=series_line(colours, 0),
        hovertemplate=f"distance %{{x}}: {kind} <b>%{{y:.3f}}</b><extra></extra>",
    )
    x = _axis("distance between two positions") | {"range": [0, max(len(values) - 1, 1)], "nticks": 8}
    y = _axis(kind) | {"rangemode": "tozero", "nticks": 6, "zeroline": True}
    return go.Figure(curve, _layout(colours, 320, x, y, top=54))


def _signed(colours: Palette, limit: float, title: str, height: int) -> dict[str, Any]:
    """Colours from -limit over 0 to limit, and a short bar above the cells."""
    bar = short_bar(title, {-limit: "−" + _plain(limit), 0: "0", limit: _plain(limit)}, 8 / height)
    return {"zmin": -limit, "zmax": limit, "colorscale": even_stops(colours.diverging), "colorbar": bar}


def _end_of_sentence(tokens: int, colours: Palette) -> dict[str, Any]:
    """A line under the last of the sentence's rows, and a note beneath it."""
    line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": tokens - 0.5, "y1": tokens - 0.5}
    note = {"text": f"↑ this sentence: positions 0 to {tokens - 1}", "xref": "paper", "x": 1}
    note |= {"y": tokens - 0.5, "xanchor": "right", "yanchor": "top", "yshift": -3, "borderpad": 3}
    note |= {"bgcolor": colours.background, "font": {"size": SMALL_SIZE, "color": colours.text}}
    return {"shapes": [line | {"line": {"color": colours.text, "width": 1.5}}], "annotations": [note]}


def _axis(title: str) -> dict[str, Any]:
    return {"title": {"text": title, "standoff": 8}, "ticks": "outside", "ticklen": 3}


def _layout(
    colours: Palette, height: int, x: dict[str, Any], y: dict[str, Any], *, top: int, below: int = 0
) -> dict[str, Any]:
    """The layout; `height` is the plot's own, `top` the space above it and `below` that under the x axis's title."""
    sizes = frame(colours, height, left=52, right=12, top=top, bottom=44 + below)
    return sizes | page_hover(colours) | {"xaxis": x, "yaxis": y}


def _plain(number: float) -> str:
    """Four digits at most, thousands set apart: "6.283", "62,830"."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"
