"""One number per head for all layers of a site: a small heatmap with the numbers written in."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz.figures.template import SMALL_SIZE, frame, short_bar
from viz.theme import DARK, LIGHT, Palette, escape_label, palette

_ROW, _TOP, _BOTTOM, _LEFT, _RIGHT = 34, 58, 46, 66, 12


def head_statistics_figure(
    values: NDArray[np.float64],
    title: str,
    *,
    highest: float = 1.0,
    chosen: tuple[int, int] | None = None,
    dark: bool = False,
) -> go.Figure:
    """`values [layer, head]`, coloured from 0 to `highest`, layers from top to bottom; `chosen` is framed.

    `chosen` is a layer and a head, from 0; on the axes both count from 1. The height is fixed, the width not.

    Raises:
        ValueError: the values are not one number per layer and head.
    """
    if values.ndim != 2:
        raise ValueError(f"There has to be one number for each layer and head, not an array of {list(values.shape)}.")
    colours = palette(dark)
    layers, heads = values.shape
    cells = go.Heatmap(
        z=values,
        x=list(range(1, heads + 1)),
        y=list(range(1, layers + 1)),
        zmin=0.0,
        zmax=highest,
        colorbar=_colour_bar(title, highest, layers * _ROW),
        xgap=1,
        ygap=1,
        hovertemplate="layer %{y}, head %{x}: <b>%{z:.4f}</b><extra></extra>",
    )
    return go.Figure([cells, _numbers(values, highest, colours)], _layout(layers, heads, chosen, colours))


def _numbers(values: NDArray[np.float64], highest: float, colours: Palette) -> go.Scatter:
    """The numbers in their cells, each in dark or light, whichever stands out more from the cell's colour."""
    layers, heads = values.shape
    cells = [colours.colour_at(value / highest) for value in values.ravel()]
    return go.Scatter(
        x=list(range(1, heads + 1)) * layers,
        y=[layer for layer in range(1, layers + 1) for _ in range(heads)],
        text=[f"{value:.2f}" for value in values.ravel()],
        mode="text",
        textfont={"size": SMALL_SIZE, "color": [_ink_on(cell) for cell in cells]},
        hoverinfo="skip",
    )


def _ink_on(cell: str) -> str:
    """Dark or light, by the contrast ratio of WCAG 2.2."""
    inks = sorted((LIGHT.text, DARK.text), key=_luminance)
    here = _luminance(cell) + 0.05
    return inks[1] if (_luminance(inks[1]) + 0.05) / here > here / (_luminance(inks[0]) + 0.05) else inks[0]


def _luminance(colour: str) -> float:
    """The relative luminance of an sRGB "#rrggbb", 0 to 1 (WCAG 2.2)."""
    channels = np.frombuffer(bytes.fromhex(colour[1:]), np.uint8) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def _layout(layers: int, heads: int, chosen: tuple[int, int] | None, colours: Palette) -> dict[str, object]:
    every_number = {"dtick": 1, "ticklabelstandoff": 3}
    return frame(colours, layers * _ROW, left=_LEFT, right=_RIGHT, top=_TOP, bottom=_BOTTOM) | {
        "xaxis": every_number | {"range": [0.5, heads + 0.5], "title": {"text": "head", "standoff": 22}},
        "yaxis": every_number | {"range": [layers + 0.5, 0.5], "title": {"text": "layer", "standoff": 6}},
        "shapes": [] if chosen is None else [_frame(*chosen, colours)],
    }


def _frame(layer: int, head: int, colours: Palette) -> dict[str, object]:
    corners = {"x0": head + 0.5, "x1": head + 1.5, "y0": layer + 0.5, "y1": layer + 1.5}
    return {"type": "rect", **corners, "line": {"color": colours.accent, "width": 3}}


def _colour_bar(title: str, highest: float, height: float) -> dict[str, object]:
    values = (0.0, highest / 2, highest)
    ticks = {value: f"{value:.2f}".rstrip("0").rstrip(".") or "0" for value in values}
    return short_bar(escape_label(title, limit=None), ticks, 4 / height, length=0.6)
