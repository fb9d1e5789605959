"""Similarity of a word's vectors from one sentence to the next: lines over the layers, a matrix, a histogram.

Shapes: L layer, N sentence.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz.figures.template import (
    SYMBOLS,
    even_stops,
    faint_grid,
    frame,
    see_through,
    series_line,
    text_ticks,
)
from viz.theme import Palette, palette
from viz.wording import fixed

LAYER_AXIS = "layer (0: embedding and position)"
BINS = 36  # of the histogram


def pairs_of(count: int) -> list[tuple[int, int]]:
    """All pairs of `count` sentences, from 0, in the order in which lines and legends have them."""
    return list(itertools.combinations(range(count), 2))


def pair_name(pair: tuple[int, int], numbers: Sequence[int]) -> str:
    """ "1 and 3": the numbers that the page gives the two sentences."""
    return f"{numbers[pair[0]]} and {numbers[pair[1]]}"


def across_lines(
    across: NDArray[np.float64], unrelated: NDArray[np.float64], numbers: Sequence[int], *, chosen: int, dark: bool
) -> go.Figure:
    """A line over the layers for each pair of sentences, from cosines `across [L + 1, N, N]`.

    `unrelated [L + 1, pairs]` are cosines of different words: their mean in grey, with the band that holds the middle
    90 %. `numbers` names the sentences; the `chosen` layer has a vertical line.
    """
    colours = palette(dark)
    lines = [
        _line(across[:, a, b], f"{pair_name((a, b), numbers)}", index, colours)
        for index, (a, b) in enumerate(pairs_of(across.shape[1]))
    ]
    return go.Figure([*_band(unrelated, colours), *lines], _layer_layout(colours, "cosine", across, unrelated, chosen))


def own_lines(own: NDArray[np.float64], numbers: Sequence[int], *, chosen: int, dark: bool) -> go.Figure:
    """A line over the layers for each sentence: the cosine to the word's own embedding, from `own [L + 1, N]`."""
    colours = palette(dark)
    lines = [_line(own[:, index], f"sentence {number}", index, colours) for index, number in enumerate(numbers)]
    return go.Figure(lines, _layer_layout(colours, "cosine to own embedding", own, own, chosen))


def cosine_heatmap(cosines: NDArray[np.float64], numbers: Sequence[int], *, dark: bool) -> go.Figure:
    """The cosines `[N, N]` of one layer as a square, from -1 to 1."""
    colours = palette(dark)
    names = [str(number) for number in numbers]
    ink = [["#14181d" if (abs(value) < 0.5) != dark else "#ffffff" for value in row] for row in cosines]
    cells = go.Heatmap(
        z=cosines,
        zmin=-1,
        zmax=1,
        colorscale=even_stops(colours.diverging),
        colorbar={"tickvals": [-1, 0, 1]},
        hovertemplate="sentences %{y} and %{x}: <b>%{z:.3f}</b><extra></extra>",
    )
    axis = text_ticks(range(len(names)), names) | {"title": {"text": "sentence"}}
    layout = frame(colours, 160, left=44, right=10, top=16, bottom=44, expand=True) | {
        "xaxis": axis,
        "yaxis": axis | {"autorange": "reversed"},
        "annotations": [
            {"x": x, "y": y, "text": fixed(float(cosines[y, x])), "font": {"color": ink[y][x]}}
            for y, x in np.ndindex(cosines.shape)
        ],
    }
    return go.Figure(cells, layout)


def sentence_histogram(
    unrelated: NDArray[np.float64], own: Sequence[float], names: Sequence[str], *, dark: bool
) -> go.Figure:
    """A histogram of the cosines of `unrelated [pairs]` sentences; those of `own` pairs, called `names`, as lines."""
    colours = palette(dark)
    low = min(0.0, float(unrelated.min()), *own)
    counts, edges = np.histogram(unrelated, bins=BINS, range=(low, 1.0))
    bars = go.Bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=counts,
        width=np.diff(edges) * 0.94,
        marker={"color": colours.muted},
        name="unrelated pairs",
        hovertemplate="about %{x:.2f}: pairs %{y}<extra></extra>",
    )
    top = max(int(counts.max()), 1) * 1.12
    lines = [
        go.Scatter(
            x=[value, value],
            y=[0, top],
            mode="lines+markers",
            line=series_line(colours, index),
            marker={"symbol": SYMBOLS[index % len(SYMBOLS)], "size": [0, 10]},
            name=f"{name}: {fixed(value)}",
            hovertemplate=f"sentences {name}: {value:.3f}<extra></extra>",
        )
        for index, (value, name) in enumerate(zip(own, names, strict=True))
    ]
    layout = legend_frame(colours, 176) | {
        "xaxis": _axis(colours, "cosine of the mean encoder outputs") | {"range": [low - 0.02, 1.03]},
        "yaxis": _axis(colours, "pairs") | {"range": [0, top * 1.08]},
    }
    return go.Figure([bars, *lines], layout)


def legend_frame(colours: Palette, plot_height: int) -> dict[str, Any]:
    """A frame with the legend under the x axis's title, growing downwards with the lines that it names."""
    legend = {"y": -64 / plot_height, "yanchor": "top", "traceorder": "normal"}  # a filled band would turn it round
    sizes = frame(colours, plot_height, left=52, right=12, top=16, bottom=108, expand=True)
    return sizes | {"showlegend": True, "legend": legend}


def _axis(colours: Palette, title: str) -> dict[str, Any]:
    return faint_grid(colours) | {"title": {"text": title}}


def layer_axis(colours: Palette, layers: int) -> dict[str, Any]:
    """The horizontal axis of layers 0 to `layers` - 1; the ticks of a deep model are thinned."""
    every = 1 + (layers - 1) // 12
    places = list(range(0, layers, every))
    ticks = text_ticks(places, [str(place) for place in places])
    return _axis(colours, LAYER_AXIS) | ticks | {"range": [-0.3, layers - 0.7]}


def _layer_layout(
    colours: Palette, title: str, first: NDArray[np.float64], second: NDArray[np.float64], chosen: int
) -> dict[str, Any]:
    low = min(0.0, float(first.min()), float(second.min()))
    return legend_frame(colours, 196) | {
        "xaxis": layer_axis(colours, len(first)),
        "yaxis": _axis(colours, title) | {"range": [low - 0.03, 1.04]},
        "shapes": [chosen_line(colours, chosen)],
    }


def chosen_line(colours: Palette, layer: int) -> dict[str, Any]:
    """A vertical line at the chosen layer."""
    line = {"color": colours.muted, "width": 1, "dash": "dot"}
    return {"type": "line", "x0": layer, "x1": layer, "y0": 0, "y1": 1, "yref": "paper", "line": line, "layer": "below"}


def _line(values: NDArray[np.float64], name: str, index: int, colours: Palette) -> go.Scatter:
    line = series_line(colours, index)
    return go.Scatter(
        x=list(range(len(values))),
        y=values,
        name=name,
        mode="lines+markers",
        line=line,
        marker={"symbol": SYMBOLS[index % len(SYMBOLS)], "size": 8, "color": line["color"]},
        hovertemplate=f"{name}, layer %{{x}}: <b>%{{y:.3f}}</b><extra></extra>",
    )


def _band(unrelated: NDArray[np.float64], colours: Palette) -> list[go.Scatter]:
    """The middle 90 % of unrelated pairs, and their mean."""
    x = list(range(len(unrelated)))
    low, high = np.percentile(unrelated, (5, 95), axis=1)
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    return [
        go.Scatter(x=x, y=high, **edge),
        go.Scatter(x=x, y=low, fill="tonexty", fillcolor=see_through(colours.hatch), **edge),
        go.Scatter(
            x=x,
            y=unrelated.mean(axis=1),
            mode="lines",
            name="unrelated words",
            line={"color": colours.muted, "width": 2, "dash": "dash"},
            hovertemplate="unrelated words, layer %{x}: <b>%{y:.3f}</b> (mean)<extra></extra>",
        ),
    ]
