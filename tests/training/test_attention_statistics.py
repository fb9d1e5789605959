"""Head statistics and alignment error rates, on maps whose answers are known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from model_core.trace import AttentionMaps, Token
from model_core.training.attention_statistics import (
    ErrorRate,
    alignment_error_rates,
    attention_links,
    head_statistics,
    mean_statistics,
    unit_of_pieces,
    units,
)
from tests.small_traces import small_trace


def tokens_of(count: int) -> tuple[Token, ...]:
    return tuple(Token(4 + i, f"▁t{i}", f"t{i}", i, False) for i in range(count))


def square_maps(weights: np.ndarray, allowed: np.ndarray | None = None) -> AttentionMaps:
    """One layer of heads over 5 tokens: `weights [H, 5, 5]`."""
    size = weights.shape[-1]
    everything = np.ones((size, size), dtype=np.bool_) if allowed is None else allowed
    return AttentionMaps("encoder_self", weights[None].astype(np.float32), everything, tokens_of(size), tokens_of(size))


def test_each_statistic_knows_its_head() -> None:
    same, even = np.eye(5), np.full((5, 5), 0.2)
    previous = np.eye(5, k=-1)
    previous[0, 0] = 1
    first = np.zeros((5, 5))
    first[:, 0] = 1
    last = np.zeros((5, 5))
    last[:, 4] = 1
    found = head_statistics(square_maps(np.stack([same, even, previous, first, last])))
    assert found["same"][0].tolist() == pytest.approx([1, 0.2, 0.2, 0.2, 0.2])
    assert found["previous"][0].tolist() == pytest.approx([0, 0.2, 1, 0.25, 0])
    assert found["first"][0].tolist() == pytest.approx([0.2, 0.2, 0.4, 1, 0])
    assert found["last"][0].tolist() == pytest.approx([0.2, 0.2, 0, 0, 1])
    assert found["entropy"][0].tolist() == pytest.approx([0, 1, 0, 0, 0], abs=1e-6)


def test_masked_keys_do_not_count_as_chances_missed() -> None:
    allowed = np.tril(np.ones((5, 5), dtype=np.bool_))
    even = allowed / allowed.sum(axis=1, keepdims=True)
    found = head_statistics(square_maps(even[None], allowed))
    assert found["entropy"][0, 0] == pytest.approx(1.0)
    assert found["last"][0, 0] == pytest.approx(np.mean([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]))


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
