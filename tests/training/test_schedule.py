"""Learning rates: where they rise, how they fall, where they end."""

import math
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_core.config import Schedule, TrainingConfig
from model_core.training.schedule import learning_rate

CONFIG = TrainingConfig(steps=110, warmup_steps=11, learning_rate=0.03)
schedules = st.sampled_from(get_args(Schedule))


def rates(config: TrainingConfig) -> list[float]:
    return [learning_rate(step, config) for step in range(config.steps)]


@pytest.mark.parametrize("schedule", get_args(Schedule))
def test_the_warm_up_is_a_line_to_the_full_rate(schedule: Schedule) -> None:
    found = rates(replace(CONFIG, schedule=schedule))
    assert found[:11] == pytest.approx([0.03 * (step + 1) / 11 for step in range(11)])
    assert max(found) == pytest.approx(0.03)


def test_inverse_sqrt_halves_when_the_step_is_four_times_as_far() -> None:
    found = rates(CONFIG)
    for step in (12, 15, 22):
        assert found[4 * step - 1] == pytest.approx(found[step - 1] / 2)
    assert found[21] == pytest.approx(0.03 / math.sqrt(2))


def test_cosine_is_half_way_down_in_the_middle_and_nearly_zero_at_the_end() -> None:
    config = replace(CONFIG, schedule="cosine", steps=111)
    found = rates(config)
    assert found[61] == pytest.approx(0.015)
    assert found[36] + found[86] == pytest.approx(0.03)
    assert 0.0 < found[110] < 0.03 / 1000


def test_constant_stays() -> None:
    assert set(rates(replace(CONFIG, schedule="constant"))[11:]) == {0.03}


def test_the_cool_down_is_a_line_to_zero() -> None:
    found = rates(replace(CONFIG, schedule="constant", cooldown_steps=30))
    assert set(found[11:81]) == {0.03}
    assert found[80:] == pytest.approx([0.03 * left / 30 for left in range(30, 0, -1)])


@pytest.mark.parametrize("schedule", ["constant", "inverse-sqrt"])
def test_a_longer_run_has_the_same_rates_up_to_the_cool_down(schedule: Schedule) -> None:
    short = replace(CONFIG, schedule=schedule, cooldown_steps=30)
    assert rates(short)[:80] == rates(replace(short, steps=170))[:80]
    assert rates(short)[80:] != rates(replace(short, steps=170))[80:110]


@given(schedules, st.integers(0, 40), st.integers(0, 30), st.integers(70, 90))
def test_rates_are_positive_never_above_the_highest_and_fall_after_the_warm_up(
    schedule: Schedule, warmup: int, cooldown: int, steps: int
) -> None:
    config = TrainingConfig(
        steps=steps, warmup_steps=warmup, cooldown_steps=cooldown, schedule=schedule, learning_rate=0.03
    )
    found = rates(config)
    assert all(0.0 < rate < 0.03 + 1e-12 for rate in found)
    falling = found[warmup:]
    assert falling == sorted(falling, reverse=True)
