"""How a training went: its curves, and a film strip of one attention map over its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz.figures.template import DASHES, SYMBOLS, axis_holder, frame, series_line, text_ticks
from viz.theme import Palette, escape_label, palette

PANELS = {
    "diagonal": "Rows on the diagonal, in the best layer",
    "exact": "Share of held-out sequences copied exactly",
    "loss": "Training loss (nats a token)",
}
_TOP, _BOTTOM = 84, 36  # margins in pixels, legend and title of the steps included
_PANEL, _PITCH, _TITLE = 114, 150, 18  # pixels: a panel's height, from one panel to the next, a panel's title
FRAMES = 6
GAP = 1  # cells between two frames


@dataclass(frozen=True)
class Curves:
    """One training: per measured step the diagonal's share, the share copied exactly, the loss; None is not measured.

    `slot` (from 0) chooses colour, dash and mark, which a training keeps when others come and go.
    """

    name: str
    slot: int
    steps: tuple[int, ...]
    diagonal: tuple[float | None, ...]
    exact: tuple[float | None, ...]
    loss: tuple[float | None, ...]


def learning_curves(curves: Sequence[Curves], last_step: int, *, dark: bool = False) -> go.Figure:
    """Up to three panels over the same steps, 0 to `last_step`; one line per training, of its own colour and dash.

    A panel of which no training has a number is left out.
    """
    colours = palette(dark)
    shown = [name for name in PANELS if any(_measured(run, name) for run in curves)] or list(PANELS)[:1]
    traces = [_line(run, name, colours) for name in shown for run in curves if _measured(run, name)]
    holders = [axis_holder(_axis(name)) for name in shown]
    return go.Figure([*traces, *holders], _curves_layout(colours, last_step, shown) | {"showlegend": bool(curves)})


def _measured(run: Curves, name: str) -> bool:
    return any(value is not None for value in getattr(run, name))


def curves_csv(curves: Sequence[Curves]) -> str:
    """A row for each training and measured step; a cell is empty where nothing was measured."""
    rows = [
        {"training": run.name, "step": step, "diagonal": diagonal, "exact": exact, "loss": loss}
        for run in curves
        for step, diagonal, exact, loss in zip(run.steps, run.diagonal, run.exact, run.loss, strict=True)
    ]
    columns = ["training", "step", "diagonal", "exact", "loss"]
    return pd.DataFrame(rows, columns=columns).to_csv(index=False, lineterminator="\r\n")


def film_strip(maps: Sequence[tuple[int, NDArray[np.float32]]], *, dark: bool = False) -> go.Figure:
    """Maps `[T, S]` of one size side by side, each under its step; fewer than FRAMES leave room for the next.

    Raises:
        ValueError: there is no map, or their sizes differ.
    """
    sizes = {weights.shape for _, weights in maps}
    if len(sizes) != 1:
        raise ValueError(f"A film strip needs maps of one size; it got {len(maps)} of sizes {sorted(sizes)}.")
    rows, columns = sizes.pop()
    colours = palette(dark)
    width = columns + GAP
    strip = np.full((rows, len(maps) * width - GAP), np.nan, dtype=np.float32)
    for place, (_, weights) in enumerate(maps):
        strip[:, place * width : place * width + columns] = weights
    places = [place * width + (columns - 1) / 2 for place in range(len(maps))]
    return go.Figure(
        go.Heatmap(
            z=strip,
            zmin=0.0,
            zmax=1.0,
            showscale=False,
            hovertemplate="weight: %{z:.3f}<extra></extra>",
        ),
        _strip_layout(colours, places, [f"{step:,}" for step, _ in maps], max(len(maps), FRAMES) * width - GAP),
    )


def frames_of(count: int, frames: int = FRAMES) -> list[int]:
    """Indices of at most `frames` of `count` snapshots, evenly from the first to the last."""
    return sorted({round(i) for i in np.linspace(0, count - 1, min(frames, count))}) if count else []


def _line(run: Curves, name: str, colours: Palette) -> go.Scatter:
    values = getattr(run, name)
    known = [(step, value) for step, value in zip(run.steps, values, strict=True) if value is not None]
    line = series_line(colours, run.slot)
    return go.Scatter(
        x=[step for step, _ in known],
        y=[value for _, value in known],
        name=escape_label(run.name, 48),
        legendgroup=str(run.slot),
        showlegend=name == "diagonal",
        mode="lines+markers",
        line=line,
        marker={"color": line["color"], "size": 5, "symbol": SYMBOLS[run.slot % len(DASHES)]},
        xaxis="x",
        yaxis=_axis(name),
        hovertemplate="step %{x}: <b>%{y:.4g}</b><extra>%{fullData.name}</extra>",
    )


def _axis(name: str) -> str:
    """The y axis of a panel, which stays the same when other panels are left out: y, y2, y3."""
    number = list(PANELS).index(name) + 1
    return "y" if number == 1 else f"y{number}"


def _curves_layout(colours: Palette, last_step: int, shown: Sequence[str]) -> dict[str, Any]:
    grid = {"showgrid": True, "fixedrange": True}
    room = _PITCH * (len(shown) - 1) + _TITLE + _PANEL + 8
    layout = frame(colours, room, left=44, right=8, top=_TOP, bottom=_BOTTOM, expand=True)
    layout["xaxis"] = {
        **grid,
        "range": [-0.02 * last_step, 1.02 * last_step],
        "anchor": _axis(shown[-1]),
        "title": {"text": "training step", "standoff": 6},
    }
    layout["annotations"] = []
    for place, name in enumerate(shown):
        top = room - _TITLE - _PITCH * place
        span = (
            {"rangemode": "tozero"} if name == "loss" else {"range": [-0.04, 1.04], "tickformat": ".0%", "dtick": 0.5}
        )
        layout[_axis(name).replace("y", "yaxis")] = {**grid, **span, "domain": ((top - _PANEL) / room, top / room)}
        where = {"x": 0, "y": (top + 2) / room, "xref": "paper", "yref": "paper", "xanchor": "left"}
        layout["annotations"].append({**where, "yanchor": "bottom", "text": f"<b>{PANELS[name]}</b>"})
    layout["legend"] = {"y": 1 + 13 / room, "yanchor": "bottom"}
    return layout


def _strip_layout(colours: Palette, places: Sequence[float], labels: Sequence[str], cells: int) -> dict[str, Any]:
    steps = text_ticks(places, labels) | {"side": "top", "range": [-0.5, cells - 0.5], "fixedrange": True}
    rows = {"autorange": "reversed", "visible": False, "fixedrange": True}
    return frame(colours, 86, left=4, right=4, top=26, bottom=4) | {"xaxis": steps, "yaxis": rows}
