"""Linear, feed-forward, residual and the two kinds of layer: their formulas, and what reaches what."""

from typing import TypeVar

import pytest
import torch
from torch import nn

from model_core.building import initialise
from model_core.config import ModelConfig, Norm
from model_core.model.cache import KeyValueCache
from model_core.model.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from model_core.model.masks import causal_mask
from model_core.model.points import Call
from model_core.tensors.linear import Linear
from tests.small_models import randomise

M = TypeVar("M", bound=nn.Module)

# B 2, T 5, S 7, D 12, F 11, H 3


def config(norm: Norm = "pre", dropout: float = 0.0) -> ModelConfig:
    return ModelConfig(13, 13, 2, 12, 11, 3, dropout=dropout, norm=norm)


def initialised(module: M, seed: int = 1) -> M:
    """The module as it stands in a new model."""
    initialise(module, generator=torch.Generator().manual_seed(seed))
    return module


def states(length: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(2, length, 12, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 5, 3), (2, 1, 7, 3)])
def test_a_linear_map_is_xw_plus_b_whatever_stands_before_the_last_axis(shape: tuple[int, ...]) -> None:
    linear = Linear(3, 11)
    randomise(linear, 1)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(linear(x), x @ linear.weight + linear.bias)
    assert linear.weight.shape == (3, 11)


def test_a_linear_map_takes_what_lies_transposed_in_memory() -> None:
    linear = initialised(Linear(3, 11))
    x = torch.randn(3, 5, 2, generator=torch.Generator().manual_seed(2)).permute(2, 1, 0)
    torch.testing.assert_close(linear(x), x @ linear.weight)


def test_a_new_linear_map_is_xavier_uniform_with_zero_bias() -> None:
    linear = initialised(Linear(300, 500))
    bound = (6 / 800) ** 0.5
    assert 0.98 * bound < float(linear.weight.detach().abs().max()) <= bound
    assert not linear.bias.any()


def test_feed_forward_by_its_formula() -> None:
    module = FeedForward(config())
    randomise(module, 1)
    x = states(5)
    hidden = (x @ module.inner.weight + module.inner.bias).clamp(min=0)
    assert bool((hidden == 0).any())
    torch.testing.assert_close(module(x), hidden @ module.outer.weight + module.outer.bias)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_two_arrangements_of_the_norm(norm: Norm) -> None:
    residual, x = Residual(config(norm)), states(5)
    randomise(residual, 1)

    def normalised(y: torch.Tensor) -> torch.Tensor:
        centred = y - y.mean(dim=-1, keepdim=True)
        scaled = centred / (centred.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
        return scaled * residual.norm.weight + residual.norm.bias

    expected = x + normalised(x).sin() if norm == "pre" else normalised(x + x.sin())
    torch.testing.assert_close(residual(x, torch.sin), expected)


def test_dropout_acts_on_the_sublayer_and_never_on_what_goes_past_it() -> None:
    torch.manual_seed(1)
    residual, x = Residual(config("pre", 0.5)).train(), states(5)
    added = residual(x, torch.ones_like) - x
    assert sorted({round(value, 4) for value in added.flatten().tolist()}) == [0.0, 2.0]


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_every_parameter_of_a_layer_learns(norm: Norm) -> None:
    encoder, decoder = initialised(EncoderLayer(config(norm))), initialised(DecoderLayer(config(norm)))
    weights = states(5, seed=3)  # a plain sum would be blind to what comes before a norm
    memory = encoder(states(7), None)
    (decoder(states(5, seed=2), memory, causal_mask(5), None) * weights).sum().backward()
    for layer in (encoder, decoder):
        for name, parameter in layer.named_parameters():
            assert parameter.grad is not None, name
            # A shift of all keys changes no softmax, so the keys' bias has no gradient but rounding.
            assert name.endswith("key.bias") or float(parameter.grad.abs().max()) > 1e-6, name


def test_an_encoder_layer_keeps_its_masked_positions_to_themselves() -> None:
    layer = initialised(EncoderLayer(config())).eval()
    allowed = torch.tensor([True] * 5 + [False] * 2)
    x = states(7)
    changed = x.clone()
    changed[:, 5:] += 3.0
    torch.testing.assert_close(layer(x, allowed)[:, :5], layer(changed, allowed)[:, :5])
    torch.testing.assert_close(layer(x, allowed)[:, :5], layer(x[:, :5], None))


def test_a_decoder_layer_reads_the_past_and_the_memory_it_may() -> None:
    layer = initialised(DecoderLayer(config())).eval()
    x, memory, allowed = states(5), states(7, seed=2), torch.tensor([True] * 4 + [False] * 3)
    before = layer(x, memory, causal_mask(5), allowed)
    later, elsewhere, there = x.clone(), memory.clone(), memory.clone()
    later[:, 3] += 1.0
    elsewhere[:, 4:] += 1.0
    there[:, 3] += 1.0
    torch.testing.assert_close(layer(later, memory, causal_mask(5), allowed)[:, :3], before[:, :3])
    torch.testing.assert_close(layer(x, elsewhere, causal_mask(5), allowed), before)
    assert bool(((layer(x, there, causal_mask(5), allowed) - before).abs().amax(dim=-1) > 1e-4).all())


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_decoder_layer_with_a_cache_computes_only_what_is_new(norm: Norm) -> None:
    layer = initialised(DecoderLayer(config(norm), layer=1)).eval()
    x, memory = states(5), states(7, seed=2)
    whole = layer(x, memory, causal_mask(5), None)
    cache = KeyValueCache.empty(2)
    first = layer(x[:, :3], memory, causal_mask(3), None, Call(cache=cache))
    nothing = torch.full_like(memory, torch.nan)
    rest = [layer(x[:, at : at + 1], nothing, None, None, Call(cache=cache)) for at in (3, 4)]
    torch.testing.assert_close(torch.cat((first, *rest), dim=1), whole)
    other, own = cache.layers
    assert own.key is not None and own.key.shape == (2, 3, 5, 4)
    assert own.memory_key is not None and own.memory_key.shape == (2, 3, 7, 4)
    assert other.key is None and other.memory_key is None, "a layer uses its own place in the cache"
