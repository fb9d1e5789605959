"""Pictures of masks, and of the next token's probabilities before and after a mask was changed.

Shapes: Q query, K key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from model_core.trace import Site, Token, Tokens
from model_core.trace.view import AttentionView
from viz.figures.map_layout import map_layout
from viz.figures.template import (
    CLEAR,
    SMALL_SIZE,
    TEXT_SIZE,
    axis_holder,
    frame,
    label_pixels,
    page_hover,
    text_ticks,
)
from viz.theme import Palette, escape_label, palette
from viz.wording import counted, probability, signed

_HOVER_CHARACTERS = 48  # of a token in a hover label
_LEAST_ROW = 9  # pixels that a token needs to be read in its cell
_BAR_ROW = 44  # pixels for one token's two bars
PAD = "<pad>"


def mask_figure(
    allowed: NDArray[np.bool_],
    queries: Tokens,
    keys: Tokens,
    *,
    site: Site,
    query_label: str,
    key_label: str,
    dark: bool = False,
) -> go.Figure:
    """A mask `[Q, K]`: filled cells may be attended to, hatched ones may not; the hover label says so, and why not.

    A key is padding where its token is <pad>, and lies in the future of a decoder row where its place is behind it.

    Raises:
        TraceError: the mask does not fit the tokens.
    """
    colours = palette(dark)
    layout = _layout(allowed, queries, keys, site, (query_label, key_label), colours)
    may = _cells(allowed, queries, keys, colours.accent, "<b>%{y}</b> may look at <b>%{x}</b>")
    reasons = [
        _cells(~allowed & where, queries, keys, CLEAR, f"<b>%{{y}}</b> may not look at <b>%{{x}}</b>{why}")
        for where, why in _reasons(allowed, keys, site)
        if (~allowed & where).any()
    ]
    return go.Figure([may, *reasons, axis_holder()], layout)


def _reasons(allowed: NDArray[np.bool_], keys: Tokens, site: Site) -> list[tuple[NDArray[np.bool_], str]]:
    """Pairs of the cells `[Q, K]` for which a reason holds, and the reason in words."""
    padding = np.broadcast_to(np.array([token.text == PAD for token in keys]), allowed.shape)
    future = np.triu(np.ones_like(allowed), 1) & (site == "decoder_self") & ~padding
    return [
        (padding, ": it is padding"),
        (future, ": it lies in the future"),
        (~padding & ~future, ": you forbade it"),
    ]


def _cells(shown: NDArray[np.bool_], queries: Tokens, keys: Tokens, colour: str, hover: str) -> go.Heatmap:
    return go.Heatmap(
        z=np.where(shown, np.float32(1), np.float32("nan")),
        x=[str(i) for i in range(len(keys))],
        y=[str(i) for i in range(len(queries))],
        xaxis="x2",
        yaxis="y2",
        xgap=1,
        ygap=1,
        zmin=0,
        zmax=1,
        colorscale=[(0, colour), (1, colour)],
        showscale=False,
        hovertemplate=f"{hover}<extra></extra>",
    )


def _legend(allowed: NDArray[np.bool_], colours: Palette) -> str:
    small = f"font-size:{SMALL_SIZE}px;color:{colours.muted}"
    hatched = "" if allowed.all() else " · ▨ may not"
    return f'<br><span style="{small}">■ may attend{hatched}</span>'


def padding_figure(sentences: Sequence[Tokens], *, masked: bool = True, dark: bool = False) -> go.Figure:
    """The padding mask of a batch, upright: one column per sentence, tokens from top to bottom, all of one length.

    In a long batch only hover labels show the tokens. `masked` False is the batch without its mask: every place may
    be looked at.

    Raises:
        ValueError: the sentences differ in length.
    """
    length = len(sentences[0])
    if any(len(tokens) != length for tokens in sentences):
        raise ValueError(f"A batch's sentences are of one length, not {[len(tokens) for tokens in sentences]}.")
    colours = palette(dark)
    texts = [[escape_label(tokens[row].text) for tokens in sentences] for row in range(length)]
    real = np.array([[not masked or tokens[row].text != PAD for tokens in sentences] for row in range(length)])
    places, columns = _numbered("", length), _numbered("sentence ", len(sentences))
    layout = _layout(real, places, columns, "encoder_self", ("position", "batch"), colours)
    _lay_labels_flat(layout, columns)
    may = _cells(real, places, columns, colours.accent, "<b>%{text}</b> may be looked at")
    never = _cells(~real, places, columns, CLEAR, "<b>%{text}</b> may not be looked at: it is padding")
    row = (layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]) / length
    if row < _LEAST_ROW:  # the tokens would overlap: the hover labels and the table have them
        return go.Figure([may.update(text=texts), never.update(text=texts), axis_holder()], layout)
    size = min(11, int(row) - 1)
    for trace, shown, colour in ((may, real, colours.background), (never, ~real, colours.text)):
        named = [
            [text if cell else "" for text, cell in zip(*row, strict=True)] for row in zip(texts, shown, strict=True)
        ]
        trace.update(text=named, texttemplate="%{text}", textfont={"color": colour, "size": size})
    return go.Figure([may, never, axis_holder()], layout)


def _lay_labels_flat(layout: dict[str, Any], columns: Tokens) -> None:
    """A batch's few columns are wide enough for their labels, which need no room to stand upright."""
    size = layout["xaxis"]["tickfont"]["size"]
    saved = round(label_pixels([escape_label(token.text) for token in columns], size)) - round(1.3 * size)
    layout["margin"] |= {"b": layout["margin"]["b"] - saved}
    layout["height"] -= saved
    layout["xaxis"] |= {"tickangle": 0}


def _numbered(name: str, count: int) -> Tokens:
    """Labels that are no tokens, in the shape of tokens."""
    return tuple(Token(0, f"{name}{i + 1}", f"{name}{i + 1}", i, False) for i in range(count))


def _layout(
    allowed: NDArray[np.bool_], queries: Tokens, keys: Tokens, site: Site, names: tuple[str, str], colours: Palette
) -> dict[str, Any]:
    """The frame of an attention map, with a legend in place of its colour bar."""
    view = AttentionView(site, allowed.astype(np.float32), allowed, queries, keys)
    layout = map_layout(view, *names, colours, False)
    layout["margin"] |= {"t": 30}
    layout["height"] -= 36
    layout["xaxis"]["title"]["text"] = layout["xaxis"]["title"]["text"].split("<br><span")[0] + _legend(
        allowed, colours
    )
    for axis, tokens in (("xaxis2", keys), ("yaxis2", queries)):
        aliases = {str(i): escape_label(token.text, _HOVER_CHARACTERS) for i, token in enumerate(tokens)}
        layout[axis]["labelalias"] = aliases
    return layout


def mask_alt(allowed: NDArray[np.bool_], name: str) -> str:
    """One sentence with the mask's main number."""
    rows, columns = allowed.shape
    return f"{name}, {rows} x {columns}: {int(allowed.sum())} of {counted(allowed.size, 'cell')} may be attended to."


def next_token_figure(
    tokens: Sequence[str], before: Sequence[float], after: Sequence[float], *, dark: bool = False
) -> go.Figure:
    """Two bars per token, the first on top: its probability before and after, with the numbers and their difference."""
    colours = palette(dark)
    labels = [escape_label(token) for token in tokens]
    places = list(range(len(tokens)))
    bars = [
        _bars("before", before, places, [probability(p) for p in before], {"color": colours.series[0]}, colours),
        _bars(
            "after",
            after,
            places,
            [f"{probability(b)} ({signed(b - a)})" for a, b in zip(before, after, strict=True)],
            {"color": colours.series[1], "pattern": _stripes(colours.series[1])},
            colours,
        ),
    ]
    return go.Figure(bars, _bar_layout(labels, places, colours))


def _stripes(colour: str) -> dict[str, Any]:
    """So that the bars differ by more than their colour. Without a ground of its own a pattern is drawn on nothing."""
    return {"shape": "/", "bgcolor": colour}


def _bars(
    name: str, values: Sequence[float], places: list[int], texts: list[str], look: dict[str, Any], colours: Palette
) -> go.Bar:
    return go.Bar(
        name=name,
        x=list(values),
        y=places,
        orientation="h",
        text=texts,
        textposition="outside",
        textfont={"size": SMALL_SIZE, "color": colours.text},
        cliponaxis=False,
        marker=look,
        hovertemplate=f"{name}: <b>%{{x:.4f}}</b><extra>%{{y}}</extra>",
    )


def _bar_layout(labels: list[str], places: list[int], colours: Palette) -> dict[str, Any]:
    muted = {"size": SMALL_SIZE, "color": colours.muted}
    left = round(label_pixels(labels, TEXT_SIZE) + 18)
    sizes = frame(colours, _BAR_ROW * len(labels), left=left, right=14, top=30, bottom=46)
    layout = {
        "barmode": "group",
        "bargap": 0.25,
        "bargroupgap": 0.05,
        "showlegend": True,
        "legend": {"y": 1, "yanchor": "bottom", "traceorder": "normal"},
        "xaxis": {
            "range": [0, 1.45],  # room for the numbers behind the longest bar
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "title": {"text": "probability", "font": muted, "standoff": 4},
            "tickfont": muted,
            "showgrid": True,
            "fixedrange": True,
        },
        "yaxis": text_ticks(places, labels)
        | {"range": [len(places) - 0.5, -0.5], "fixedrange": True, "ticklabelstandoff": 3},
    }
    return sizes | page_hover(colours) | layout
