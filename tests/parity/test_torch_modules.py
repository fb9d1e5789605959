"""Our attention, encoder and decoder against PyTorch's own modules with the same weights.

PyTorch stores W as `[d_out, d_in]` and keeps the three projections of attention in one matrix; its boolean masks say
who may NOT attend.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from model_core.building import make_model
from model_core.config import ModelConfig, Norm
from model_core.interventions import Record, make_call, record_attention
from model_core.model.attention import MultiHeadAttention
from model_core.model.layers import DecoderLayer, EncoderLayer
from model_core.model.masks import causal_mask
from model_core.model.points import Address
from model_core.model.transformer import Transformer
from model_core.tensors.linear import Linear
from tests.small_models import randomise

# B 3, S 7, T 5, D 12, F 11, H 3
B, S, T, D, F, H = 3, 7, 5, 12, 11, 3
SOURCE_LENGTHS, TARGET_LENGTHS = torch.tensor([7, 3, 5]), torch.tensor([5, 4, 1])
SOURCE_KEPT = torch.arange(S) < SOURCE_LENGTHS[:, None]  # [B, S]
TARGET_KEPT = torch.arange(T) < TARGET_LENGTHS[:, None]  # [B, T]
SOURCE_ALLOWED = SOURCE_KEPT[:, None, None, :]
TARGET_ALLOWED = TARGET_KEPT[:, None, None, :] & causal_mask(T)
NORMS: list[Norm] = ["pre", "post"]


def states(length: int, seed: int) -> Tensor:
    return torch.randn(B, length, D, generator=torch.Generator().manual_seed(seed))


def our_model(norm: Norm, layers: int = 3) -> Transformer:
    model = make_model(ModelConfig(13, 13, layers, D, F, H, dropout=0.0, norm=norm), seed=1).eval()
    randomise(model, 1)
    return model


@torch.no_grad()
def copy_linear(ours: Linear, weight: Tensor, bias: Tensor) -> None:
    weight.copy_(ours.weight.T)
    bias.copy_(ours.bias)


@torch.no_grad()
def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    for block, linear in enumerate((ours.query, ours.key, ours.value)):
        rows = slice(block * D, (block + 1) * D)
        copy_linear(linear, theirs.in_proj_weight[rows], theirs.in_proj_bias[rows])
    copy_linear(ours.output, theirs.out_proj.weight, theirs.out_proj.bias)


def their_encoder_layer(ours: EncoderLayer, norm: Norm) -> nn.TransformerEncoderLayer:
    theirs = nn.TransformerEncoderLayer(D, H, F, 0.0, batch_first=True, norm_first=norm == "pre").eval()
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_linear(ours.feed_forward.inner, theirs.linear1.weight, theirs.linear1.bias)
    copy_linear(ours.feed_forward.outer, theirs.linear2.weight, theirs.linear2.bias)
    for residual, their_norm in zip(ours.residuals, (theirs.norm1, theirs.norm2), strict=True):
        their_norm.load_state_dict(residual.norm.state_dict())  # type: ignore[union-attr]
    return theirs


def their_decoder_layer(ours: DecoderLayer, norm: Norm) -> nn.TransformerDecoderLayer:
    theirs = nn.TransformerDecoderLayer(D, H, F, 0.0, batch_first=True, norm_first=norm == "pre").eval()
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    copy_linear(ours.feed_forward.inner, theirs.linear1.weight, theirs.linear1.bias)
    copy_linear(ours.feed_forward.outer, theirs.linear2.weight, theirs.linear2.bias)
    for residual, their_norm in zip(ours.residuals, (theirs.norm1, theirs.norm2, theirs.norm3), strict=True):
        their_norm.load_state_dict(residual.norm.state_dict())  # type: ignore[union-attr]
    return theirs


def assert_close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("masked", ["nothing", "padding", "future", "both"])
def test_multi_head_attention_and_its_weights(masked: str) -> None:
    config, address = ModelConfig(13, 13, 1, D, F, H), Address("decoder", 0, "cross_attention")
    ours, theirs = MultiHeadAttention(config, address).eval(), nn.MultiheadAttention(D, H, batch_first=True)
    randomise(ours, 1)
    copy_attention(ours, theirs)
    queries = keys = states(S, 2)
    if masked in ("nothing", "padding"):
        queries = states(T, 3)
    allowed = None
    if masked != "nothing":
        future, padding = causal_mask(S), SOURCE_ALLOWED
        allowed = {"padding": padding, "future": future, "both": future & padding}[masked]
    record = Record(f"{address}.weights")
    expected, weights = theirs(
        queries,
        keys,
        keys,
        key_padding_mask=~SOURCE_KEPT if masked in ("padding", "both") else None,
        attn_mask=~causal_mask(S) if masked in ("future", "both") else None,
        average_attn_weights=False,
    )
    assert_close(ours(queries, keys, allowed, make_call(config, record)), expected)
    assert_close(record[f"{address}.weights"], weights)
    assert_close(ours(queries, keys, allowed), expected)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("padded", [False, True])
def test_an_encoder_layer(norm: Norm, padded: bool) -> None:
    ours = our_model(norm).encoder.layers[1]
    assert isinstance(ours, EncoderLayer)
    theirs = their_encoder_layer(ours, norm)
    x = states(S, 2)
    expected = theirs(x, src_key_padding_mask=~SOURCE_KEPT if padded else None)
    kept = SOURCE_KEPT if padded else torch.ones(B, S, dtype=torch.bool)
    assert_close(ours(x, SOURCE_ALLOWED if padded else None)[kept], expected[kept])


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("padded", [False, True])
def test_a_decoder_layer(norm: Norm, padded: bool) -> None:
    ours = our_model(norm).decoder.layers[1]
    assert isinstance(ours, DecoderLayer)
    theirs = their_decoder_layer(ours, norm)
    x, memory = states(T, 2), states(S, 3)
    expected = theirs(
        x,
        memory,
        tgt_mask=~causal_mask(T),
        tgt_key_padding_mask=~TARGET_KEPT if padded else None,
        memory_key_padding_mask=~SOURCE_KEPT if padded else None,
    )
    kept = TARGET_KEPT if padded else torch.ones(B, T, dtype=torch.bool)
    found = ours(x, memory, TARGET_ALLOWED if padded else causal_mask(T), SOURCE_ALLOWED if padded else None)
    assert_close(found[kept], expected[kept])


@pytest.mark.parametrize("norm", NORMS)
def test_whole_stacks_with_their_final_norms(norm: Norm) -> None:
    model = our_model(norm)
    memory, found = states(S, 2), states(T, 3)
    encoded = model.encoder(memory, SOURCE_ALLOWED)
    decoded = model.decoder(found, encoded, TARGET_ALLOWED, SOURCE_ALLOWED)
    for layer in model.encoder.layers:
        assert isinstance(layer, EncoderLayer)
        memory = their_encoder_layer(layer, norm)(memory, src_key_padding_mask=~SOURCE_KEPT)
    memory = their_final_norm(model.encoder.norm)(memory)
    for layer in model.decoder.layers:
        assert isinstance(layer, DecoderLayer)
        found = their_decoder_layer(layer, norm)(
            found, memory, ~causal_mask(T), None, ~TARGET_KEPT, memory_key_padding_mask=~SOURCE_KEPT
        )
    assert_close(encoded[SOURCE_KEPT], memory[SOURCE_KEPT])
    assert_close(decoded[TARGET_KEPT], their_final_norm(model.decoder.norm)(found)[TARGET_KEPT])


def their_final_norm(ours: nn.Module) -> nn.Module:
    if isinstance(ours, nn.Identity):
        return ours
    theirs = nn.LayerNorm(D)
    theirs.load_state_dict(ours.state_dict())
    return theirs


@pytest.mark.parametrize("norm", NORMS)
def test_gradients_of_a_decoder_layer(norm: Norm) -> None:
    ours = our_model(norm).decoder.layers[0]
    assert isinstance(ours, DecoderLayer)
    theirs = their_decoder_layer(ours, norm)
    pull = states(T, 4)
    for layer_output in (
        ours(states(T, 2), states(S, 3), causal_mask(T), None),
        theirs(states(T, 2), states(S, 3), tgt_mask=~causal_mask(T)),
    ):
        (layer_output * pull).sum().backward()
    pairs = [
        (ours.self_attention.value.weight.grad, theirs.self_attn.in_proj_weight.grad[2 * D :].T),  # type: ignore[index]
        (ours.cross_attention.query.weight.grad, theirs.multihead_attn.in_proj_weight.grad[:D].T),  # type: ignore[index]
        (ours.feed_forward.inner.weight.grad, theirs.linear1.weight.grad.T),  # type: ignore[union-attr]
        (ours.residuals[0].norm.bias.grad, theirs.norm1.bias.grad),  # type: ignore[union-attr]
    ]
    for one, other in pairs:
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-3)


def test_recorded_weights_are_those_of_their_layers() -> None:
    model, record = our_model("post"), record_attention(["encoder_self"])
    model.encoder(states(S, 2), SOURCE_ALLOWED, make_call(model.config, record))
    x = states(S, 2)
    for index, layer in enumerate(model.encoder.layers):
        assert isinstance(layer, EncoderLayer)
        theirs = their_encoder_layer(layer, "post")
        _, weights = theirs.self_attn(x, x, x, key_padding_mask=~SOURCE_KEPT, average_attn_weights=False)
        assert_close(
            record.weights("encoder_self")[index][SOURCE_KEPT[:, None, :].expand(B, H, S)],
            weights[SOURCE_KEPT[:, None, :].expand(B, H, S)],
        )
        x = theirs(x, src_key_padding_mask=~SOURCE_KEPT)
