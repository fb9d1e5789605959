"""The one look of all figures: a Plotly template for each palette, and the parts that several figures share.

A figure's own layout says only what is its own: sizes, titles, ranges, ticks. Sizes are in pixels.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache
from typing import Any

import plotly.graph_objects as go

from viz.theme import DARK, FONT, LIGHT, Palette, label_width

TEXT_SIZE = 12
SMALL_SIZE = 11  # notes, titles of colour bars, numbers in cells and behind bars
CLEAR = "rgba(0,0,0,0)"
# Beside the colour, so that it is not needed to tell lines apart.
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "triangle-down", "pentagon", "star-triangle-up")


@cache
def template(colours: Palette) -> go.layout.Template:
    """Font, colours, grid, legend, hover label and buttons of every figure in one palette.

    Plotly's default template is six times as long, and would go to the browser with every figure. An axis has no grid
    and no zero line unless it asks for them (`showgrid`, `zeroline`); a figure has no legend unless it asks for one.
    """
    axis = {
        "automargin": False,  # measuring labels costs the browser more than drawing them: see `label_pixels`
        "showgrid": False,
        "gridcolor": colours.hatch,
        "griddash": "dot",
        "zeroline": False,
        "zerolinecolor": colours.muted,
        "ticks": "",
        "title": {"standoff": 15},
    }
    layout = {
        "font": {"family": FONT, "color": colours.text, "size": TEXT_SIZE},
        "paper_bgcolor": colours.background,  # the page's own; a picture taken home needs it under its text
        "plot_bgcolor": CLEAR,
        "colorway": colours.series,
        "margin": {"pad": 0, "autoexpand": False},
        "showlegend": False,
        "legend": {"orientation": "h", "x": 0, "xanchor": "left"},
        "hoverlabel": {"align": "left", "font": {"family": FONT}},
        "modebar": {"bgcolor": CLEAR, "color": colours.muted, "activecolor": colours.text},
        "annotationdefaults": {"showarrow": False},
        "autotypenumbers": "strict",  # a label that looks like a number stays a label
        "xaxis": axis,
        "yaxis": axis,
    }
    heatmap = {
        "colorscale": even_stops(colours.sequential),
        "colorbar": {"thickness": 8, "outlinewidth": 0, "ticks": ""},
        "hoverongaps": False,
    }
    pattern = {"fgcolor": colours.background, "size": 6, "solidity": 0.25}
    bar = {"marker": {"line": {"width": 0}, "pattern": pattern}}
    return go.layout.Template(layout=layout, data={"heatmap": [heatmap], "bar": [bar]})


def palette_of(figure: go.Figure) -> Palette:
    """The palette that a figure was drawn in; the light one if the figure has another template than ours."""
    layout: Any = figure.layout
    return DARK if layout.template.layout.paper_bgcolor == DARK.background else LIGHT


def frame(
    colours: Palette, plot_height: float, *, left: int, right: int, top: int, bottom: int, expand: bool = False
) -> dict[str, Any]:
    """A layout of the template and the sizes: the plot's own height, and the margins around it.

    `expand` lets Plotly widen the margins where a legend or a colour bar outside the plot needs more.
    """
    margin = {"l": left, "r": right, "t": top, "b": bottom} | ({"autoexpand": True} if expand else {})
    return {"template": template(colours), "height": plot_height + top + bottom, "margin": margin}


def page_hover(colours: Palette) -> dict[str, Any]:
    """Hover labels in the page's colours, for figures whose own colours say a value or are pale: else a label has the
    colour of its line or bar."""
    look = {"bgcolor": colours.background, "bordercolor": colours.muted, "font": {"color": colours.text}}
    return {"hoverlabel": look}


def text_ticks(places: Sequence[float], labels: Sequence[str], every: int = 1) -> dict[str, Any]:
    """An axis's labels at their places, which keeps equal labels apart; only every n-th of them is written."""
    return {"tickvals": list(places)[::every], "ticktext": list(labels)[::every]}


def faint_grid(colours: Palette) -> dict[str, Any]:
    """A pale unbroken grid, for an axis under many lines or points, where dots would be taken for data."""
    return {"showgrid": True, "gridcolor": see_through(colours.hatch), "griddash": "solid"}


def axis_holder(yaxis: str = "y") -> go.Scatter:
    """An invisible trace on axis x and a y axis: Plotly draws an axis only where a trace lies on it."""
    return go.Scatter(x=[None], y=[None], xaxis="x", yaxis=yaxis, showlegend=False, hoverinfo="skip")


def label_pixels(labels: Sequence[str], size: int) -> float:
    """How wide the longest of these labels (Plotly's text, on one line) is at a font size: an estimate of `theme`."""
    return size * max((label_width(html.unescape(label)) for label in labels), default=0.0)


def short_bar(title: str, ticks: dict[float, str], above: float, length: float = 0.5) -> dict[str, Any]:
    """A heatmap's colour bar, level and over the cells: beside them, it would take a phone's width away.

    `ticks` are values with their texts; `above` is the distance to the cells in shares of the plot's height, `length`
    the bar's in shares of its width.
    """
    return {
        "title": {"text": title, "side": "top", "font": {"size": SMALL_SIZE}},
        "orientation": "h",
        "len": length,
        "x": 0,
        "xanchor": "left",
        "xpad": 0,
        "y": 1 + above,
        "yanchor": "bottom",
        "ypad": 0,
        "tickfont": {"size": 10},
    } | text_ticks(list(ticks), list(ticks.values()))


def even_stops(scale: Sequence[str]) -> list[tuple[float, str]]:
    """Colours in equal steps as Plotly's colour scale: shares from 0 to 1 with their colours."""
    return [(index / (len(scale) - 1), colour) for index, colour in enumerate(scale)]


def series_line(colours: Palette, index: int) -> dict[str, Any]:
    """Colour, width and dash of the line with this number, from 0."""
    return {"color": colours.series_colour(index), "width": 2, "dash": DASHES[index % len(DASHES)]}


def see_through(colour: str) -> str:
    """The "#rrggbb" colour at about a third of its strength."""
    red, green, blue = bytes.fromhex(colour[1:])
    return f"rgba({red},{green},{blue},0.35)"
