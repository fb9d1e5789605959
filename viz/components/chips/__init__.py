"""The pieces of a sentence as chips; pieces of one word stand close together, special tokens look apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamlit.components.v2 import component

from model_core.trace import DecodingStep, Token
from viz.components.source import script, style
from viz.theme import visible

BYTE = " (one byte of a character that the vocabulary does not have)"
LEAST = -1e4
_component = component(
    "regard.chips",
    html='<div class="chips" role="list"></div>',
    css=style("chips"),
    js=script("chips", "chips.js"),
)


def chip_data(tokens: Sequence[Token], steps: Sequence[DecodingStep] = ()) -> list[dict[str, Any]]:
    """One entry a token: what to show, and in full what it is. `steps` gives predicted tokens their probability."""
    chips: list[dict[str, Any]] = []
    for index, token in enumerate(tokens):
        chip: dict[str, Any] = {"text": visible(token.text), "id": token.id, "special": token.special}
        chip["piece"] = visible(token.piece) + (BYTE if token.piece.startswith("<0x") else "")
        before = tokens[index - 1] if index else None
        chip["joined"] = before is not None and not token.special and token.word == before.word
        if steps:
            chip["logProbability"] = max(steps[index].log_probability, LEAST)  # JSON has no infinity
        chips.append(chip)
    return chips


def chips(label: str, tokens: Sequence[Token], steps: Sequence[DecodingStep] = (), *, key: str) -> None:
    """Draws the chips of `tokens`; with `steps` (one a token) each says how probable the model found it."""
    _component(key=key, data={"label": label, "chips": chip_data(tokens, steps)})
