"""Bars of a few numbers for each token of a sentence, beside each other.

Shapes: S source token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from model_core.trace import Tokens
from viz.figures.template import SMALL_SIZE, frame, label_pixels, page_hover, text_ticks
from viz.theme import Palette, escape_label, palette

SMALLEST = 1e-9  # a logarithmic axis draws it in place of 0
_LABELS = 48  # labels at most
_PATTERNS = ("", "/", ".")  # beside the colour, so that it is not needed to tell bars apart


def token_bars(
    tokens: Tokens, series: Mapping[str, NDArray[np.float32]], title: str, *, log: bool = False, dark: bool = False
) -> go.Figure:
    """One bar per token for each of the named `series`, each `[S]`. The y axis is called `title`.

    On a logarithmic axis (`log`) a 0 is drawn as SMALLEST; the hover label has the true number. Past 48 tokens not
    every label is drawn.

    Raises:
        ValueError: a series does not have one number per token.
    """
    colours = palette(dark)
    names = [escape_label(token.text) for token in tokens]
    bars = []
    for number, (name, values) in enumerate(series.items()):
        if len(values) != len(tokens):
            raise ValueError(f"{name!r} has {len(values)} numbers for {len(tokens)} tokens; each needs one.")
        bars.append(
            go.Bar(
                x=np.arange(len(tokens)),
                y=np.maximum(values, SMALLEST) if log else values,
                name=name,
                customdata=values,
                marker={
                    "color": colours.series_colour(number),
                    "pattern": {"shape": _PATTERNS[number % len(_PATTERNS)], "fillmode": "overlay"},
                },
                hovertemplate=f"token %{{x}}: {name} <b>%{{customdata:.4g}}</b><extra></extra>",
            )
        )
    return go.Figure(bars, _layout(names, title, log, len(series), colours))


def _layout(names: list[str], title: str, log: bool, series: int, colours: Palette) -> dict[str, Any]:
    size = 12 if len(names) <= 24 else 10
    bottom = round(label_pixels(names, size) + 14)
    legend = {"orientation": "v", "y": 1, "yref": "container", "yanchor": "top", "font": {"size": SMALL_SIZE}}
    layout = {
        "bargap": 0.25,
        "barmode": "group",
        "showlegend": series > 1,
        "legend": legend,
        "xaxis": text_ticks(range(len(names)), names, -(-len(names) // _LABELS))
        | {"range": [-0.5, len(names) - 0.5], "tickfont": {"size": size}, "tickangle": -90},
        "yaxis": {
            "title": {"text": title, "standoff": 8},
            "type": "log" if log else "linear",
            "nticks": 6,
            "showgrid": True,
            "zeroline": not log,
            "exponentformat": "power",
        },
    }
    sizes = frame(colours, 230, left=60, right=12, top=12 + 19 * series, bottom=bottom)
    return sizes | page_hover(colours) | layout
