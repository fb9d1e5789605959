"""A few numbers for each token of a sentence, as bars beside each other.

Shapes: S source token.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from model_core.trace import Tokens
from viz.theme import FONT, Palette, escape_label, label_width, palette

SMALLEST = 1e-9  # what a logarithmic axis draws in place of 0
_LABELS = 48
_PATTERNS = ("", "/", ".")  # beside the colour, so that it is not needed to tell bars apart


def token_bars(
    tokens: Tokens, series: Mapping[str, NDArray[np.float32]], title: str, *, log: bool = False, dark: bool = False
) -> go.Figure:
    """One bar a token for each of the named `series`, each `[S]`. The y axis is called `title`.

    On a logarithmic axis (`log`) a 0 is drawn as SMALLEST; hover keeps to the true number. Past 48 tokens not every
    label is drawn.

    Raises:
        ValueError: a series does not have one number a token.
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
                    "color": colours.series[number % len(colours.series)],
                    "line": {"width": 0},
                    "pattern": {
                        "shape": _PATTERNS[number % 3],
                        "fillmode": "overlay",
                        "fgcolor": colours.background,
                        "size": 6,
                        "solidity": 0.25,
                    },
                },
                hovertemplate=f"token %{{x}}: {name} <b>%{{customdata:.4g}}</b><extra></extra>",
            )
        )
    return go.Figure(bars, _layout(names, title, log, len(series), colours))


def _layout(names: list[str], title: str, log: bool, series: int, colours: Palette) -> dict[str, Any]:
    size = 12 if len(names) <= 24 else 10
    longest = max(label_width(html.unescape(name)) for name in names)
    step = -(-len(names) // _LABELS)
    ticks = list(range(0, len(names), step))
    bottom, top = round(longest * size + 14), 12 + 19 * series
    text = {"family": FONT, "color": colours.text, "size": 12}
    return {
        "template": {},
        "font": text,
        "paper_bgcolor": colours.background,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "height": 230 + top + bottom,
        "margin": {"l": 60, "r": 12, "t": top, "b": bottom, "pad": 0, "autoexpand": False},
        "bargap": 0.25,
        "barmode": "group",
        "legend": {"x": 0, "y": 1, "yref": "container", "xanchor": "left", "yanchor": "top", "font": {"size": 11}},
        "hoverlabel": {"bgcolor": colours.background, "bordercolor": colours.muted, "font": text},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": colours.muted, "activecolor": colours.text},
        "xaxis": {
            "range": [-0.5, len(names) - 0.5],
            "tickvals": ticks,
            "ticktext": [names[place] for place in ticks],
            "tickfont": {"size": size},
            "tickangle": -90,
            "automargin": False,
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": {
            "title": {"text": title, "standoff": 8},
            "type": "log" if log else "linear",
            "automargin": False,
            "nticks": 6,
            "showgrid": True,
            "gridcolor": colours.hatch,
            "griddash": "dot",
            "zeroline": not log,
            "zerolinecolor": colours.muted,
            "exponentformat": "power",
        },
    }
