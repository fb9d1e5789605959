"""Means of head statistics and alignment error rates, on maps whose answers are known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from model_core.experiments.heads import head_statistics
from model_core.trace import Token
from model_core.training.attention_statistics import (
    ErrorRate,
    alignment_error_rates,
    attention_links,
    mean_statistics,
    unit_of_pieces,
    units,
)
from tests.small_traces import small_trace


def test_means_are_over_sentences() -> None:
    traces = [small_trace(seed=1), small_trace(seed=2)]
    found = mean_statistics(traces)["cross"]["entropy"]
    wanted = np.mean([head_statistics(trace.cross)["entropy"] for trace in traces], axis=0)
    np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_pieces_belong_to_words_and_marks() -> None:
    assert units("Don't go, Tom.") == ["Don", "'", "t", "go", ",", "Tom", "."]
    pieces = ("▁Don", "'", "t", "▁g", "o", ",", "▁", "Tom", ".")
    read = tuple(Token(4 + i, piece, piece, 0, False) for i, piece in enumerate(pieces))
    special = Token(1, "<s>", "<s>", -1, True)
    assert unit_of_pieces((special, *read, replace(special, id=2))) == [-1, 0, 1, 2, 3, 3, 4, -1, 5, 6, -1]


def test_the_diagonal_head_aligns_and_shifting_moves_the_row() -> None:
    trace = small_trace(source=("<s>", "a", "b", "c", "</s>"), target=("<s>", "x", "y", "z"), decoder=(1, 2))
    weights = np.zeros((1, 2, 4, 5), dtype=np.float32)
    for row, column in enumerate((1, 2, 3, 4)):  # head 0: the row that predicts x looks at a, and so on
        weights[0, 0, row, column] = 1
    for row, column in enumerate((0, 1, 2, 3)):  # head 1: the row that is fed x looks at a
        weights[0, 1, row, column] = 1
    trace = replace(trace, cross=replace(trace.cross, weights=weights))
    assert attention_links(trace, shifted=False)[0, 0].tolist() == [0, 1, 2]
    assert attention_links(trace, shifted=True)[0, 1].tolist() == [0, 1, 2]
    sure = frozenset({(0, 0), (1, 1), (2, 2)})
    rates = alignment_error_rates([trace], [(sure, sure)], shifted=False)
    assert rates[0, 0] == 0
    assert rates[0, 1] > 0.3


def test_the_error_rate_by_hand() -> None:
    rate = ErrorRate()
    assert math.isnan(rate.value)
    rate.add(frozenset({(0, 0), (1, 1), (2, 0)}), frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))
    assert rate.value == pytest.approx(1 - (1 + 2) / (3 + 1))
