"""Sampling: temperature, top-k, top-p and seeds."""

import math

import pytest
import torch

from model_core.config import DecodingConfig
from model_core.search.decoding import decode
from model_core.search.sampling import Sampler, draw, drawn_from, seed_of, truncate
from tests.small_models import random_source, row_of, small_model

SOURCE = random_source(7, 7)


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p", "expected"),
    [
        (1.0, 0, 1.0, [0.5, 0.3, 0.15, 0.05]),
        (1.0, 2, 1.0, [0.625, 0.375]),
        (1.0, 0, 0.6, [0.625, 0.375]),
        (1.0, 0, 0.49, [1.0]),
        (1.0, 3, 0.85, [0.5 / 0.95, 0.3 / 0.95, 0.15 / 0.95]),
        (0.5, 0, 1.0, [0.25 / 0.365, 0.09 / 0.365, 0.0225 / 0.365, 0.0025 / 0.365]),
        (0.5, 0, 0.7, [0.25 / 0.34, 0.09 / 0.34]),
    ],
)
def test_temperature_then_top_k_then_top_p(temperature: float, top_k: int, top_p: float, expected: list[float]) -> None:
    probabilities, ids = truncate(row_of(0.3, 0.05, 0.5, 0.15), temperature, top_k, top_p)
    kept = probabilities[0] > 1e-6
    assert probabilities[0, kept].tolist() == pytest.approx(expected, abs=1e-6)
    assert ids[0, kept].tolist() == [6, 4, 7, 5][: len(expected)]
    assert float(probabilities.sum()) == pytest.approx(1.0)


def test_what_is_drawn_from_is_told_for_any_id() -> None:
    rows = torch.cat([row_of(0.3, 0.05, 0.5, 0.15), row_of(0.02, 0.9, 0.05, 0.03)])
    config = DecodingConfig("sample", top_k=3, top_p=0.85)
    first, second = drawn_from(rows, [[7, 6, 5], [4, 5]], config)
    assert (first.count, second.count) == (3, 1)
    assert first.shares == pytest.approx((0.15 / 0.95, 0.5 / 0.95, 0.0), abs=1e-6)
    assert second.shares == pytest.approx((0.0, 1.0), abs=1e-6)


def test_numbers_spread_evenly_draw_each_index_as_often_as_it_is_probable() -> None:
    probabilities = torch.tensor([[0.5, 0.3, 0.2, 0.0]], dtype=torch.float64)
    uniform = (torch.arange(1000, dtype=torch.float64) + 0.5) / 1000
    drawn = draw(probabilities.expand(1000, -1), uniform)[:, 0]
    assert drawn.bincount(minlength=4).tolist() == [500, 300, 200, 0]


def test_the_largest_number_draws_no_impossible_index() -> None:
    # Ten tenths add up to less than the largest number below 1.
    probabilities = torch.tensor([[0.1] * 10 + [0.0]], dtype=torch.float64)
    largest = torch.tensor([math.nextafter(1.0, 0.0)], dtype=torch.float64)
    assert draw(probabilities, largest).tolist() == [[9]]


def test_seeds_differ_by_seed_sentence_and_sample() -> None:
    seeds = {
        seed_of(seed, source, sample)
        for seed in (0, 1)
        for source in ([1, 5, 2], [1, 52], [15, 2])
        for sample in (0, 1)
    }
    assert len(seeds) == 12
    assert seed_of(0, [1, 5, 2], 0) == seed_of(0, (1, 5, 2), 0)


def test_another_seed_gives_another_translation() -> None:
    model = small_model(1, spread=1.0)
    found = {decode(model, [SOURCE], DecodingConfig("sample", seed=seed))[0][0].ids for seed in range(7)}
    assert len(found) > 1


def test_the_samples_of_one_sentence_differ() -> None:
    [found] = decode(small_model(1, spread=1.0), [SOURCE], DecodingConfig("sample", n_best=7))
    assert len({one.ids for one in found}) > 1


def test_a_sampler_draws_by_the_models_probabilities() -> None:
    sources = [[1, *digits, 2] for digits in ((a, b) for a in range(4, 54) for b in range(4, 44))]
    sampler = Sampler(DecodingConfig("sample"), sources, [0] * 2000, [1] * 2000)
    steps = sampler(row_of(0.5, 0.3, 0.2).expand(2000, -1), range(2000), 0)
    shares = [sum(step.chosen_id == id_ for step in steps) / 2000 for id_ in (4, 5, 6)]
    assert shares == pytest.approx([0.5, 0.3, 0.2], abs=0.04)
    assert {step.chosen_id: step.log_probability for step in steps}[5] == pytest.approx(math.log(0.3))
