"""The probability that a model gives each typed piece, beside that of the piece it would have written."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from model_core.trace import TranslationTrace
from viz.figures.template import CLEAR, frame, text_ticks
from viz.theme import Palette, escape_label, palette, visible
from viz.wording import counted, probability

_LABELS, _SLANTED = 24, 12  # as many labels are written at most, as many of them slanted


def piece_scores(trace: TranslationTrace, *, dark: bool) -> go.Figure:
    """Bars from 0 to 1 over the T predicted pieces: the typed piece's probability, and behind it, as a hollow bar, the
    most probable piece's. Where only one bar can be seen, the two are the same piece.

    Raises:
        ValueError: the trace has no alternatives, so the most probable pieces are not known.
    """
    steps = trace.decoding
    if not all(step.alternatives for step in steps):
        raise ValueError("This trace was made without alternatives: trace it with at least one.")
    colours = palette(dark)
    own = np.array([math.exp(step.log_probability) for step in steps])
    best = np.array([math.exp(step.alternatives[0].log_probability) for step in steps])
    typed = [escape_label(token.text or token.piece) for token in trace.predicted_tokens]
    likeliest = [escape_label(trace.pieces[step.alternatives[0].id], None) for step in steps]
    places = np.arange(1, len(steps) + 1)
    bars = [
        go.Bar(
            x=places,
            y=best,
            name="likeliest piece",
            marker={"color": CLEAR, "line": {"color": colours.muted, "width": 1.5}},
            customdata=likeliest,
            hovertemplate="step %{x}: the model's own choice, %{customdata}: %{y:.4f}<extra></extra>",
        ),
        go.Bar(
            x=places,
            y=own,
            name="typed piece",
            width=0.5,
            marker={"color": colours.series[0]},
            customdata=typed,
            hovertemplate="step %{x}: %{customdata}: %{y:.4f}<extra></extra>",
        ),
    ]
    return go.Figure(bars, _layout(typed, colours))


def _layout(labels: list[str], colours: Palette) -> dict[str, Any]:
    count = len(labels)
    few = count <= _SLANTED
    return frame(colours, 182, left=52, right=8, top=34, bottom=84, expand=True) | {
        "barmode": "overlay",
        "showlegend": True,
        "legend": {"y": 1.02, "yanchor": "bottom", "traceorder": "reversed"},
        "xaxis": text_ticks(range(1, count + 1), labels, math.ceil(count / _LABELS))
        | {
            "range": [0.4, count + 0.6],
            "tickangle": -45 if few else -90,  # many slanted labels meet on a phone
            "tickfont": {"size": 12 if few else 10},
            "fixedrange": True,
        },
        "yaxis": {"range": [0, 1.02], "title": {"text": "probability"}, "showgrid": True, "fixedrange": True},
    }


def piece_scores_alt(trace: TranslationTrace) -> str:
    """The figure's main numbers in a sentence: the mean probability, and the piece that surprises the model most."""
    values = [step.log_probability for step in trace.decoding]
    worst = int(np.argmin(values))
    average = math.exp(min(0.0, trace.log_probability) / len(values))
    return (
        f"{counted(len(values), 'piece')} of {probability(average)} probability on average (geometric mean); the least "
        f"likely is piece {worst + 1}, “{visible(trace.predicted_tokens[worst].text)}”, with "
        f"{probability(math.exp(values[worst]), 4)}."
    )
