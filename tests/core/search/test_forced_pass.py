"""One source under many targets: whole passes, passes over the rest, and what they keep."""

from __future__ import annotations

import pytest
import torch

from model_core.config import DecodingConfig
from model_core.interventions import HeadKnockout
from model_core.search.decoding import decode
from model_core.search.forced_pass import ForcedPass
from model_core.trace import DecodingStep
from tests.small_models import next_log_probabilities, random_source, small_model

SOURCE = random_source(5, 1)
TARGET = [7, 4, 9, 9, 5, 8, 2]


def numbers(steps: tuple[DecodingStep, ...]) -> list[float]:
    return [step.log_probability for step in steps]


@pytest.mark.parametrize("keep", [True, False])
def test_a_target_is_scored_as_the_model_scores_it(keep: bool) -> None:
    model = small_model(1)
    forced = ForcedPass(model, SOURCE, keep=keep)
    for target in (TARGET, TARGET[:3], [5], TARGET):
        steps = forced.score(target, 3)
        wanted = [float(next_log_probabilities(model, SOURCE, target[:i])[id_]) for i, id_ in enumerate(target)]
        assert numbers(steps) == pytest.approx(wanted, abs=1e-5)
        assert [len(step.alternatives) for step in steps] == [3] * len(target)
        assert forced.score(target, 3) is steps


@pytest.mark.parametrize("keep", [True, False])
def test_the_rest_of_a_target_is_scored_as_in_the_whole(keep: bool) -> None:
    model = small_model(1)
    forced, other = ForcedPass(model, SOURCE, keep=keep), [7, 4, 5, 5, 10]
    forced.score(TARGET, 2)
    for target, known in ((other, 2), ([*other, 6, 2], 5), ([7, 2], 1), (TARGET, 0)):
        rest = forced.score_rest(target, known, 2)
        whole = ForcedPass(model, SOURCE, keep=False).score(target, 2)
        assert numbers(rest) == pytest.approx(numbers(whole[known:]), abs=1e-5)
        assert [step.chosen_id for step in rest] == target[known:]


def test_what_is_kept_is_the_last_whole_target_and_not_the_rest() -> None:
    forced = ForcedPass(small_model(1), SOURCE, keep=True)
    forced.score(TARGET, 1)
    forced.score_rest([7, 4, 5], 2, 1)
    assert forced.record.weights("cross").shape == (2, 1, 3, 7, 7)
    forced.score([7, 4, 5], 1)
    assert forced.record.weights("cross").shape == (2, 1, 3, 3, 7)
    assert forced.record.weights("encoder_self").shape == (2, 1, 3, 7, 7)
    assert forced.decoder_states.shape == (3, 3, 12)
    assert forced.encoder_states.shape == (3, 7, 12)


def test_an_intervention_changes_what_is_scored_and_kept() -> None:
    forced = ForcedPass(small_model(1), SOURCE, HeadKnockout("encoder_self", 1, 2), keep=True)
    plain = ForcedPass(small_model(1), SOURCE, keep=True)
    assert not forced.record.weights("encoder_self")[1, :, 2].any()
    assert numbers(forced.score(TARGET, 1)) != pytest.approx(numbers(plain.score(TARGET, 1)), abs=1e-4)


@pytest.mark.parametrize("strategy", ["greedy", "beam", "sample"])
def test_a_search_over_its_memory_finds_what_it_finds_alone(strategy: str) -> None:
    model, config = small_model(1), DecodingConfig(strategy, seed=3)  # type: ignore[arg-type]
    memory = ForcedPass(model, SOURCE, keep=True).memory
    assert decode(model, [SOURCE], config, memory=memory) == decode(model, [SOURCE], config)
    other = ForcedPass(model, random_source(5, 2), keep=True).memory
    assert not torch.equal(other, memory)
    assert decode(model, [SOURCE], config, memory=other) != decode(model, [SOURCE], config)
