"""The words of a translation that a source word turned into, as cross-attention tells. Numpy only.

Shapes: T target token, S source token.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model_core.text.words import WordSpan, word_spans
from model_core.trace.trace import TranslationTrace


@dataclass(frozen=True)
class AlignedWord:
    """A word of the translation: where its pieces stand among the predicted tokens, the mean share of their
    cross-attention that goes to the source word, and the product of their probabilities."""

    span: WordSpan
    share: float
    probability: float


def aligned_words(trace: TranslationTrace, source: WordSpan, layer: int) -> list[AlignedWord]:
    """The words of the translation that are predicted while looking at `source` more than at any other source word.

    Looked at is the mean over the heads of `layer` (from 0), in the rows that *predict* the word's pieces, averaged
    over them; what goes to punctuation and special tokens counts for no word.
    """
    weights = trace.cross.map(layer, None)
    sources = word_spans(trace.source_tokens)
    aligned = []
    for span in word_spans(trace.predicted_tokens):
        shares = [word_share(weights, span, other) for other in sources]
        own = word_share(weights, span, source)
        if own >= max(shares, default=0.0):
            aligned.append(AlignedWord(span, own, _probability(trace, span)))
    return aligned


def nearest_word(trace: TranslationTrace, source: WordSpan, layer: int) -> AlignedWord | None:
    """The word of the translation whose prediction looks most at `source`; None where the translation has no word."""
    weights = trace.cross.map(layer, None)
    spans = word_spans(trace.predicted_tokens)
    if not spans:
        return None
    shares = [word_share(weights, span, source) for span in spans]
    best = int(np.argmax(shares))
    return AlignedWord(spans[best], shares[best], _probability(trace, spans[best]))


def word_share(weights: NDArray[np.float32], target: WordSpan, source: WordSpan) -> float:
    """Mean over the target word's rows of what they give to the source word's pieces; `weights [T, S]`."""
    return float(weights[target.pieces, source.pieces].sum(axis=1, dtype=np.float64).mean())


def _probability(trace: TranslationTrace, span: WordSpan) -> float:
    return math.exp(min(sum(step.log_probability for step in trace.decoding[span.pieces]), 0.0))
