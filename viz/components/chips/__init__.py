"""The pieces of a sentence as chips; pieces of one word stand close together, special tokens look apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamlit.components.v2 import component

from model_core.trace import DecodingStep, Token
from viz.components.packing import LEAST_LOG_PROBABILITY
from viz.components.pieces import continues_word
from viz.components.source import script, style
from viz.theme import visible

BYTE = " (one byte of a character that the vocabulary does not have)"
_component = component(
    "regard.chips",
    html='<div class="view chips" role="list"></div>',
    css=style("chips", "chips"),
    js=script("chips", "chips.js"),
)


def chip_data(tokens: Sequence[Token], steps: Sequence[DecodingStep] = ()) -> list[dict[str, Any]]:
    """One entry per token: its text, and its piece and id in full. `steps` gives predicted tokens their probability."""
    chips: list[dict[str, Any]] = []
    for index, token in enumerate(tokens):
        chip: dict[str, Any] = {"text": visible(token.text), "id": token.id, "special": token.special}
        chip["piece"] = visible(token.piece) + (BYTE if token.piece.startswith("<0x") else "")
        chip["joined"] = continues_word(tokens, index)
        if steps:
            chip["logProbability"] = max(steps[index].log_probability, LEAST_LOG_PROBABILITY)
        chips.append(chip)
    return chips


def chips(label: str, tokens: Sequence[Token], steps: Sequence[DecodingStep] = (), *, key: str) -> None:
    """Draws the chips of `tokens`; with `steps` (one per token) each says how probable the model found it."""
    _component(key=key, data={"label": label, "chips": chip_data(tokens, steps)})
