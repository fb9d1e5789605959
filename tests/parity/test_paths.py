"""All ways to compute the same thing agree: fused and explicit, watched and plain, modules and plain functions."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import model_core.model.attention as attention
from model_core.building import make_model
from model_core.config import ModelConfig, Norm, Positions
from model_core.interventions import Record, make_call, record_attention
from model_core.model.attention import MultiHeadAttention, attend
from model_core.model.cache import KeyValueCache
from model_core.model.masks import causal_mask, decoder_mask, padding_mask
from model_core.model.points import Address, Call
from model_core.search.lifted import LiftedDecoder
from model_core.trace import Site
from tests.small_models import small_model

SOURCE = torch.tensor([[1, 5, 6, 7, 8, 9, 2], [1, 4, 2, 0, 0, 0, 0], [1, 7, 7, 10, 2, 0, 0]])
DECODER_INPUT = torch.tensor([[1, 5, 6, 0, 0], [1, 9, 8, 7, 6], [1, 0, 0, 0, 0]])


@pytest.mark.parametrize("queries", [1, 5])
@pytest.mark.parametrize("masked", [False, True])
def test_fused_and_explicit_attention(queries: int, masked: bool) -> None:
    generator = torch.Generator().manual_seed(1)
    query, key, value = (torch.randn(3, 2, length, 11, generator=generator) for length in (queries, 7, 7))
    allowed = padding_mask(SOURCE, 0) if masked else None
    explicit, fused = (attend(query, key, value, allowed, fused=fused) for fused in (False, True))
    torch.testing.assert_close(explicit, fused)
    torch.testing.assert_close(attend(query, key, value, allowed), explicit)
    assert_watched_is_plain(query, key, value, allowed)


def assert_watched_is_plain(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None) -> None:
    """The path that shows scores, mask and weights gives what the one that shows nothing gives."""
    address, config = Address("decoder", 0, "cross_attention"), ModelConfig(13, 13, 1, 22, 7, 2)
    module = MultiHeadAttention(config, address).eval()
    plain = module.attend(query, key, value, allowed, Call())
    for names in (("scores",), ("mask",), ("weights",), ("scores", "mask", "weights")):
        call = make_call(config, Record(*(f"{address}.{name}" for name in names)))
        torch.testing.assert_close(module.attend(query, key, value, allowed, call), plain)
    torch.testing.assert_close(plain, attend(query, key, value, allowed))


def test_fused_and_explicit_attention_have_the_same_gradients() -> None:
    gradients = []
    for fused in (False, True):
        generator = torch.Generator().manual_seed(1)
        inputs = [torch.randn(3, 2, length, 11, generator=generator).requires_grad_() for length in (5, 5, 5)]
        attend(*inputs, causal_mask(5), fused=fused).square().sum().backward()  # type: ignore[arg-type]
        gradients.append([one.grad for one in inputs])
    for explicit, fused in zip(*gradients, strict=True):
        torch.testing.assert_close(explicit, fused, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_model_on_the_fused_path(norm: Norm, monkeypatch: pytest.MonkeyPatch) -> None:
    model = small_model(norm=norm)
    explicit = model(SOURCE, DECODER_INPUT)
    calls = []

    def fused(*arguments: Tensor, **options: float) -> Tensor:
        calls.append(options)
        return attend(*arguments, **{**options, "fused": True})  # type: ignore[arg-type]

    monkeypatch.setattr(attention, "attend", fused)
    kept = DECODER_INPUT.ne(0)
    torch.testing.assert_close(model(SOURCE, DECODER_INPUT)[kept], explicit[kept], atol=1e-5, rtol=1e-4)
    assert len(calls) == 6


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_recording_does_not_change_what_is_computed(norm: Norm) -> None:
    model = small_model(norm=norm)
    plain = model(SOURCE, DECODER_INPUT)
    recorded = model(SOURCE, DECODER_INPUT, call=make_call(model.config, Record("*")))
    torch.testing.assert_close(plain, recorded, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("padded", [False, True])
def test_replayed_weights_are_those_of_the_steps(norm: Norm, padded: bool) -> None:
    """One recorded pass over a finished target shows what a step-by-step search with a cache has used."""
    model = small_model(norm=norm, layers=3)
    source = SOURCE if padded else SOURCE[:1]
    target = DECODER_INPUT[1:2].expand(len(source), -1)
    allowed = padding_mask(source, 0) if padded else None
    whole, steps = record_attention(), record_attention()
    memory = model.encode(source, allowed)
    model.decode(target, memory, allowed, decoder_mask(target, 0), make_call(model.config, whole))
    cache = KeyValueCache.empty(3)
    for position in range(5):
        call = make_call(model.config, steps, cache)
        model.decode(target[:, position : position + 1], memory, allowed, call=call)
        keys_of: dict[Site, int] = {"decoder_self": position + 1, "cross": source.shape[1]}
        for site, keys in keys_of.items():
            replayed = whole.weights(site)[..., position : position + 1, :keys]
            torch.testing.assert_close(steps.weights(site), replayed, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
@pytest.mark.parametrize("padded", [False, True])
def test_a_step_without_modules_is_a_step_with_them(norm: Norm, positions: Positions, padded: bool) -> None:
    model = small_model(norm=norm, layers=3, positions=positions)
    source = SOURCE if padded else SOURCE[:1]
    allowed = padding_mask(source, 0) if padded else None
    with torch.inference_mode():
        memory = model.encode(source, allowed)
        caches = [KeyValueCache.empty(3) for _ in range(2)]
        first = torch.ones(len(source), 1, dtype=torch.int64)
        for cache in caches:
            model.decode(first, memory, allowed, call=Call(cache=cache))
        step = LiftedDecoder(model)
        for ids in ([5, 6, 7], [9, 9, 4], [2, 5, 6]):
            newest = torch.tensor(ids[: len(source)])
            expected = model.decode(newest[:, None], memory, allowed, call=Call(cache=caches[0]))[:, 0]
            torch.testing.assert_close(step(newest, caches[1], allowed), expected, atol=1e-5, rtol=1e-5)
        for one, other in zip(caches[0].layers, caches[1].layers, strict=True):
            torch.testing.assert_close(one.key, other.key, atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(one.value, other.value, atol=1e-5, rtol=1e-5)


def test_a_step_reads_the_weights_as_they_are() -> None:
    """Weights that are changed in place, as an optimizer or a loaded checkpoint does, are seen by a new step."""
    model = small_model()
    with torch.no_grad():
        memory = model.encode(SOURCE[:1])
        results = []
        for _ in range(2):
            cache = KeyValueCache.empty(2)
            model.decode(torch.tensor([[1]]), memory, call=Call(cache=cache))
            results.append(LiftedDecoder(model)(torch.tensor([5]), cache))
            model.decoder.layers[1].feed_forward.outer.bias[4] += 1.0  # type: ignore[union-attr, index]
    assert float((results[0] - results[1]).abs().max()) > 1e-3


def test_float32_is_float64_but_for_rounding() -> None:
    """The float32 paths differ from each other by rounding only: float64 says how much rounding there is."""
    model = make_model(ModelConfig(101, 101, 3, 64, 96, 4), seed=1).eval()
    with torch.no_grad():
        single = model(SOURCE, DECODER_INPUT)
        double = model.double().states(SOURCE, DECODER_INPUT)
        exact = model.generator.logits(double).log_softmax(dim=-1)
    torch.testing.assert_close(single.double(), exact, atol=1e-5, rtol=1e-5)
