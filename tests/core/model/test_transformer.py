"""The whole model: its parts, its size, what is shared and what is recorded."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from model_core.building import make_model
from model_core.config import ModelConfig, Norm, Positions, Sharing
from model_core.interventions import Record, make_call, record_attention
from model_core.model.cache import KeyValueCache
from model_core.model.layers import DecoderLayer, EncoderLayer
from model_core.model.masks import causal_mask, decoder_mask, padding_mask
from model_core.model.points import Call
from model_core.model.positions import sinusoidal_encoding
from model_core.model.transformer import Generator, TokenEmbedding, Transformer
from tests.small_models import randomise, small_model

# B 3, S 7, T 5, D 12, H 3, V 11 and 13
SOURCE = torch.tensor([[1, 5, 6, 7, 8, 9, 2], [1, 4, 2, 0, 0, 0, 0], [1, 7, 7, 10, 2, 0, 0]])
DECODER_INPUT = torch.tensor([[1, 5, 6, 0, 0], [1, 9, 8, 7, 6], [1, 0, 0, 0, 0]])


def unequal(norm: Norm = "pre", sharing: Sharing = "none") -> ModelConfig:
    return ModelConfig(11, 13, 2, 12, 7, 3, norm=norm, sharing=sharing)


def expected_count(config: ModelConfig) -> int:
    """Attention 4 (D^2 + D), feed-forward 2 D F + F + D, norm 2 D, in pre-norm a final norm on each stack."""
    d, f, n = config.d_model, config.d_ff, config.layers
    attention, feed_forward, norm = 4 * (d * d + d), 2 * d * f + f + d, 2 * d
    encoder = n * (attention + feed_forward + 2 * norm)
    decoder = n * (2 * attention + feed_forward + 3 * norm)
    final = 2 * norm if config.norm == "pre" else 0
    tables = {
        "none": config.source_vocabulary + 2 * config.target_vocabulary,
        "output": config.source_vocabulary + config.target_vocabulary,
        "all": config.target_vocabulary,
    }[config.sharing]
    return encoder + decoder + final + tables * d + config.target_vocabulary


@pytest.mark.parametrize(
    "config",
    [
        ModelConfig(),
        ModelConfig(norm="post"),
        unequal(),
        unequal("post", "output"),
        ModelConfig(32000, 32000, 6, 512, 2048, 8, norm="post", sharing="none"),
        ModelConfig(32000, 32000, 6, 512, 2048, 8, norm="post", sharing="all"),
    ],
    ids=["default", "default-post", "small", "small-post", "base-unshared", "base-shared"],
)
def test_the_number_of_parameters_by_formula(config: ModelConfig) -> None:
    with torch.device("meta"):  # shapes without memory
        assert make_model(config).parameter_count() == expected_count(config)


def test_the_papers_base_model_builds_and_runs() -> None:
    model = make_model(ModelConfig(32000, 32000, 6, 512, 2048, 8, norm="post", sharing="output")).eval()
    assert model.parameter_count() == 44_138_496 + 2 * 32000 * 512 + 32000
    with torch.inference_mode():
        assert model(SOURCE[:1], DECODER_INPUT[:1, :3]).shape == (1, 3, 32000)


def test_the_default_model_makes_6_by_256_of_how_are_you() -> None:
    """\"How are you?\" of four pieces is six tokens with <s> and </s>."""
    with torch.inference_mode():
        model = make_model(ModelConfig(), seed=1).eval()
        source = torch.tensor([[1, 100, 200, 300, 400, 2]])
        assert model.embed(model.source_embedding, source).shape == (1, 6, 256)
        assert model.encode(source).shape == (1, 6, 256)


def test_no_two_layers_share_parameters() -> None:
    layers = [
        layer
        for layer in make_model(ModelConfig(11, 11, 5, 12, 7, 3)).modules()
        if isinstance(layer, EncoderLayer | DecoderLayer)
    ]
    assert len(layers) == 10
    storages = [parameter.untyped_storage().data_ptr() for layer in layers for parameter in layer.parameters()]
    assert len(storages) == len(set(storages)) == 5 * 16 + 5 * 26
    matrices = [parameter for layer in layers for parameter in layer.parameters() if parameter.dim() == 2]
    for index, one in enumerate(matrices):
        assert not any(one.shape == other.shape and torch.equal(one, other) for other in matrices[index + 1 :])


@pytest.mark.parametrize(
    ("sharing", "source_is_target", "target_is_output"),
    [("none", False, False), ("output", False, True), ("all", True, True)],
)
def test_what_is_shared(sharing: Sharing, source_is_target: bool, target_is_output: bool) -> None:
    model = make_model(ModelConfig(11, 11, 1, 12, 7, 3, sharing=sharing))
    source, target = model.source_embedding.weight, model.target_embedding.weight
    assert (source is target) == source_is_target
    assert (target is model.generator.weight) == target_is_output


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_final_norm_belongs_to_pre_norm_only(norm: Norm) -> None:
    model = make_model(unequal(norm))
    assert [isinstance(stack.norm, nn.LayerNorm) for stack in (model.encoder, model.decoder)] == [norm == "pre"] * 2


def test_a_seed_makes_the_weights_repeatable_and_leaves_the_global_generator_alone() -> None:
    state = torch.random.get_rng_state()
    first, second, other = (make_model(unequal(), seed=seed).state_dict() for seed in (3, 3, 5))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["generator.weight"], other["generator.weight"])


def test_embeddings_are_rows_times_the_square_root_of_d_model() -> None:
    embedding = TokenEmbedding(11, 16)
    randomise(embedding, 1)
    torch.testing.assert_close(embedding(SOURCE), 4.0 * embedding.weight[SOURCE])


def test_tokens_are_embedded_with_their_positions_unless_these_are_switched_off() -> None:
    model = small_model()
    embedded = model.target_embedding(DECODER_INPUT)
    positioned = model.embed(model.target_embedding, DECODER_INPUT, 3)
    torch.testing.assert_close(positioned, embedded + sinusoidal_encoding(8, 12)[3:])
    without = small_model(positions="none")
    expected = without.target_embedding(DECODER_INPUT)
    torch.testing.assert_close(without.embed(without.target_embedding, DECODER_INPUT), expected)


def test_without_positions_the_encoder_cannot_tell_the_order() -> None:
    order = [0, 3, 1, 2, 5, 4, 6]
    choices: tuple[Positions, ...] = ("sinusoidal", "none")
    for positions in choices:
        model = make_model(ModelConfig(11, 11, 2, 12, 7, 3, positions=positions), seed=1).eval()
        memory, shuffled = model.encode(SOURCE[:1]), model.encode(SOURCE[:1, order])
        assert torch.allclose(memory[:, order], shuffled, atol=1e-5) == (positions == "none")


def test_the_generator_gives_log_probabilities_in_float32() -> None:
    generator = Generator(12, 13)
    randomise(generator, 1)
    states = torch.randn(3, 5, 12, generator=torch.Generator().manual_seed(2))
    expected = (states @ generator.weight.T + generator.bias).softmax(dim=-1).log()
    torch.testing.assert_close(generator(states), expected)
    assert generator.bfloat16()(states.bfloat16()).dtype == torch.float32


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_forward_pass_is_its_parts_in_order(norm: Norm) -> None:
    model = make_model(unequal(norm), seed=1).eval()
    randomise(model, 1)
    allowed = padding_mask(SOURCE, 0)
    memory = model.source_embedding(SOURCE) + sinusoidal_encoding(7, 12)
    for layer in model.encoder.layers:
        memory = layer(memory, allowed)
    memory = model.encoder.norm(memory)
    states = model.target_embedding(DECODER_INPUT) + sinusoidal_encoding(5, 12)
    for layer in model.decoder.layers:
        states = layer(states, memory, decoder_mask(DECODER_INPUT, 0), allowed)
    states = model.decoder.norm(states)
    expected = F.linear(states, model.generator.weight, model.generator.bias).log_softmax(dim=-1)
    torch.testing.assert_close(model.states(SOURCE, DECODER_INPUT), states)
    torch.testing.assert_close(model(SOURCE, DECODER_INPUT), expected)
    torch.testing.assert_close(expected.exp().sum(dim=-1), torch.ones(3, 5))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_padding_changes_nothing(norm: Norm) -> None:
    model = small_model(norm=norm)
    together = model(SOURCE, DECODER_INPUT)
    for row, (source_length, target_length) in enumerate([(7, 3), (3, 5), (5, 1)]):
        alone = model(SOURCE[row : row + 1, :source_length], DECODER_INPUT[row : row + 1, :target_length])
        torch.testing.assert_close(together[row, :target_length], alone[0], atol=1e-5, rtol=1e-5)


def test_later_target_tokens_change_nothing_before_them() -> None:
    model, changed = small_model(), DECODER_INPUT.clone()
    changed[1, 3] = 4
    before, after = model(SOURCE, DECODER_INPUT), model(SOURCE, changed)
    torch.testing.assert_close(before[1, :3], after[1, :3])
    assert float((before[1, 3:] - after[1, 3:]).detach().abs().max()) > 1e-3


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_record_has_the_input_of_each_layer_and_the_final_states(norm: Norm) -> None:
    model = small_model(norm=norm, layers=3)
    record = Record("*.self_attention.residual_before", "*.final_norm")
    call = make_call(model.config, record)
    memory = model.encode(SOURCE[:1], call=call)
    states = model.decode(DECODER_INPUT[1:2], memory, target_mask=causal_mask(5), call=call)
    encoder_states = [*record.layers("encoder", "self_attention", "residual_before"), record["encoder.final_norm"]]
    decoder_states = [*record.layers("decoder", "self_attention", "residual_before"), record["decoder.final_norm"]]
    assert [len(encoder_states), len(decoder_states)] == [4, 4]
    torch.testing.assert_close(encoder_states[0], model.embed(model.source_embedding, SOURCE[:1]))
    torch.testing.assert_close(encoder_states[-1], memory)
    torch.testing.assert_close(decoder_states[0], model.embed(model.target_embedding, DECODER_INPUT[1:2]))
    torch.testing.assert_close(decoder_states[-1], states)
    torch.testing.assert_close(encoder_states[1], model.encoder.layers[0](encoder_states[0], None))
    second = model.decoder.layers[0](decoder_states[0], memory, causal_mask(5), None)
    torch.testing.assert_close(decoder_states[1], second)


def test_every_attention_is_seen_once() -> None:
    model, record = small_model(layers=3), record_attention()
    seen: list[str] = []

    class Points(Record):
        def change(self, point: str, value: torch.Tensor, start: int) -> torch.Tensor:
            seen.append(point)
            return value

    model(SOURCE, DECODER_INPUT, call=make_call(model.config, [record, Points("*.weights")]))
    assert len(seen) == len(set(seen)) == 9
    assert record.weights("encoder_self").shape == (3, 3, 3, 7, 7)
    assert record.weights("decoder_self").shape == (3, 3, 3, 5, 5)
    assert record.weights("cross").shape == (3, 3, 3, 5, 7)
    for site in ("encoder_self", "decoder_self", "cross"):
        sums = record.weights(site).sum(dim=-1)
        torch.testing.assert_close(sums, torch.ones_like(sums))
    assert not record.weights("cross")[:, 1, :, :, 3:].any(), "the second source is padding from its third token on"


def test_several_new_positions_at_once_go_through_the_cache() -> None:
    model, cache = small_model(), KeyValueCache.empty(2)
    memory, target = model.encode(SOURCE[:1]), DECODER_INPUT[1:2]
    whole = model.decode(target, memory, target_mask=causal_mask(5))
    first = model.decode(target[:, :2], memory, target_mask=causal_mask(2), call=Call(cache=cache))
    rest = model.decode(target[:, 2:], memory, target_mask=causal_mask(5)[2:], call=Call(cache=cache))
    torch.testing.assert_close(torch.cat((first, rest), dim=1), whole)


def test_every_parameter_learns() -> None:
    model = make_model(unequal(), seed=1)
    allowed = DECODER_INPUT.ne(0)
    loss = -model(SOURCE, DECODER_INPUT)[allowed][:, 5].sum()
    loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        # A shift of all keys changes no softmax, so the keys' bias has no gradient but rounding.
        assert name.endswith("key.bias") or float(parameter.grad.abs().max()) > 1e-7, name


def test_a_new_models_first_guess_is_about_even() -> None:
    with torch.inference_mode():
        model: Transformer = make_model(ModelConfig(101, 101, 2, 64, 64, 4), seed=1).eval()
        loss = -float(model(SOURCE, DECODER_INPUT)[..., 5].mean())
    assert loss == pytest.approx(math.log(101), abs=1.0)
