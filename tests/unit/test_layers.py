"""Linear, feed-forward, residual and the two kinds of layer: their formulas, and what reaches what."""

import pytest
import torch

from model_core.config import ModelConfig, Norm
from model_core.model.cache import LayerCache
from model_core.model.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from model_core.model.linear import Linear
from model_core.model.masks import causal_mask
from tests.small_models import randomise

# B 2, T 5, S 7, D 12, F 11, H 3


def config(norm: Norm = "pre", dropout: float = 0.0) -> ModelConfig:
    return ModelConfig(13, 13, 2, 12, 11, 3, dropout=dropout, norm=norm)


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
    linear = Linear(3, 11)
    x = torch.randn(3, 5, 2, generator=torch.Generator().manual_seed(2)).permute(2, 1, 0)
    torch.testing.assert_close(linear(x), x @ linear.weight)


def test_a_new_linear_map_is_xavier_uniform_with_zero_bias() -> None:
    linear = Linear(300, 500)
    bound = (6 / 800) ** 0.5
    assert 0.98 * bound < float(linear.weight.detach().abs().max()) <= bound
    assert not linear.bias.any()


def test_feed_forward_by_its_formula() -> None:
    module = FeedForward(12, 11)
    randomise(module, 1)
    x = states(5)
    hidden = (x @ module.inner.weight + module.inner.bias).clamp(min=0)
    assert bool((hidden == 0).any())
    torch.testing.assert_close(module(x), hidden @ module.outer.weight + module.outer.bias)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_two_arrangements_of_the_norm(norm: Norm) -> None:
    residual, x = Residual(12, 0.0, norm), states(5)
    randomise(residual, 1)

    def normalised(y: torch.Tensor) -> torch.Tensor:
        centred = y - y.mean(dim=-1, keepdim=True)
        scaled = centred / (centred.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
        return scaled * residual.norm.weight + residual.norm.bias

    expected = x + normalised(x).sin() if norm == "pre" else normalised(x + x.sin())
    torch.testing.assert_close(residual(x, torch.sin), expected)


def test_dropout_acts_on_the_sublayer_and_never_on_what_goes_past_it() -> None:
    torch.manual_seed(1)
    residual, x = Residual(12, 0.5, "pre").train(), states(5)
    added = residual(x, torch.ones_like) - x
    assert sorted({round(value, 4) for value in added.flatten().tolist()}) == [0.0, 2.0]


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_every_parameter_of_a_layer_learns(norm: Norm) -> None:
    encoder, decoder = EncoderLayer(config(norm)), DecoderLayer(config(norm))
    weights = states(5, seed=3)  # a plain sum would be blind to what comes before a norm
    memory = encoder(states(7), None)
    (decoder(states(5, seed=2), memory, causal_mask(5), None) * weights).sum().backward()
    for layer in (encoder, decoder):
        for name, parameter in layer.named_parameters():
            assert parameter.grad is not None, name
            # A shift of all keys changes no softmax, so the keys' bias has no gradient but rounding.
            assert name.endswith("key.bias") or float(parameter.grad.abs().max()) > 1e-6, name


def test_an_encoder_layer_keeps_its_masked_positions_to_themselves() -> None:
    layer = EncoderLayer(config()).eval()
    allowed = torch.tensor([True] * 5 + [False] * 2)
    x = states(7)
    changed = x.clone()
    changed[:, 5:] += 3.0
    torch.testing.assert_close(layer(x, allowed)[:, :5], layer(changed, allowed)[:, :5])
    torch.testing.assert_close(layer(x, allowed)[:, :5], layer(x[:, :5], None))


def test_a_decoder_layer_reads_the_past_and_the_memory_it_may() -> None:
    layer = DecoderLayer(config()).eval()
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
    layer = DecoderLayer(config(norm)).eval()
    x, memory = states(5), states(7, seed=2)
    whole = layer(x, memory, causal_mask(5), None)
    cache = LayerCache()
    first = layer(x[:, :3], memory, causal_mask(3), None, cache=cache)
    rest = [layer(x[:, at : at + 1], torch.full_like(memory, torch.nan), None, None, cache=cache) for at in (3, 4)]
    torch.testing.assert_close(torch.cat((first, *rest), dim=1), whole)
    assert cache.key is not None and cache.key.shape == (2, 3, 5, 4)
    assert cache.memory_key is not None and cache.memory_key.shape == (2, 3, 7, 4)
