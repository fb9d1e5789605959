"""Bars of the products that add up to one cell of a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz.figures.template import SMALL_SIZE, frame, text_ticks
from viz.theme import Palette, escape_label, palette

_PLOT_HEIGHT = 172
_MOST_LABELS = 16
_LONGEST_FLAT = 3  # characters of a label that lies flat


def product_bars(
    values: NDArray[np.floating],
    labels: Sequence[str],
    *,
    values_are: str,
    terms_are: str,
    marked: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """A bar for each of `values [N]`, upwards where it is positive; the `marked` one has the accent's colour.

    Bars stand at places 0 to N - 1 and are named by `labels`, thinned where they would overlap; hover labels name all.

    Raises:
        ValueError: there are not as many labels as values.
    """
    if len(values) != len(labels):
        raise ValueError(f"{len(values)} values need as many labels, not {len(labels)}.")
    colours = palette(dark)
    up, down = colours.series[0], colours.series[1]
    shades = [up if value >= 0 else down for value in values]
    if marked is not None:
        shades = [colours.accent if place == marked else colours.hatch for place in range(len(values))]
    names = [escape_label(label) for label in labels]
    bars = go.Bar(
        x=np.arange(len(values)),
        y=np.asarray(values, dtype=np.float64),
        customdata=names,
        marker={"color": shades},
        hovertemplate=f"{escape_label(terms_are)} %{{customdata}}: <b>%{{y:.6g}}</b><extra></extra>",
    )
    return go.Figure(bars, _layout(names, values_are, terms_are, colours))


def _layout(names: Sequence[str], values_are: str, terms_are: str, colours: Palette) -> dict[str, Any]:
    longest = max((len(name) for name in names), default=0)
    upright = longest > _LONGEST_FLAT
    most = _MOST_LABELS if upright else _MOST_LABELS // max(longest - 1, 1)
    return frame(colours, _PLOT_HEIGHT, left=48, right=8, top=28, bottom=90 if upright else 40) | {
        "font": {"size": SMALL_SIZE},
        "title": {"text": escape_label(values_are, None), "font": {"size": 12}, "x": 0, "xanchor": "left"},
        "bargap": 0.15,
        "dragmode": False,
        "xaxis": text_ticks(range(len(names)), names, -(-len(names) // most))
        | {
            "title": {"text": escape_label(terms_are, None), "font": {"size": SMALL_SIZE}},
            "tickangle": -90 if upright else 0,
            "range": [-0.6, len(names) - 0.4],
            "fixedrange": True,
        },
        "yaxis": {"showgrid": True, "zeroline": True, "zerolinewidth": 2, "fixedrange": True, "nticks": 5},
    }
