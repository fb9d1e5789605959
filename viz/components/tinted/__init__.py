"""Pieces of sentences in rows, tinted by a number, some of them marked and with a note underneath."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from streamlit.components.v2 import component

from model_core.trace import Tokens
from viz.components.pieces import continues_word
from viz.components.source import script, style
from viz.theme import palette, visible

_component = component(
    "regard.tinted",
    html='<div class="view tinted"></div>',
    css=style("tinted", "save", "chips"),
    js=script("tinted", "tinted.js"),
)


@dataclass(frozen=True)
class Tint:
    """How one token looks: `share` 0 to 1 of the colour scale (None: no tint), framed if `marked`, a `note` below it
    and a `hint` that a pointer brings up."""

    share: float | None = None
    marked: bool = False
    note: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Row:
    """One row: `label` names it for those who can't see it, `told` stands below it."""

    label: str
    tokens: Tokens
    tints: Sequence[Tint]
    told: str = ""


def tinted_data(tokens: Tokens, tints: Sequence[Tint], dark: bool) -> list[dict[str, Any]]:
    """One entry per token, colours included.

    Raises:
        ValueError: there is not one tint per token.
    """
    if len(tokens) != len(tints):
        raise ValueError(f"{len(tokens)} tokens can't take {len(tints)} tints.")
    colours = palette(dark)
    entries = []
    for index, (token, tint) in enumerate(zip(tokens, tints, strict=True)):
        entry: dict[str, Any] = {"text": visible(token.text), "special": token.special, "marked": tint.marked}
        entry |= {"note": tint.note, "hint": tint.hint}
        entry["joined"] = continues_word(tokens, index)
        if tint.share is not None:
            entry["fill"] = colours.colour_at(tint.share)
            entry["ink"] = "#ffffff" if _is_dark(entry["fill"]) else "#14181d"
        entries.append(entry)
    return entries


def _is_dark(colour: str) -> bool:
    """Whether white reads better on it than black: relative luminance below 0.18 (WCAG 2, contrast ratio)."""
    channels = [value / 255 for value in bytes.fromhex(colour[1:])]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] < 0.18


def tinted(rows: Sequence[Row], *, what: str, name: str, dark: bool, key: str) -> None:
    """Draws the rows as one picture, which can be saved: `what` names it in words, `name` is its file's.

    For tests: each token has `data-testid="tinted-token"`, and `data-marked="true"` if it is marked.
    """
    entries = [
        {"label": row.label, "tokens": tinted_data(row.tokens, row.tints, dark), "told": row.told} for row in rows
    ]
    _component(key=key, data={"rows": entries, "what": what, "name": name})
