"""The colour bar of a heatmap."""

from __future__ import annotations

from typing import Any


def short_bar(title: str, ticks: dict[float, str], above: float) -> dict[str, Any]:
    """Plotly's settings for a short bar over the cells: beside them, it would take a phone's width away.

    `ticks` are values with their texts; `above` is the distance to the cells in shares of the plot's height.
    """
    return {
        "title": {"text": title, "side": "top", "font": {"size": 11}},
        "orientation": "h",
        "thickness": 8,
        "len": 0.5,
        "x": 0,
        "xanchor": "left",
        "xpad": 0,
        "y": 1 + above,
        "yanchor": "bottom",
        "ypad": 0,
        "outlinewidth": 0,
        "tickvals": list(ticks),
        "ticktext": list(ticks.values()),
        "tickfont": {"size": 10},
    }
