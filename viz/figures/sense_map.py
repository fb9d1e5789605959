"""Figures of a word's senses: a map with a point for each sentence, and how well layers separate the senses."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz.figures.meaning import chosen_line, layer_axis, legend_frame
from viz.figures.template import SYMBOLS, faint_grid, frame, series_line
from viz.theme import Palette, escape_label, palette, visible

HOVER_WIDTH = 44  # characters per line
REACH = 1.3  # the least that a map with titles shows on either side of 0


@dataclass(frozen=True)
class Star:
    """A sentence that the person typed, on the map."""

    name: str
    text: str
    place: tuple[float, float]


def sense_map(
    places: NDArray[np.float64],
    texts: Sequence[str],
    senses: Sequence[str],
    held_out: Sequence[bool],
    stars: Sequence[Star],
    *,
    dark: bool,
    titles: tuple[str, str] | None = None,
) -> go.Figure:
    """Points at `places [N, 2]`, colour and symbol by sense, hollow where the sentence was held out of training; the
    person's own as labelled stars.

    Without `titles` of the axes both have one scale, so that distances are true. With them (an empty one is not
    written) both run from -REACH to REACH, so that layers can be compared, or further where a point lies further out.
    """
    colours = palette(dark)
    points = []
    for index, sense in enumerate(dict.fromkeys(senses)):
        for hollow in (False, True):
            rows = [i for i, kind in enumerate(zip(senses, held_out, strict=True)) if kind == (sense, hollow)]
            if rows:
                points.append(_points(places[rows], [texts[row] for row in rows], sense, index, hollow, colours))
    return go.Figure([*points, *([_stars(stars, colours)] if stars else [])], _layout(places, stars, titles, colours))


def separation_lines(shares: Mapping[str, Sequence[float]], chance: float, *, chosen: int, dark: bool) -> go.Figure:
    """A line for each name: the share (0 to 1) of sentences whose sense is recognised, one value per layer. A dotted
    line shows `chance`, the share that always guessing the commonest sense reaches."""
    colours = palette(dark)
    layers = list(range(len(next(iter(shares.values())))))
    lines = [
        go.Scatter(
            x=layers,
            y=[100 * value for value in values],
            name=name,
            mode="lines+markers",
            line=series_line(colours, index),
            marker={"symbol": SYMBOLS[index], "size": 8},
            hovertemplate=f"{name}, layer %{{x}}: <b>%{{y:.0f}} %</b><extra></extra>",
        )
        for index, (name, values) in enumerate(shares.items())
    ]
    guess = go.Scatter(
        x=[layers[0], layers[-1]],
        y=[100 * chance] * 2,
        mode="lines",
        name="the commonest sense always",
        line={"color": colours.muted, "dash": "dot"},
        hovertemplate="the commonest sense always: %{y:.0f} %<extra></extra>",
    )
    layout = legend_frame(colours, 196) | {
        "xaxis": layer_axis(colours, len(layers)),
        "yaxis": faint_grid(colours) | {"title": {"text": "sense told right, %"}, "range": [0, 104]},
        "shapes": [chosen_line(colours, chosen)],
    }
    return go.Figure([*lines, guess], layout)


def _points(
    places: NDArray[np.float64], texts: Sequence[str], sense: str, index: int, hollow: bool, colours: Palette
) -> go.Scatter:
    colour = colours.series_colour(index)
    symbol = SYMBOLS[index % len(SYMBOLS)] + ("-open" if hollow else "")
    return go.Scatter(
        x=places[:, 0],
        y=places[:, 1],
        mode="markers",
        name=escape_label(sense, 24) + (" (held out)" if hollow else ""),
        marker={"symbol": symbol, "color": colour, "size": 9, "line": {"width": 2 if hollow else 0, "color": colour}},
        customdata=[hover_text(text) for text in texts],
        hovertemplate="%{customdata}<extra>" + escape_label(sense, 24) + "</extra>",
    )


def _stars(stars: Sequence[Star], colours: Palette) -> go.Scatter:
    return go.Scatter(
        x=[star.place[0] for star in stars],
        y=[star.place[1] for star in stars],
        mode="markers+text",
        name="your sentences",
        text=[f"<b>{escape_label(star.name)}</b>" for star in stars],
        textfont={"size": 12, "color": colours.background},
        marker={"symbol": "star", "size": 26, "color": colours.text, "line": {"width": 1, "color": colours.background}},
        customdata=[hover_text(star.text) for star in stars],
        hovertemplate="%{customdata}<extra>yours</extra>",
    )


def hover_text(text: str) -> str:
    """A sentence in lines of at most HOVER_WIDTH characters, as Plotly's text."""
    return "<br>".join(escape_label(line, None) for line in textwrap.wrap(visible(text), HOVER_WIDTH)) or "∅"


def _layout(
    places: NDArray[np.float64], stars: Sequence[Star], titles: tuple[str, str] | None, colours: Palette
) -> dict[str, Any]:
    all_places = np.concatenate([places, np.array([star.place for star in stars]).reshape(-1, 2)])
    low, high = all_places.min(axis=0), all_places.max(axis=0)
    edge = 0.08 * float((high - low).max() or 1.0)
    low, high = low - edge, high + edge
    across, down = (faint_grid(colours) | {"showticklabels": False} for _ in range(2))
    if titles is None:
        across |= {"scaleanchor": "y"}
    else:
        low, high = np.minimum(low, -REACH), np.maximum(high, REACH)
        for axis, title in zip((across, down), titles, strict=True):
            if title:
                axis |= {"title": {"text": escape_label(title, None)}}
    titled = titles is not None and any(titles)
    return frame(colours, 320, left=36 if titled else 12, right=12, top=12, bottom=138, expand=True) | {
        "showlegend": True,
        "legend": {"y": -0.16 if titled else -0.03, "yanchor": "top"},
        "xaxis": across | {"range": [low[0], high[0]]},
        "yaxis": down | {"range": [low[1], high[1]]},
    }
