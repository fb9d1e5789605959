"""Pieces merged into words and special tokens hidden: the numbers by hand, and what stays true for all."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_core.text.words import word_numbers
from model_core.trace import AttentionMaps, Token, TraceError
from model_core.trace.view import AttentionView, hide_special, merge_words, strongest, view_map, view_maps
from tests.small_traces import random_rows, small_trace

SPECIAL = {"<s>": 1, "</s>": 2}


def tokens(*pieces: str) -> tuple[Token, ...]:
    """Pieces with their words numbered as the tokenizer does; ids 100, 101, ... but for special ones."""
    numbers = word_numbers([None if piece in SPECIAL else piece for piece in pieces])
    return tuple(
        Token(SPECIAL.get(piece, 100 + i), piece, piece.removeprefix("▁") or piece, number, piece in SPECIAL)
        for i, (piece, number) in enumerate(zip(pieces, numbers, strict=True))
    )


def view_of(queries: Sequence[Token], keys: Sequence[Token], **changes: Any) -> AttentionView:
    weights = random_rows(np.random.default_rng(2), (len(queries), len(keys)), np.ones((1, 1), dtype=np.bool_))
    values = {"weights": weights, "allowed": np.ones(weights.shape, dtype=bool)} | changes
    return AttentionView("cross", query_tokens=tuple(queries), key_tokens=tuple(keys), **values)


def texts(of: Sequence[Token]) -> list[str]:
    return [token.text for token in of]


# --- views ---


def test_a_view_is_one_map_of_a_trace_or_all_of_a_site() -> None:
    trace = small_trace()
    one, mean, every = view_map(trace, "cross", 2, 1), view_map(trace, "cross", 2), view_maps(trace, "cross")
    np.testing.assert_array_equal(one.weights, trace.cross.weights[2, 1])
    np.testing.assert_allclose(mean.weights, trace.cross.weights[2].mean(axis=0), rtol=1e-6)
    np.testing.assert_array_equal(every.weights, trace.cross.weights)
    assert one.query_tokens == trace.decoder_input_tokens and one.key_tokens == trace.source_tokens
    assert one.predicted_tokens == trace.predicted_tokens and view_map(trace, "decoder_self", 0).predicted_tokens
    assert view_map(trace, "encoder_self", 0).predicted_tokens == ()
    np.testing.assert_array_equal(view_map(trace, "decoder_self", 0).allowed, np.tril(np.ones((5, 5), dtype=bool)))


def test_row_sums_are_what_the_rows_add_up_to() -> None:
    view = view_of(tokens("▁a", "▁b", "▁c"), tokens("▁d", "e", "▁f", "▁g", "h"))
    np.testing.assert_allclose(view.row_sums, 1.0, rtol=1e-6)
    halved = replace(view, weights=view.weights * np.array([[1.0], [0.5], [0.0]], dtype=np.float32))
    np.testing.assert_allclose(halved.row_sums, [1.0, 0.5, 0.0], rtol=1e-6)
    assert view_maps(small_trace(), "cross").row_sums.shape == (3, 4, 5)


def test_a_view_whose_parts_do_not_fit_is_refused() -> None:
    view = view_of(tokens("▁a", "▁b", "▁c"), tokens("▁d", "e", "▁f", "▁g", "h"))
    with pytest.raises(TraceError, match=r"shape \[5, 3\] .* 3 query tokens and 5 key tokens"):
        replace(view, weights=view.weights.T)
    with pytest.raises(TraceError, match=r"float32 allowed of shape \[3, 5\]"):
        replace(view, allowed=view.weights)
    with pytest.raises(TraceError, match="2 predicted tokens do not fit 3 query tokens"):
        replace(view, predicted_tokens=view.query_tokens[:2])
    with pytest.raises(TraceError, match="not finite"):
        replace(view, weights=np.full((3, 5), np.nan))


def test_a_view_cannot_be_changed_nor_can_its_copy() -> None:
    view = view_of(tokens("▁a", "▁b"), tokens("▁c", "▁d", "▁e"))
    for array in (view.weights, view.allowed, copy.deepcopy(view).weights):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1


# --- words ---


def test_keys_are_added_and_queries_averaged() -> None:
    weights = np.array(
        [[0.1, 0.2, 0.3, 0.4, 0.0], [0.5, 0.1, 0.1, 0.1, 0.2], [0.3, 0.3, 0.1, 0.1, 0.2]], dtype=np.float32
    )
    view = view_of(tokens("<s>", "▁Com", "ment"), tokens("▁How", "▁old", "er", "?", "</s>"), weights=weights)
    merged = merge_words(view)
    assert texts(merged.query_tokens) == ["<s>", "Comment"]
    assert texts(merged.key_tokens) == ["How", "older", "?", "</s>"]
    np.testing.assert_allclose(merged.weights, [[0.1, 0.5, 0.4, 0.0], [0.4, 0.3, 0.1, 0.2]], atol=1e-7)
    assert (view.unit, merged.unit) == ("piece", "word")


def test_a_mark_is_apart_from_its_word_so_that_its_share_is_not_taken_for_the_words() -> None:
    """What looks at the end of a sentence looks at its mark; merged with the last word it would seem to mean that."""
    weights = np.array([[0.05, 0.05, 0.9]], dtype=np.float32)
    merged = merge_words(view_of(tokens("▁a"), tokens("▁sta", "tion", "?"), weights=weights))
    assert texts(merged.key_tokens) == ["station", "?"]
    np.testing.assert_allclose(merged.weights, [[0.1, 0.9]], atol=1e-7)


def test_a_trace_saved_before_marks_were_apart_is_merged_as_it_was_numbered() -> None:
    numbered = tuple(replace(token, word=0) for token in tokens("▁sta", "tion", "?"))
    assert texts(merge_words(view_of(tokens("▁a"), numbered)).key_tokens) == ["station?"]


def test_a_word_keeps_its_first_pieces_id_and_joins_the_spelling() -> None:
    view = view_of(tokens("▁a"), tokens("<s>", "▁old", "er", "▁one"))
    assert merge_words(view).key_tokens[1] == Token(101, "▁older", "older", 0, False)
    assert merge_words(view).key_tokens[2] == view.key_tokens[3]


def test_bytes_of_a_character_become_that_character() -> None:
    bytes_of = [f"<0x{byte:02X}>" for byte in "你好".encode()]
    view = view_of(tokens("▁a"), tokens("▁", *bytes_of, "▁x", "<0xE2>", "<0x82>"))
    assert texts(merge_words(view).key_tokens) == ["你", "好", "x", "\ufffd"], "Chinese puts no blanks between words"


def test_equal_words_and_special_tokens_stay_apart() -> None:
    keys = tokens("<s>", "</s>", "▁the", "▁the", "</s>", "</s>")
    assert texts(merge_words(view_of(tokens("▁a"), keys)).key_tokens) == ["<s>", "</s>", "the", "the", "</s>", "</s>"]


def test_a_decoder_row_predicts_all_that_its_pieces_predict() -> None:
    read = tokens("<s>", "▁Com", "ment", "▁allez", "-", "vous", "▁?")
    predicted = (*read[1:], *tokens("</s>"))
    view = view_of(read, tokens("▁How", "▁are", "▁you"), predicted_tokens=predicted)
    merged = merge_words(view)
    assert texts(merged.query_tokens) == ["<s>", "Comment", "allez", "-", "vous", "?"]
    assert texts(merged.predicted_tokens) == ["Com", "ment allez", "-", "vous", "?", "</s>"]
    last = merge_words(view_of(read[:-1], tokens("▁a"), predicted_tokens=(*read[1:-1], *tokens("</s>"))))
    assert texts(last.predicted_tokens)[-1] == "</s>"
    assert [token.special for token in last.predicted_tokens] == [False, False, False, False, True]
    cut = tokens("<s>", "▁al", "lez")
    mixed = merge_words(view_of(cut, tokens("▁a"), predicted_tokens=(*cut[1:], *tokens("</s>"))))
    assert texts(mixed.predicted_tokens)[-1] == "lez </s>" and not mixed.predicted_tokens[-1].special


def test_a_word_may_attend_where_any_of_its_pieces_may() -> None:
    read = tokens("<s>", "▁Com", "ment", "▁?", "!")
    allowed = np.tril(np.ones((5, 5), dtype=bool))
    weights = random_rows(np.random.default_rng(3), (5, 5), allowed)
    merged = merge_words(view_of(read, read, weights=weights, allowed=allowed))
    np.testing.assert_array_equal(merged.allowed, np.tril(np.ones((4, 4), dtype=bool)))
    np.testing.assert_allclose(merged.row_sums, 1.0, rtol=1e-6)
    assert not merged.weights[~merged.allowed].any()


def test_one_allowed_pair_of_pieces_is_enough_for_their_words() -> None:
    allowed = np.array([[True, False, False, False], [False, False, False, True], [False, False, False, False]])
    view = view_of(tokens("▁a", "b", "▁c"), tokens("▁d", "e", "▁f", "g"), allowed=allowed)
    np.testing.assert_array_equal(merge_words(view).allowed, [[True, True], [False, False]])


def test_all_maps_of_a_site_are_merged_at_once() -> None:
    trace = small_trace()
    source = tokens("<s>", "▁How", "▁are", "▁yo", "u", "?", "</s>")
    maps = AttentionMaps("encoder_self", trace.encoder_self.weights, trace.encoder_self.allowed, source, source)
    every = AttentionView("encoder_self", maps.weights, maps.allowed, source, source)
    merged = merge_words(every)
    assert merged.weights.shape == (2, 5, 6, 6)
    for layer, head in ((0, 0), (1, 4)):
        one = merge_words(replace(every, weights=maps.map(layer, head)))
        np.testing.assert_allclose(merged.weights[layer, head], one.weights, rtol=1e-6)


@given(queries=st.lists(st.sampled_from(["<s>", "▁a", "b", ","]), min_size=1, max_size=11), data=st.data())
def test_rows_of_words_still_sum_to_one(queries: list[str], data: st.DataObject) -> None:
    keys = data.draw(st.lists(st.sampled_from(["</s>", "▁c", "d", "!", "▁"]), min_size=1, max_size=7))
    view = view_of(tokens(*queries), tokens(*keys))
    merged = merge_words(view)
    np.testing.assert_allclose(merged.row_sums, 1.0, rtol=1e-5)
    groups = 1 + sum(
        left.special or right.special or left.word != right.word
        for left, right in zip(view.key_tokens, view.key_tokens[1:], strict=False)
    )
    assert merged.weights.shape[1] == groups
    assert merge_words(merged).weights.shape == merged.weights.shape


# --- special tokens ---


def test_hiding_special_tokens_takes_their_share_out_of_the_sums() -> None:
    read, source = tokens("<s>", "▁a", "▁b"), tokens("<s>", "▁c", "▁d", "▁e", "</s>")
    weights = np.array([[0.2] * 5, [0.5, 0.1, 0.1, 0.1, 0.2], [0.0, 0.25, 0.25, 0.5, 0.0]], dtype=np.float32)
    view = view_of(read, source, weights=weights, predicted_tokens=(*read[1:], *tokens("</s>")))
    hidden = hide_special(view)
    assert texts(hidden.query_tokens) == ["a", "b"] and texts(hidden.key_tokens) == ["c", "d", "e"]
    assert texts(hidden.predicted_tokens) == ["b", "</s>"]
    np.testing.assert_allclose(hidden.weights, [[0.1, 0.1, 0.1], [0.25, 0.25, 0.5]])
    np.testing.assert_allclose(hidden.row_sums, [0.3, 1.0], rtol=1e-6)
    again = hide_special(view, renormalise=True)
    np.testing.assert_allclose(again.weights, [[1 / 3] * 3, [0.25, 0.25, 0.5]], rtol=1e-6)
    np.testing.assert_allclose(again.row_sums, 1.0, rtol=1e-6)


def test_a_row_that_gave_all_to_special_tokens_stays_zero() -> None:
    weights = np.array([[1.0, 0.0, 0.0], [0.0, 0.75, 0.25]], dtype=np.float32)
    view = view_of(tokens("▁a", "▁b"), tokens("<s>", "▁c", "▁d"), weights=weights)
    hidden = hide_special(view, renormalise=True)
    np.testing.assert_array_equal(hidden.weights, [[0.0, 0.0], [0.75, 0.25]])
    np.testing.assert_array_equal(hidden.row_sums, [0.0, 1.0])


def test_nothing_but_special_tokens_leaves_an_empty_view() -> None:
    hidden = hide_special(view_of(tokens("<s>"), tokens("<s>", "▁a", "</s>")), renormalise=True)
    assert hidden.weights.shape == hidden.allowed.shape == (0, 1)
    assert merge_words(hidden).weights.shape == (0, 1)


def test_words_and_hiding_go_together_in_either_order() -> None:
    read, source = tokens("<s>", "▁Com", "ment"), tokens("<s>", "▁How", "▁old", "er", "</s>")
    view = view_of(read, source)
    one, other = merge_words(hide_special(view)), hide_special(merge_words(view))
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-6)
    assert (one.query_tokens, one.key_tokens) == (other.query_tokens, other.key_tokens)


def test_the_strongest_weight_is_one_that_had_a_choice() -> None:
    weights = np.array([[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.2, 0.2, 0.6]], dtype=np.float32)
    causal = np.tril(np.ones((3, 3), dtype=np.bool_))
    assert strongest(weights, causal) == (1, 1, pytest.approx(0.7))
    assert strongest(weights, np.ones((3, 3), dtype=np.bool_)) == (0, 0, 1.0)
    assert strongest(weights[:1], causal[:1]) == (0, 0, 1.0)
    with pytest.raises(ValueError, match="None of the 9 cells"):
        strongest(weights, np.zeros((3, 3), dtype=np.bool_))
