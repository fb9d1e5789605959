"""The numbers that add up to one cell of a matrix, as bars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz.theme import FONT, escape_label, palette

HEIGHT = 240
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

    Bars stand at places 0 to N - 1 and are named by `labels`, thinned where they would overlap; hover tells each.

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
        marker={"color": shades, "line": {"width": 0}},
        hovertemplate=f"{escape_label(terms_are)} %{{customdata}}: <b>%{{y:.6g}}</b><extra></extra>",
    )
    return go.Figure(bars, _layout(names, values_are, terms_are, dark))


def _layout(names: Sequence[str], values_are: str, terms_are: str, dark: bool) -> go.Layout:
    colours = palette(dark)
    longest = max((len(name) for name in names), default=0)
    upright = longest > _LONGEST_FLAT
    most = _MOST_LABELS if upright else _MOST_LABELS // max(longest - 1, 1)
    places = range(0, len(names), -(-len(names) // most))
    return go.Layout(
        height=HEIGHT + (50 if upright else 0),
        margin={"l": 48, "r": 8, "t": 28, "b": 90 if upright else 40},
        paper_bgcolor=colours.background,
        plot_bgcolor=colours.background,
        font={"family": FONT, "color": colours.text, "size": 11},
        title={"text": escape_label(values_are, None), "font": {"size": 12}, "x": 0, "xanchor": "left"},
        showlegend=False,
        bargap=0.15,
        dragmode=False,
        xaxis={
            "title": {"text": escape_label(terms_are, None), "font": {"size": 11}},
            "tickvals": [*places],
            "ticktext": [names[place] for place in places],
            "tickangle": -90 if upright else 0,
            "range": [-0.6, len(names) - 0.4],
            "automargin": False,
            "fixedrange": True,
            "showgrid": False,
        },
        yaxis={
            "automargin": False,
            "fixedrange": True,
            "zeroline": True,
            "zerolinecolor": colours.muted,
            "gridcolor": colours.hatch,
            "griddash": "dot",
            "nticks": 5,
        },
    )
