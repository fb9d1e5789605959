"""How probable a model finds each piece that somebody wrote, beside what it would rather have written."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go

from model_core.trace import TranslationTrace
from viz.theme import FONT, escape_label, palette, visible
from viz.wording import counted, probability

_MARGIN = {"l": 52, "r": 8, "t": 34, "b": 84}
_HEIGHT = 300
_LABELS, _SLANTED = 24, 12


def piece_scores(trace: TranslationTrace, *, dark: bool) -> go.Figure:
    """Bars from 0 to 1 over the T predicted pieces: the typed piece's probability, and behind it, as a hollow bar, the
    most probable one's. Where only one can be seen, the model would have written the same.

    Raises:
        ValueError: the trace has no alternatives, so nothing is known of what the model would have written.
    """
    steps = trace.decoding
    if not all(step.alternatives for step in steps):
        raise ValueError("This trace was made without alternatives: trace it with at least one.")
    colours = palette(dark)
    own = np.array([math.exp(step.log_probability) for step in steps])
    best = np.array([math.exp(step.alternatives[0].log_probability) for step in steps])
    typed = [escape_label(token.text or token.piece) for token in trace.predicted_tokens]
    wanted = [escape_label(trace.pieces[step.alternatives[0].id], None) for step in steps]
    places = np.arange(1, len(steps) + 1)
    figure = go.Figure(
        [
            go.Bar(
                x=places,
                y=best,
                name="likeliest piece",
                marker={"color": "rgba(0,0,0,0)", "line": {"color": colours.muted, "width": 1.5}},
                customdata=wanted,
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
    )
    _lay_out(figure, typed, dark)
    return figure


def _lay_out(figure: go.Figure, labels: list[str], dark: bool) -> None:
    colours, count = palette(dark), len(labels)
    every = math.ceil(count / _LABELS)
    axis = {"automargin": False, "zeroline": False, "fixedrange": True}
    figure.update_layout(
        barmode="overlay",
        height=_HEIGHT,
        margin=_MARGIN,
        paper_bgcolor=colours.background,
        plot_bgcolor=colours.background,
        font={"family": FONT, "color": colours.text, "size": 12},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "reversed"},
        xaxis=axis
        | {
            "range": [0.4, count + 0.6],
            "tickvals": list(range(1, count + 1, every)),
            "ticktext": labels[::every],
            "tickangle": -45 if count <= _SLANTED else -90,  # many slanted labels meet on a phone
            "tickfont": {"size": 12 if count <= _SLANTED else 10},
            "showgrid": False,
        },
        yaxis=axis
        | {"range": [0, 1.02], "title": {"text": "probability"}, "gridcolor": colours.hatch, "griddash": "dot"},
    )


def piece_scores_alt(trace: TranslationTrace) -> str:
    """Its main numbers in a sentence: the whole probability, and the piece that surprises the model most."""
    values = [step.log_probability for step in trace.decoding]
    worst = int(np.argmin(values))
    average = math.exp(min(0.0, trace.log_probability) / len(values))
    return (
        f"{counted(len(values), 'piece')} of {probability(average)} probability on average (geometric mean); the least "
        f"likely is piece {worst + 1}, “{visible(trace.predicted_tokens[worst].text)}”, with "
        f"{probability(math.exp(values[worst]), 4)}."
    )
