"""Draft and confirmation find what plain greedy search finds, however wrong the draft is."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model_core.config import DecodingConfig, Norm
from model_core.search.decoding import Decoded, decode
from model_core.search.draft import Draft, Drafting
from model_core.search.drafted_search import drafted_search
from model_core.search.forced_pass import ForcedPass
from tests.small_models import draftable_model, random_source

few = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(0, 999)
norms = st.sampled_from(["pre", "post"])
windows = st.sampled_from([1, 2, 5, 48])
VOCABULARY = 211
SHARP: dict[str, Any] = {"vocabulary": VOCABULARY, "spread": 6.0}  # small errors grow: 8 bits are often wrong


def assert_same(found: Decoded, wanted: Decoded) -> None:
    assert (found.ids, found.finished) == (wanted.ids, wanted.finished)
    assert found.score == pytest.approx(wanted.score, abs=1e-3)
    assert [step.log_probability for step in found.steps] == pytest.approx(
        [step.log_probability for step in wanted.steps], abs=1e-3
    )
    assert all(step.alternatives == () for step in found.steps)


@few
@given(seeds, seeds, norms, windows, st.integers(0, 7), st.integers(1, 31), st.booleans())
def test_drafted_search_is_greedy_search(
    seed: int, other: int, norm: Norm, window: int, pieces: int, limit: int, keep: bool
) -> None:
    model = draftable_model(seed, norm=norm, **SHARP)
    source = random_source(pieces, seed, VOCABULARY)
    config = DecodingConfig(max_length=limit, alternatives=0)
    [[wanted]] = decode(model, [source], config)
    # The model's own draft, and one of another model, which is hardly ever right.
    for drafted in (model, draftable_model(other, norm=norm, **SHARP)):
        exact = ForcedPass(model, source, keep=keep)
        path = drafted_search(Draft(drafted), exact, limit, 5, window=window)
        assert_same(path.decoded(config.length_penalty), wanted)


def test_8_bits_are_often_wrong_about_these_models() -> None:
    """So the property above is about corrections too, and a whole guess that is right is not the rule."""
    wrong = 0
    for seed in range(25):
        model, source = draftable_model(seed, **SHARP), random_source(5, seed, VOCABULARY)
        [[wanted]] = decode(model, [source], DecodingConfig(max_length=31))
        with torch.inference_mode():
            memory = ForcedPass(model, source, keep=False).memory_heads()
            wrong += tuple(Drafting(Draft(model), memory).extend([], 31)) != wanted.ids
    assert 3 <= wrong <= 22
