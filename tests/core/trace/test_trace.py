"""The types of a trace: what they refuse, and that nobody can change what they hold."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from model_core.trace import Alternative, AttentionMaps, DecodingStep, Hypothesis, TraceError, TranslationTrace
from tests.small_traces import make_tokens, small_trace

QUERIES, KEYS = make_tokens(["a", "b", "c"]), make_tokens(["d", "e", "f", "g", "h"])


def some_maps(layers: int = 2, heads: int = 7) -> AttentionMaps:
    weights = np.random.default_rng(1).random((layers, heads, 3, 5)).astype(np.float32)
    return AttentionMaps("cross", weights, np.ones((3, 5), dtype=bool), QUERIES, KEYS)


# --- AttentionMaps ---


def test_map_picks_a_head_or_takes_the_mean() -> None:
    maps = some_maps()
    assert (maps.layers, maps.heads) == (2, 7)
    np.testing.assert_array_equal(maps.map(1, 5), maps.weights[1, 5])
    np.testing.assert_allclose(maps.map(1, None), maps.weights[1].mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(maps.map(None, 5), maps.weights[:, 5].mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(maps.map(None), maps.weights.mean(axis=(0, 1)), rtol=1e-6)
    assert maps.map(None).dtype == np.float32


@pytest.mark.parametrize(("layer", "head", "message"), [(2, 0, "layers 0 to 1"), (-1, 0, "layer -1"), (0, 7, "head 7")])
def test_map_refuses_what_is_not_there(layer: int, head: int, message: str) -> None:
    with pytest.raises(IndexError, match=message):
        some_maps().map(layer, head)


@pytest.mark.parametrize("shape", [(2, 7, 5, 3), (2, 7, 3, 4), (7, 3, 5), (0, 7, 3, 5), (2, 0, 3, 5)])
def test_a_wrong_shape_is_named_beside_the_tokens(shape: tuple[int, ...]) -> None:
    weights = np.zeros(shape, dtype=np.float32)
    with pytest.raises(TraceError, match="3 query tokens and 5 key tokens") as caught:
        AttentionMaps("cross", weights, np.ones((3, 5), dtype=bool), QUERIES, KEYS)
    assert str(list(shape)) in str(caught.value)


@pytest.mark.parametrize("allowed", [np.ones((5, 3), dtype=bool), np.ones((3, 5), dtype=np.int64)])
def test_allowed_has_to_be_boolean_and_fit(allowed: Any) -> None:
    with pytest.raises(TraceError, match=r"cross's allowed is (bool|int64) of shape .* bool of shape \[3, 5\]"):
        AttentionMaps("cross", np.zeros((2, 7, 3, 5), dtype=np.float32), allowed, QUERIES, KEYS)


def test_weights_have_to_be_finite_floats() -> None:
    weights = np.zeros((2, 7, 3, 5))
    weights[1, 2, 0, 4] = math.nan
    with pytest.raises(TraceError, match="1 of the 210 numbers in cross's weights are not finite"):
        replace(some_maps(), weights=weights)
    with pytest.raises(TraceError, match="floats, not int64"):
        replace(some_maps(), weights=np.zeros((2, 7, 3, 5), dtype=np.int64))


def test_there_is_no_fourth_site() -> None:
    site: Any = "decoder"
    with pytest.raises(TraceError, match="no site 'decoder'"):
        replace(some_maps(), site=site)
    with pytest.raises(TraceError, match="encoder_self, decoder_self, cross"):
        small_trace().maps(site)


def test_arrays_are_copies_that_nobody_can_write_to() -> None:
    weights, allowed = np.zeros((2, 7, 3, 5), dtype=np.float32), np.ones((3, 5), dtype=bool)
    maps = AttentionMaps("cross", weights, allowed, QUERIES, KEYS)
    weights[:], allowed[:] = 1.0, False
    assert maps.weights.max() == 0.0 and maps.allowed.all()
    trace = small_trace()
    held = [maps.weights, maps.allowed, maps.map(0, 1), maps.map(0), trace.encoder_states, trace.decoder_states]
    for array in [*held, copy.deepcopy(trace).cross.weights, copy.deepcopy(trace).encoder_states]:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1
    pieces: Any = trace.pieces
    with pytest.raises(TypeError):
        pieces[4] = "changed"


# --- TranslationTrace ---


def with_step(trace: TranslationTrace, index: int, **changes: Any) -> tuple[DecodingStep, ...]:
    return tuple(replace(step, **changes) if i == index else step for i, step in enumerate(trace.decoding))


def hypothesis(parent: int, **changes: Any) -> Hypothesis:
    values: dict[str, Any] = {"log_probability": -1.5, "score": -1.0, "finished": False, "kept": True}
    return Hypothesis(id=1001, parent=parent, **(values | changes))


def unsure(second: float) -> tuple[Alternative, ...]:
    return Alternative(10, -0.1), Alternative(11, second)


def sure(log_probability: float) -> tuple[Hypothesis, ...]:
    return (hypothesis(-1, log_probability=log_probability, score=log_probability),)


Change = Callable[[TranslationTrace], dict[str, Any]]
DISAGREEMENTS: list[tuple[str, Change]] = [
    ("needs source tokens", lambda t: {"source_tokens": ()}),
    ("5 predicted tokens .* 4 decoder input", lambda t: {"decoder_input_tokens": t.decoder_input_tokens[:-1]}),
    ("moved by one", lambda t: {"predicted_tokens": t.predicted_tokens[::-1]}),
    ("moved by one", lambda t: {"predicted_tokens": t.decoder_input_tokens}),
    ("moved by one", lambda t: {"predicted_tokens": (*t.predicted_tokens[1::-1], *t.predicted_tokens[2:])}),
    ("no strategy 'guess'", lambda t: {"strategy": "guess"}),
    ("log_probability cannot be nan", lambda t: {"log_probability": math.nan}),
    ("score cannot be inf", lambda t: {"score": math.inf}),
    ("encoder_self cannot hold the maps of cross", lambda t: {"encoder_self": t.cross}),
    ("7 query and 7 key tokens are not", lambda t: {"source_tokens": t.source_tokens[:-1]}),
    ("cross has 2 layers and decoder_self 3", lambda t: {"cross": replace(t.cross, weights=t.cross.weights[:2])}),
    (r"encoder_states has shape \[2, 7, 3\]", lambda t: {"encoder_states": t.encoder_states[:-1]}),
    (r"decoder_states has shape \[4, 5, 2\]", lambda t: {"decoder_states": t.decoder_states[..., :2]}),
    (r"decoder_states has shape \[4, 15\]", lambda t: {"decoder_states": t.decoder_states.reshape(4, 15)}),
    ("4 steps for 5 predicted tokens", lambda t: {"decoding": t.decoding[:-1]}),
    ("0 steps", lambda t: {"decoding": ()}),
    ("Step 3 .* chose id 4, .* has id 1003", lambda t: {"decoding": with_step(t, 2, chosen_id=4)}),
    ("Step 2 .* not a number", lambda t: {"decoding": with_step(t, 1, log_probability=math.nan)}),
    ("Step 2 .* not a number", lambda t: {"decoding": with_step(t, 1, alternatives=(Alternative(10, math.nan),))}),
    ("Step 1 .* not a number", lambda t: {"decoding": with_step(t, 0, hypotheses=(hypothesis(-1, score=math.nan),))}),
    ("Step 2 .* 1 of 1 .* 800.0", lambda t: {"decoding": with_step(t, 1, log_probability=800.0)}),
    ("Step 3 .* 1 of 3 .* 0.5", lambda t: {"decoding": with_step(t, 2, alternatives=unsure(0.5))}),
    ("Step 1 .* 2 of 3 .* 700.0", lambda t: {"decoding": with_step(t, 0, hypotheses=sure(700.0))}),
    ("step 1 has parent 0", lambda t: {"decoding": with_step(t, 0, hypotheses=(hypothesis(0),))}),
    ("step 2 has parent -1", lambda t: {"decoding": with_step(t, 1, hypotheses=(hypothesis(-1),))}),
    ("step 2 has parent 0, .* 0 hypotheses", lambda t: {"decoding": with_step(t, 1, hypotheses=(hypothesis(0),))}),
    ("do not spell 1 of its ids", lambda t: {"decoding": with_step(t, 1, alternatives=(Alternative(77, -1.0),))}),
    ("do not spell 2 of its ids", lambda t: {"pieces": {i: p for i, p in t.pieces.items() if i not in (1001, 2000)}}),
    ("spell 1 ids otherwise", lambda t: {"pieces": {**t.pieces, 1001: "▁Who"}}),
]


@pytest.mark.parametrize(("message", "change"), DISAGREEMENTS)
def test_parts_that_disagree_are_refused(message: str, change: Change) -> None:
    trace = small_trace()
    with pytest.raises(TraceError, match=message):
        replace(trace, **change(trace))


def test_what_rounding_puts_above_0_is_taken() -> None:
    """A sure token's log-probability; what a file or an upload says beyond that would overflow as a probability."""
    trace, above = small_trace(), 5e-4
    steps = with_step(trace, 0, log_probability=above, alternatives=unsure(above), hypotheses=sure(above))
    assert replace(trace, decoding=steps).decoding == steps


def test_maps_of_other_tokens_are_refused_though_their_number_is_right() -> None:
    trace = small_trace()
    others = replace(trace.decoder_self, key_tokens=trace.decoder_self.key_tokens[::-1])
    with pytest.raises(TraceError, match="decoder_self's 5 query and 5 key tokens"):
        replace(trace, decoder_self=others)


def test_a_beam_whose_parents_fit_is_taken() -> None:
    trace = small_trace()
    steps = list(trace.decoding)
    steps[0] = replace(steps[0], hypotheses=(hypothesis(-1), hypothesis(-1, kept=False)))
    steps[1] = replace(steps[1], hypotheses=(hypothesis(0), hypothesis(0, finished=True), hypothesis(1)))
    assert replace(trace, decoding=tuple(steps), strategy="beam").decoding[1].hypotheses[2].parent == 1


def test_maps_gives_each_site() -> None:
    trace = small_trace()
    assert trace.maps("encoder_self") is trace.encoder_self
    assert trace.maps("decoder_self") is trace.decoder_self
    assert trace.maps("cross") is trace.cross
