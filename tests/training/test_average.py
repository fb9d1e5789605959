"""The running average of the weights."""

import pytest
import torch

from model_core.building import make_model
from model_core.training.average import WARMUP, RunningAverage
from tests.training.small_task import SHAPE, assert_same, weights_of


def test_the_average_follows_its_formula() -> None:
    model = make_model(SHAPE, seed=3)
    average, wanted = RunningAverage(model), weights_of(model)
    for step in range(40):
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.1 * (step % 3 - 0.5)
        average.update(model, step, 0.7)
        decay = min(0.7, (step + 1) / (step + WARMUP))
        wanted = {name: decay * wanted[name] + (1 - decay) * now for name, now in weights_of(model).items()}
    for name in wanted:
        torch.testing.assert_close(average.weights[name], wanted[name], atol=1e-5, rtol=0)


def test_an_average_without_decay_is_the_weights() -> None:
    model = make_model(SHAPE, seed=3)
    average = RunningAverage(model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 1.0
    average.update(model, 30, 0.0)
    assert_same(average.weights, weights_of(model))


def test_lent_weights_are_given_back_even_after_an_error() -> None:
    model = make_model(SHAPE, seed=3).train()
    average = RunningAverage(make_model(SHAPE, seed=4))
    own = weights_of(model)
    with pytest.raises(RuntimeError, match="inside"), average.lent_to(model) as lent:
        assert lent is model and not model.training
        assert_same(weights_of(model), average.weights)
        raise RuntimeError("inside")
    assert model.training
    assert_same(weights_of(model), own)
