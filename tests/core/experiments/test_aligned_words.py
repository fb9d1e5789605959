"""Which words of a translation a source word became, from made-up attention."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model_core.experiments.aligned_words import aligned_words, nearest_word, word_share
from model_core.text.words import WordSpan, word_spans
from model_core.trace import AttentionMaps, DecodingStep, TranslationTrace
from tests.small_traces import small_trace

SOURCE = ("<s>", "the", "bank", "is", "shut", ".", "</s>")
TARGET = ("<s>", "la", "banque", "ferme")


def trace_with(rows: list[list[float]]) -> TranslationTrace:
    """Layer 1's heads all have these rows `[T, S]`; step t has log-probability -t / 10."""
    trace = small_trace(SOURCE, TARGET)
    weights = trace.cross.weights.copy()
    weights[1] = np.array(rows, dtype=np.float32)
    cross = AttentionMaps("cross", weights, trace.cross.allowed, trace.cross.query_tokens, trace.cross.key_tokens)
    steps = tuple(DecodingStep(step.chosen_id, -t / 10, ()) for t, step in enumerate(trace.decoding))
    return replace(trace, cross=cross, decoding=steps, log_probability=-0.6, score=-0.6)


ROWS = [
    [0.0, 0.5, 0.3, 0.1, 0.1, 0.0, 0.0],  # predicts la
    [0.0, 0.1, 0.2, 0.0, 0.0, 0.1, 0.6],  # predicts banque: "bank" is first of the words, </s> is none
    [0.0, 0.0, 0.1, 0.1, 0.8, 0.0, 0.0],  # predicts ferme
    [0.0, 0.0, 0.9, 0.1, 0.0, 0.0, 0.0],  # predicts </s>, no word
]


def span(trace: TranslationTrace, word: str) -> WordSpan:
    return next(found for found in word_spans(trace.source_tokens) if found.text == word)


def test_a_word_is_aligned_where_no_other_word_gets_more() -> None:
    trace = trace_with(ROWS)
    (found,) = aligned_words(trace, span(trace, "bank"), 1)
    assert (found.span.text, found.span.start, found.span.stop) == ("banque", 1, 2)
    assert found.share == pytest.approx(0.2, abs=1e-6)
    assert found.probability == pytest.approx(np.exp(-0.1))
    assert [word.span.text for word in aligned_words(trace, span(trace, "shut"), 1)] == ["ferme"]
    assert aligned_words(trace, span(trace, "is"), 1) == []


def test_where_none_is_aligned_the_nearest_is_told() -> None:
    trace = trace_with(ROWS)
    found = nearest_word(trace, span(trace, "is"), 1)
    assert found is not None and found.span.text == "la"
    assert found.share == pytest.approx(0.1, abs=1e-6)
    empty = small_trace(SOURCE, ("<s>",))
    assert nearest_word(empty, span(empty, "bank"), 1) is None
    assert aligned_words(empty, span(empty, "bank"), 1) == []


def test_several_pieces_sum_over_keys_and_average_over_rows() -> None:
    weights = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]], dtype=np.float32)
    share = word_share(weights, WordSpan("ab", 0, 2), WordSpan("cd", 1, 3))
    assert share == pytest.approx((0.9 + 0.7) / 2)
