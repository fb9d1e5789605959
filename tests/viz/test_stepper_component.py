"""The stepper's Python side: what goes to the page, and who says where it stands."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from model_core.trace import Alternative, DecodingStep, TranslationTrace
from tests.small_traces import small_trace
from viz.components.handshake import Report
from viz.components.stepper import CacheShape, pack_steps
from viz.components.stepper.choice import read_step, settle_step
from viz.components.stepper.pack import packed_count

CACHE = CacheShape(layers=3, heads=4, width=7)


def trace_with_steps() -> TranslationTrace:
    """Every step has two alternatives; at step 3 the chosen piece is none of them, and one is markup."""
    trace = small_trace()
    steps = []
    for place, token in enumerate(trace.predicted_tokens):
        others = (Alternative(5000, -0.5), Alternative(5001 if place == 2 else token.id, -1.5))
        steps.append(DecodingStep(token.id, -9.0 if place == 2 else -1.5, others))
    pieces = {**trace.pieces, 5000: '▁<b>&"$x$', 5001: "▁" + "long" * 9}
    return replace(trace, decoding=tuple(steps), pieces=pieces)


def unpacked(packed: bytes) -> tuple[dict[str, Any], np.ndarray]:
    line, cells = packed.split(b"\n", 1)
    return json.loads(line), np.frombuffer(cells, dtype="<f4")


def test_the_page_gets_every_step_and_the_map() -> None:
    trace = trace_with_steps()
    weights = trace.cross.map(1, 2)
    content, cells = unpacked(
        pack_steps(trace, weights, vocabulary=311, cache=CACHE, map_name="layer 2", forced={3, 1}, may_force=False)
    )
    np.testing.assert_array_equal(cells.reshape(5, 7), weights)
    assert [token["text"] for token in content["source"]] == [token.text for token in trace.source_tokens]
    assert [step["chosen"] for step in content["steps"]] == [token.id for token in trace.predicted_tokens]
    assert (content["forced"], content["mayForce"], content["vocabulary"]) == ([1, 3], False, 311)
    assert content["cache"] == {"layers": 3, "heads": 4, "width": 7, "bytes": 4}


def test_a_piece_is_text_and_the_chosen_one_is_always_there() -> None:
    content, _ = unpacked(
        pack_steps(trace_with_steps(), small_trace().cross.map(0, 0), vocabulary=311, cache=CACHE, map_name="")
    )
    first, third = content["steps"][0]["pieces"], content["steps"][2]["pieces"]
    assert first[0] == [5000, '▁<b>&"$x$', '▁<b>&"$x$', -0.5]
    assert len(first) == 2 and len(third) == 3
    assert third[2][0] == content["steps"][2]["chosen"] and third[2][3] == -9.0
    assert third[1][1].endswith("…") and third[1][2] == "▁" + "long" * 9


def test_an_impossible_piece_still_makes_json() -> None:
    trace = small_trace()
    steps = (replace(trace.decoding[0], log_probability=-math.inf), *trace.decoding[1:])
    packed = pack_steps(replace(trace, decoding=steps), trace.cross.map(0), vocabulary=9, cache=CACHE, map_name="")
    assert unpacked(packed)[0]["steps"][0]["pieces"][0][3] == -1e4
    assert b"Infinity" not in packed


def test_a_map_of_another_trace_is_refused() -> None:
    trace = small_trace()
    with pytest.raises(ValueError, match=r"shape \[5, 5\]; this trace's are \[5, 7\]"):
        pack_steps(trace, trace.decoder_self.map(0), vocabulary=9, cache=CACHE, map_name="")
    with pytest.raises(ValueError, match="3 bytes are no steps"):
        packed_count(b"abc")


def test_a_person_who_moved_wins_over_the_script() -> None:
    first = settle_step(None, 2, None, 7)
    moved = settle_step(first, 2, Report(5, first.token), 7)
    assert moved.chosen == 5 and moved.token == first.token, "the page stands there already: it is not told"
    again = settle_step(moved, 5, Report(5, first.token), 7)
    assert again.chosen == 5 and again.token == first.token


def test_a_script_that_wants_another_step_tells_the_page() -> None:
    first = settle_step(None, 2, None, 7)
    other = settle_step(first, 4, None, 7)
    assert other.chosen == other.sent == 4 and other.token != first.token


def test_steps_that_are_not_there_become_the_nearest() -> None:
    first = settle_step(None, 99, None, 7)
    assert first.chosen == 6
    shorter = settle_step(first, 6, Report(6, first.token), 3)
    assert shorter.chosen == 2 and shorter.token != first.token
    assert settle_step(None, -4, None, 3).chosen == 0


@pytest.mark.parametrize(
    "state", [None, {}, {"at": 3}, {"at": {"step": "3", "token": "a"}}, {"at": {"step": True, "token": "a"}}]
)
def test_what_no_stepper_reports_is_not_read(state: Any) -> None:
    assert read_step(state) is None
