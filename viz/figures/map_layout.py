"""The frame around an attention map: axes, labels, margins, notes.

What a browser has to paint is kept small: besides the cells it is the labels that cost. Measured at 64 x 64 tokens with
plotly.js 4.1, an axis of explicit ticks (tickvals) takes twice the time of a category axis, which also drops labels by
itself where the window leaves no room for them. So a category is a token's index, its text is a `labelalias`, and equal
tokens stay apart. The cells lie on a second, invisible pair of axes, whose aliases are the hover label's full texts.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from model_core.trace import Token
from model_core.trace.view import AttentionView
from viz.figures.template import SMALL_SIZE, TEXT_SIZE, frame, label_pixels, page_hover, template
from viz.theme import Palette, escape_label, visible

# Sizes in pixels. The top holds the colour bar.
_LINE = 15  # of a title
_TOP, _RIGHT, _RIGHT_WITH_SUMS = 66, 14, 42
_ROW, _LEAST_HEIGHT, _MOST_HEIGHT = 28, 150, 660  # a row's height, and the whole map's
_HOVER_WIDTH = 48  # characters per line
_HATCH = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='640' height='640' viewBox='0 0 640 640' "
    "preserveAspectRatio='xMidYMid slice'%3E%3Cpattern id='h' width='8' height='8' patternUnits='userSpaceOnUse' "
    "patternTransform='rotate(45)'%3E%3Cpath d='M0 0V8' stroke-width='1.4' stroke='%23{colour}'/%3E%3C/pattern%3E"
    "%3Crect width='640' height='640' fill='url(%23h)'/%3E%3C/svg%3E"
)


def map_layout(
    view: AttentionView, query_label: str, key_label: str, colours: Palette, sums_differ: bool
) -> dict[str, Any]:
    """Axes x and y carry the labels, x2 and y2 the cells and hover texts, y3 the rows' sums if they differ."""
    rows, columns = view.weights.shape
    height = min(max(rows * _ROW, _LEAST_HEIGHT), _MOST_HEIGHT)
    row_labels, key_labels = _short(view.query_tokens), _short(view.key_tokens)
    row_size, key_size = _font_size(rows), _font_size(columns)
    row_title = _wrapped(query_label, height / (TEXT_SIZE * 0.55))
    key_title = _wrapped(key_label, 40) + _caption(view, sums_differ, colours)
    x, y = _category_axis(columns, [-0.5, columns - 0.5]), _category_axis(rows, [rows - 0.5, -0.5])
    # plotly.js measures an x title's standoff to its last line, a y title's to its first
    key_standoff = 6 + 16 * (_lines(key_title) - 1)
    sizes = frame(
        colours,
        height,
        left=round(label_pixels(row_labels, row_size) + 14 + _LINE * _lines(row_title)),
        right=_RIGHT_WITH_SUMS if sums_differ else _RIGHT,
        top=_TOP,
        bottom=round(label_pixels(key_labels, key_size) + 20 + _LINE * _lines(key_title)),
    )
    layout = sizes | {
        "images": [] if view.allowed.all() else [_hatch(colours)],
        "annotations": [_sums_heading(colours)] if sums_differ else [],
        "xaxis": x | _labelled(key_labels, key_title, key_size, key_standoff) | _angles(columns),
        "yaxis": y | _labelled(row_labels, row_title, row_size, 6),
        "xaxis2": x | _hovered(_key_hovers(view), "x"),
        "yaxis2": y | _hovered(_query_hovers(view), "y"),
    }
    layout |= _interaction(colours)
    return layout | ({"yaxis3": _sums_axis(view)} if sums_differ else {})


def _interaction(colours: Palette) -> dict[str, Any]:
    """Hover labels, and no buttons that select: nothing on a map can be selected."""
    return page_hover(colours) | {"modebar": {"remove": ["select2d", "lasso2d"]}}


def empty_layout(colours: Palette) -> dict[str, Any]:
    """A sentence in place of a map, for a view from which hiding special tokens took everything."""
    note = {"text": "No tokens are left to show.", "x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper"}
    hidden = {"visible": False}
    sizes = {"template": template(colours), "height": _LEAST_HEIGHT}
    return sizes | _interaction(colours) | {"annotations": [note], "xaxis": hidden, "yaxis": hidden}


def _category_axis(size: int, limits: list[float]) -> dict[str, Any]:
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": [str(i) for i in range(size)],
        "range": limits,
        "ticklabelstandoff": 3,
    }


def _labelled(labels: Sequence[str], title: str, size: int, standoff: int) -> dict[str, Any]:
    aliases = {str(i): label for i, label in enumerate(labels)}
    heading = {"text": title, "font": {"size": TEXT_SIZE}, "standoff": standoff}
    return {"labelalias": aliases, "tickfont": {"size": size}, "title": heading}


def _hovered(labels: Sequence[str], letter: str) -> dict[str, Any]:
    aliases = {str(i): label for i, label in enumerate(labels)}
    return {"labelalias": aliases, "showticklabels": False, "overlaying": letter, "matches": letter}


def _sums_axis(view: AttentionView) -> dict[str, Any]:
    """The sums, to the right of their rows."""
    rows = len(view.query_tokens)
    aliases = {str(i): f"{total:.2f}" for i, total in enumerate(view.row_sums)}
    beside = {"labelalias": aliases, "side": "right", "overlaying": "y", "matches": "y", "anchor": "x"}
    return _category_axis(rows, [rows - 0.5, -0.5]) | beside | {"tickfont": {"size": _font_size(rows)}}


def _key_hovers(view: AttentionView) -> list[str]:
    return [f"key {i}: <b>{_in_full(token)}</b>" for i, token in enumerate(view.key_tokens, start=1)]


def _query_hovers(view: AttentionView) -> list[str]:
    hovers = []
    for i, (token, total) in enumerate(zip(view.query_tokens, view.row_sums, strict=True)):
        lines = [f"query {i + 1}: <b>{_in_full(token)}</b>"]
        if view.predicted_tokens:
            lines.append(f"this row predicts: <b>{_in_full(view.predicted_tokens[i])}</b>")
        hovers.append("<br>".join([*lines, f"this row's sum: {total:.3f}"]))
    return hovers


def _in_full(token: Token) -> str:
    """The token uncut; a long one takes several lines, since a hover label does not break by itself."""
    starts = range(0, max(len(token.text), 1), _HOVER_WIDTH)
    return "<br>".join(escape_label(token.text[start : start + _HOVER_WIDTH], limit=None) for start in starts)


def _caption(view: AttentionView, sums_differ: bool, colours: Palette) -> str:
    """A second line of the key axis's title, where it can meet no label in a window however narrow."""
    notes = [] if sums_differ else [f"each row sums to {float(view.row_sums.mean()):.2f}"]
    notes += [] if view.allowed.all() else ["▨ masked"]
    look = f"font-size:{SMALL_SIZE}px;color:{colours.muted}"
    return f'<br><span style="{look}">{" · ".join(notes)}</span>' if notes else ""


def _sums_heading(colours: Palette) -> dict[str, Any]:
    where = {"xref": "paper", "yref": "paper", "x": 1, "y": 1, "xanchor": "right", "yanchor": "bottom"}
    look = {"text": "row sum", "font": {"size": SMALL_SIZE, "color": colours.muted}}
    return where | look | {"xshift": _RIGHT_WITH_SUMS}


def _hatch(colours: Palette) -> dict[str, Any]:
    """Lies under the cells, so that it shows where there are none: masked must not look like weight 0."""
    whole = {
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": 1,
        "sizex": 1,
        "sizey": 1,
        "sizing": "fill",
        "layer": "below",
    }
    return whole | {"source": _HATCH.format(colour=colours.hatch[1:])}


def _short(tokens: Sequence[Token]) -> list[str]:
    return [escape_label(token.text) for token in tokens]


def _font_size(labels: int) -> int:
    return 12 if labels <= 24 else 11 if labels <= 48 else 10


def _angles(labels: int) -> dict[str, Any]:
    """Level labels where there are few and the window has room for them, else upright ones, which always fit."""
    return {"autotickangles": [0, -90]} if labels <= 16 else {"tickangle": -90}


def _lines(title: str) -> int:
    return title.count("<br>") + 1


def _wrapped(title: str, characters: float) -> str:
    """The title in lines of about equal length, none longer than `characters`."""
    most = max(int(characters), 12)
    lines = math.ceil(len(title) / most)
    wrapped = textwrap.wrap(visible(title), min(most, len(title) // lines + 4))
    return "<br>".join(escape_label(line, limit=None) for line in wrapped)
