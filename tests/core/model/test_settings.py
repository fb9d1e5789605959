"""Each setting of a model against its formula, written out head by head. Sizes differ: no axis mix-up passes."""

from __future__ import annotations

import math
from typing import TypeVar

import pytest
import torch
from torch import Tensor, nn

from model_core.building import initialise, make_model
from model_core.config import ConfigError, ModelConfig, from_json, to_json
from model_core.model.attention import MultiHeadAttention
from model_core.model.layers import FeedForward, Residual
from model_core.model.points import Address
from model_core.model.positions import LearnedPositions, rotate
from model_core.tensors.linear import Linear

M = TypeVar("M", bound=nn.Module)
# B 2, T 5, S 7, D 12, F 11, H 3, d_head 4
SOURCE = torch.tensor([[1, 5, 6, 7, 8, 9, 2], [1, 7, 7, 10, 2, 0, 0]])
TARGET = torch.tensor([[1, 5, 6, 4, 3], [1, 9, 8, 0, 0]])


def config(**settings: object) -> ModelConfig:
    return ModelConfig(13, 13, 2, 12, 11, 3, dropout=0.0, **settings)  # type: ignore[arg-type]


def states(length: int, seed: int = 1) -> Tensor:
    return torch.randn(2, length, 12, generator=torch.Generator().manual_seed(seed))


def randomised(module: M, seed: int = 1) -> M:
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.5 * torch.randn(parameter.shape, generator=generator))
    return module.eval()


def affine(linear: Linear, x: Tensor, columns: slice = slice(None)) -> Tensor:
    return x @ linear.weight[:, columns] + linear.bias[columns]


def attention_by_hand(module: MultiHeadAttention, x: Tensor, heads: list[tuple[int, int]], scale: float) -> Tensor:
    """`heads` has for each query head the key/value head that it uses."""
    outputs = []
    for query_head, shared in heads:
        own, block = slice(4 * query_head, 4 * query_head + 4), slice(4 * shared, 4 * shared + 4)
        q, k, v = affine(module.query, x, own), affine(module.key, x, block), affine(module.value, x, block)
        outputs.append((q @ k.transpose(1, 2) * scale).softmax(dim=-1) @ v)
    return affine(module.output, torch.cat(outputs, dim=-1))


@pytest.mark.parametrize(("shared", "heads"), [(None, [(0, 0), (1, 1), (2, 2)]), (1, [(0, 0), (1, 0), (2, 0)])])
def test_query_heads_share_key_value_heads(shared: int | None, heads: list[tuple[int, int]]) -> None:
    module = randomised(MultiHeadAttention(config(key_value_heads=shared)))
    x = states(5)
    torch.testing.assert_close(module(x), attention_by_hand(module, x, heads, 0.5))
    assert module.key.weight.shape == (12, 4 * (shared or 3))


def test_grouped_heads_share_in_blocks() -> None:
    module = randomised(MultiHeadAttention(ModelConfig(13, 13, 2, 24, 11, 6, key_value_heads=2)))
    x = torch.randn(2, 5, 24, generator=torch.Generator().manual_seed(3))
    expected = attention_by_hand(module, x, [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 1)], 0.5)
    torch.testing.assert_close(module(x), expected)


def test_scores_without_the_root_of_d_head() -> None:
    module = randomised(MultiHeadAttention(config(scaled=False)))
    x = states(5)
    torch.testing.assert_close(module(x), attention_by_hand(module, x, [(0, 0), (1, 1), (2, 2)], 1.0))


@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
def test_the_activation_of_the_feed_forward(activation: str) -> None:
    module = randomised(FeedForward(config(activation=activation)))
    x = states(5)
    hidden = affine(module.inner, x)
    if activation == "relu":
        hidden = hidden.clamp(min=0)
    elif activation == "gelu":
        hidden = hidden * 0.5 * (1 + torch.erf(hidden / math.sqrt(2)))
    else:
        assert module.gate is not None
        gate = affine(module.gate, x)
        hidden = hidden * gate / (1 + (-gate).exp())
    torch.testing.assert_close(module(x), affine(module.outer, hidden))


def test_dropout_inside_the_feed_forward_acts_on_hidden_units_in_training_only() -> None:
    module = randomised(FeedForward(config(feed_forward_dropout=0.5)))
    assert torch.equal(module(states(5)), module(states(5)))
    module.train()
    torch.manual_seed(1)
    assert not torch.equal(module(states(5)), module(states(5)))


def test_a_sublayer_without_its_residual_connection() -> None:
    x = states(5)
    for norm in ("pre", "post"):
        residual = randomised(Residual(config(residuals=False, norm=norm)))
        expected = residual.norm(x).sin() if norm == "pre" else residual.norm(x.sin())
        torch.testing.assert_close(residual(x, torch.sin), expected)


def test_rotation_turns_pairs_by_their_position() -> None:
    heads = torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(1))
    turned = rotate(heads, start=7, base=100.0)
    for position in range(5):
        for pair in range(2):
            angle = (7 + position) / 100.0 ** (2 * pair / 4)
            even, odd = heads[:, :, position, 2 * pair], heads[:, :, position, 2 * pair + 1]
            torch.testing.assert_close(turned[:, :, position, 2 * pair], even * math.cos(angle) - odd * math.sin(angle))
            torch.testing.assert_close(
                turned[:, :, position, 2 * pair + 1], even * math.sin(angle) + odd * math.cos(angle)
            )


def test_rotary_scores_depend_on_the_distance_only() -> None:
    module = randomised(MultiHeadAttention(config(positions="rotary"), Address("decoder", 1, "self_attention")))
    x = states(5)
    near, far = (module.project_query(x, start) @ module.project_key_value(x, start)[0].mT for start in (0, 31))
    torch.testing.assert_close(near, far, atol=1e-4, rtol=1e-4)
    other = module.project_query(x, 3) @ module.project_key_value(x, 0)[0].mT
    assert float((near - other).detach().abs().max()) > 1e-2


def test_cross_attention_is_never_rotated() -> None:
    rotary = randomised(MultiHeadAttention(config(positions="rotary"), Address("decoder", 0, "cross_attention")))
    plain = randomised(MultiHeadAttention(config(), Address("decoder", 0, "cross_attention")))
    torch.testing.assert_close(rotary(states(5), states(7, 2)), plain(states(5), states(7, 2)))


def test_learned_positions_are_added_rows_and_end_where_the_table_ends() -> None:
    model = randomised(make_model(config(positions="learned", max_positions=9), seed=1))
    ids = torch.tensor([[4, 4, 5]])
    assert isinstance(model.positions, LearnedPositions)
    expected = model.source_embedding.weight[ids] * math.sqrt(12) + model.positions.weight[2:5]
    torch.testing.assert_close(model.embed(model.source_embedding, ids, 2), expected)
    with pytest.raises(ValueError, match="learned 9 positions, too few for 10 tokens"):
        model.embed(model.source_embedding, ids, 7)


@pytest.mark.parametrize(("norm", "final", "has"), [("pre", None, True), ("post", None, False), ("post", True, True)])
def test_a_final_norm_stands_behind_both_stacks(norm: str, final: bool | None, has: bool) -> None:
    model = make_model(config(norm=norm, final_norm=final), seed=1)
    assert [isinstance(stack.norm, nn.LayerNorm) for stack in (model.encoder, model.decoder)] == [has, has]


def test_each_stack_has_its_own_depth() -> None:
    model = make_model(config(encoder_layers=3, decoder_layers=1), seed=1).eval()
    assert (len(model.encoder.layers), len(model.decoder.layers)) == (3, 1)
    assert model(SOURCE, TARGET).shape == (2, 5, 13)


def test_two_vocabularies() -> None:
    model = make_model(ModelConfig(13, 17, 2, 12, 11, 3, sharing="output"), seed=1).eval()
    assert model(SOURCE, TARGET).shape == (2, 5, 17)
    assert model.source_embedding.weight.shape == (13, 12)
    assert model.generator.weight is model.target_embedding.weight


def test_the_initialisations() -> None:
    linear = Linear(300, 500)
    bounds = {"xavier": (6 / 800) ** 0.5, "default": 300**-0.5}
    for name, bound in bounds.items():
        initialise(linear, config(initialisation=name), torch.Generator().manual_seed(1))
        assert 0.98 * bound < float(linear.weight.detach().abs().max()) <= bound
        assert bool(linear.bias.any()) == (name == "default")
    initialise(linear, config(initialisation="normal"), torch.Generator().manual_seed(1))
    assert float(linear.weight.detach().std()) == pytest.approx(0.02, rel=0.02)
    assert not linear.bias.any()


def test_initial_weights_are_those_of_earlier_versions() -> None:
    """Sums over all parameters of two seeds, as the constructors of version 0.1.0 drew them one after another."""
    sums = [
        sum(float(p.detach().double().sum()) for p in make_model(shape, seed=7).parameters())
        for shape in (ModelConfig(100, 100), ModelConfig(100, 90, sharing="output"))
    ]
    assert sums == pytest.approx([8247.523850141213, 8245.4541267651], abs=1e-6)


def test_the_model_of_the_paper_in_the_words_of_the_tutorials() -> None:
    with torch.device("meta"):
        model = make_model(32_000, 32_000)
    assert model.parameter_count() == 93_322_496
    config = model.config
    assert (config.layers, config.d_model, config.d_ff, config.heads, config.dropout) == (6, 512, 2048, 8, 0.1)
    assert (config.norm, config.sharing, config.has_final_norm, config.activation) == ("post", "none", False, "relu")
    by_name = make_model(src_vocab=13, tgt_vocab=17, N=2, d_model=12, d_ff=11, h=3, dropout=0.0, seed=1).eval()
    positional = make_model(13, 17, 2, 12, 11, 3, 0.0, seed=1).eval()
    torch.testing.assert_close(by_name(SOURCE, TARGET), positional(src=SOURCE, tgt=TARGET))


def test_masks_may_be_given_as_the_tutorials_make_them() -> None:
    model = make_model(13, 13, N=2, d_model=12, d_ff=11, h=3, seed=1).eval()
    source_mask = (SOURCE != 0).unsqueeze(-2)
    causal = torch.ones(1, 5, 5, dtype=torch.uint8).tril() == 1
    target_mask = (TARGET != 0).unsqueeze(-2) & causal
    torch.testing.assert_close(model(SOURCE, TARGET, source_mask, target_mask), model(SOURCE, TARGET))
    open_mask = torch.ones(1, 5, 5, dtype=torch.bool)
    assert not torch.allclose(model(SOURCE, TARGET, source_mask, open_mask), model(SOURCE, TARGET))


@pytest.mark.parametrize(
    "settings",
    [
        {"activation": "tanh"}, {"positions": "absolute"}, {"initialisation": "zeros"}, {"key_value_heads": 2},
        {"decoder_layers": 0}, {"feed_forward_dropout": 1.0}, {"positions": True},
    ],
)  # fmt: skip
def test_an_impossible_setting_is_named(settings: dict[str, object]) -> None:
    name = next(iter(settings))
    with pytest.raises(ConfigError, match=name if name != "key_value_heads" else "3 heads can't share 2"):
        config(**settings)


def test_settings_of_earlier_versions_are_read() -> None:
    old = {"source_vocabulary": 13, "target_vocabulary": 13, "layers": 2, "d_model": 12, "heads": 3, "positions": False}
    assert from_json(ModelConfig, old).positions == "none"
    assert from_json(ModelConfig, old | {"positions": True}).positions == "sinusoidal"
    assert from_json(ModelConfig, to_json(config(activation="gelu"))) == config(activation="gelu")
