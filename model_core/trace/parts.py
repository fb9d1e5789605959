"""The parts of a trace, before anything is checked or saved.

Shapes: L layer, S source token, T target token, D d_model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model_core.text.pieces import Tokens
from model_core.trace.maps import AttentionMaps
from model_core.trace.steps import DecodingStep, TraceStrategy


@dataclass(frozen=True, eq=False)
class TraceParts:
    """The fields of a `TranslationTrace`, which explains them. Nothing holds them to each other here."""

    source_text: str
    target_text: str
    source_tokens: Tokens
    decoder_input_tokens: Tokens
    predicted_tokens: Tokens
    encoder_self: AttentionMaps
    decoder_self: AttentionMaps
    cross: AttentionMaps
    encoder_states: NDArray[np.float32]
    decoder_states: NDArray[np.float32]
    decoding: tuple[DecodingStep, ...]
    strategy: TraceStrategy
    log_probability: float
    score: float
    checkpoint: str
    pieces: Mapping[int, str]
