"""The bars of a typed translation show the trace's own numbers, and labels stay text."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from model_core.trace import Alternative, DecodingStep, TranslationTrace
from tests.figures.looks import look
from tests.small_traces import small_trace
from viz.figures.piece_scores import piece_scores, piece_scores_alt
from viz.theme import palette


def typed_trace() -> TranslationTrace:
    """Five pieces, two of them alike, one of them markup; the model preferred another piece at each step but one."""
    trace = small_trace(target=("<s>", "<b>", "les", "les", "$x$"))
    steps = []
    for place, token in enumerate(trace.predicted_tokens):
        best = Alternative(token.id, -1.0 - place) if place == 3 else Alternative(5000, -0.25)
        steps.append(DecodingStep(token.id, -1.0 - place, (best,)))
    return replace(trace, decoding=tuple(steps), pieces={**trace.pieces, 5000: "▁<i>"}, log_probability=-15.0)


@pytest.mark.parametrize("dark", [False, True])
def test_bars_are_the_probabilities(dark: bool) -> None:
    figure: Any = piece_scores(typed_trace(), dark=dark)
    best, own = figure.data
    np.testing.assert_allclose(own.y, np.exp([-1.0, -2.0, -3.0, -4.0, -5.0]))
    np.testing.assert_allclose(best.y, [math.exp(-0.25)] * 3 + [math.exp(-4.0), math.exp(-0.25)])
    assert list(own.x) == list(best.x) == [1, 2, 3, 4, 5], "two equal pieces are two bars"
    assert look(figure)["paper_bgcolor"] == palette(dark).background


def test_labels_are_escaped() -> None:
    figure: Any = piece_scores(typed_trace(), dark=False)
    assert list(figure.layout.xaxis.ticktext) == ["&lt;b&gt;", "les", "les", "&#36;x&#36;", "&lt;/s&gt;"]
    assert figure.data[0].customdata[0] == "▁&lt;i&gt;"


def test_many_labels_are_thinned_and_no_bar_is_lost() -> None:
    trace = small_trace(target=("<s>", *[f"w{i}" for i in range(70)]))
    steps = tuple(replace(step, alternatives=(Alternative(step.chosen_id, -1.0),)) for step in trace.decoding)
    figure: Any = piece_scores(replace(trace, decoding=steps), dark=False)
    assert len(figure.data[1].y) == 71 and len(figure.layout.xaxis.ticktext) <= 32


def test_its_description_names_the_least_likely_piece() -> None:
    description = piece_scores_alt(typed_trace())
    assert "5 pieces of 0.050 probability" in description, description
    assert "piece 5, “</s>”, with 0.0067" in description


def test_a_trace_of_certain_pieces_is_not_called_certain() -> None:
    trace = small_trace(target=("<s>", "a"))
    steps = tuple(replace(step, log_probability=value) for step, value in zip(trace.decoding, (0, -2e-4), strict=True))
    description = piece_scores_alt(replace(trace, decoding=steps, log_probability=-2e-4))
    assert "2 pieces of > 0.999 probability" in description and "with 0.9998" in description
    trace = small_trace(target=("<s>",))
    steps = (replace(trace.decoding[0], log_probability=-20.0),)
    description = piece_scores_alt(replace(trace, decoding=steps, log_probability=-20.0))
    assert description.startswith("1 piece of ") and "with 2.1e−09" in description


def test_a_trace_without_alternatives_is_refused() -> None:
    with pytest.raises(ValueError, match="without alternatives"):
        piece_scores(small_trace(), dark=False)
