"""The bipartite head view: queries left, keys right, a line for every weight, a colour for every head."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from streamlit.components.v2 import component

from model_core.trace import Token
from model_core.trace.view import AttentionView
from viz.components.handshake import remembered
from viz.components.head_view.shown import Shown, read_shown, settle_shown
from viz.components.packing import digest_of, packed
from viz.components.source import script, style
from viz.theme import cut, palette, visible

__all__ = ["Shown", "head_view"]

_COMPONENT = component(
    "regard_head_view",
    js=script("head_view", "lines.js", "tokens.js", "head_view.js"),
    css=style("head_view", "buttons", "caption"),
)
_LABEL = 24  # characters of a token beside the lines; the page cuts further where there is no room


def head_view(view: AttentionView, asked: Shown, *, title: str, name: str, dark: bool, key: str) -> Shown:
    """Draws one layer's heads, weights `[H, Q, K]`, and returns what is shown now: what a person has just changed, else
    what was asked for.

    `asked` starts a view; later it overrules the page only where it differs from what was returned last. Heads,
    threshold and tokens are switched in the page; the script hears of it afterwards, and the weights are sent once a
    view. `title` says which map this is, `name` is the name of files without ending.

    For tests: tokens have `data-testid="head-token"`, `data-side` and `data-index` (from 0), the weights beside them
    `head-weight`; squares are `head-square`; `head-count` and `head-summary` hold the numbers in words.

    Raises:
        ValueError: the weights are not those of one layer.
    """
    if view.weights.ndim != 3:
        raise ValueError(f"A head view shows one layer [H, Q, K], not weights of shape {list(view.weights.shape)}.")
    cells = np.ascontiguousarray(view.weights, "<f4").tobytes() + view.allowed.astype(np.uint8).tobytes()
    described = {"title": title, "queries": _queries(view), "keys": _tokens(view.key_tokens), "names": _names(view)}
    digest = digest_of(json.dumps(described).encode() + cells)
    heads, queries, keys = view.weights.shape
    alike = view.site != "cross"
    agreement = remembered(
        key,
        lambda before, state: settle_shown(before, digest, asked, read_shown(state), (heads, queries, keys), alike),
    )
    header = {"key": key, "token": agreement.token, "shown": asdict(agreement.sent), "shape": view.weights.shape}
    header |= {"name": name, "digest": digest, "colors": palette(dark).series, "self": alike, **described}
    _COMPONENT(key=key, data=packed(header, cells))
    return agreement.chosen


def _names(view: AttentionView) -> dict[str, str]:
    read = "decoder input" if view.site != "encoder_self" else "source"
    return {"query": f"query: {read}", "key": f"key: {read if view.site != 'cross' else 'source'}"}


def _queries(view: AttentionView) -> list[dict[str, Any]]:
    queries = _tokens(view.query_tokens)
    for query, predicted in zip(queries, view.predicted_tokens, strict=False):
        query |= {"predicts": predicted.text, "predictsFull": visible(predicted.text)}
    return queries


def _tokens(tokens: Sequence[Token]) -> list[dict[str, Any]]:
    """A token for the files (as it is), for sentences (in full) and for the page (not too long)."""
    return [
        {"text": token.text, "full": visible(token.text), "label": cut(visible(token.text), _LABEL)} for token in tokens
    ]
