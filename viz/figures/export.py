"""Files to take home: the numbers as CSV, the figure as one HTML page."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from model_core.trace import Token
from model_core.trace.view import AttentionView
from viz.figures.template import palette_of
from viz.theme import FONT

_SURROGATES = re.compile("[\ud800-\udfff]")
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 1rem; background: {background}; color: {text}; font-family: {font}; }}
h1 {{ font-size: 1.1rem; }}
</style>
</head>
<body>
<h1>{title}</h1>
{figure}
</body>
</html>
"""


def matrix_csv(view: AttentionView) -> str:
    """The weights `[Q, K]` of a view with their tokens, every digit kept.

    Two header rows, key number (from 1) and key token; to the left query number, query token and, in decoder maps, the
    token that the row predicts. Numbers keep equal tokens apart. A masked cell is empty. Tokens stand there exactly as
    the model saw them: one such as "=1+1" is not changed, although a spreadsheet takes it for a formula, because an
    engineer compares these tokens with others and a formula that a person typed into her own page attacks nobody else.
    To read it back: `pandas.read_csv(file, header=[0, 1], index_col=[0, 1], keep_default_na=False, na_values=[""])`,
    with index_col=[0, 1, 2] for a decoder map.

    Raises:
        ValueError: the view holds more than one map.
    """
    if view.weights.ndim != 2:
        raise ValueError(f"A table shows one map [Q, K], not weights of shape {list(view.weights.shape)}.")
    levels = {"query": _numbers(view.query_tokens), "token": _texts(view.query_tokens)}
    if view.predicted_tokens:
        levels["predicts"] = _texts(view.predicted_tokens)
    table = pd.DataFrame(
        np.where(view.allowed, view.weights, np.float32("nan")),
        index=pd.MultiIndex.from_arrays(list(levels.values()), names=list(levels)),
        columns=pd.MultiIndex.from_arrays([_numbers(view.key_tokens), _texts(view.key_tokens)], names=["key", "token"]),
    )
    return table.to_csv(lineterminator="\r\n")  # as RFC 4180 wants it; with it, tokens that hold either are quoted


def standalone_html(figure: go.Figure, title: str) -> str:
    """The figure as one HTML page that needs no network: plotly.js is inside (4.8 MB). The title is plain text."""
    # No formulas, even where a browser extension brings MathJax; no button that would send the data to a plotly server.
    config = {"responsive": True, "typesetMath": False, "displaylogo": False, "showSendToCloud": False}
    drawn = figure.to_html(full_html=False, include_plotlyjs=True, include_mathjax=False, config=config)
    escaped = html.escape(_SURROGATES.sub("\ufffd", title))
    colours = palette_of(figure)
    return _PAGE.format(title=escaped, font=FONT, figure=drawn, background=colours.background, text=colours.text)


def _numbers(tokens: Sequence[Token]) -> list[int]:
    return list(range(1, len(tokens) + 1))


def _texts(tokens: Sequence[Token]) -> list[str]:
    """As they are, but for lone surrogates, which no file can hold."""
    return [_SURROGATES.sub("\ufffd", token.text) for token in tokens]
