"""The search and the recorded pass say the same of a model, whatever was done to it and whoever changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model_core.building import make_model
from model_core.config import DecodingConfig, ModelConfig
from model_core.interventions import Change, ForcedAlignment, HeadKnockout, Interventions, Record, point_names
from model_core.model.layers import FeedForward
from model_core.model.points import PLAIN, Call
from model_core.model.transformer import Transformer
from model_core.search.decoding import decode
from model_core.search.engine import LiftedEngine, ModuleEngine, can_lift, make_engine
from model_core.search.forced_pass import ForcedPass
from tests.small_models import random_source, randomise, small_model

SOURCE = random_source(7, seed=3)
STRATEGIES = (
    DecodingConfig(strategy="greedy", max_length=9),
    DecodingConfig(strategy="beam", beam_width=3, n_best=3, max_length=9),
    DecodingConfig(strategy="sample", seed=5, max_length=9),
)


def assert_agree(model: Transformer, make: Callable[[], Interventions] = tuple) -> None:
    """Every step of every translation has the log-probability that the recorded pass finds. Interventions are made anew
    for each call, since they remember what they did."""
    for config in STRATEGIES:
        for found in decode(model, [SOURCE], config, interventions=make())[0]:
            forced = ForcedPass(model, SOURCE, make(), keep=True)
            steps = forced.score(found.ids, 0)
            searched = torch.tensor([step.log_probability for step in found.steps])
            replayed = torch.tensor([step.log_probability for step in steps])
            torch.testing.assert_close(searched, replayed, atol=1e-5, rtol=1e-5)


def layer(model: Transformer, index: int) -> Any:
    """A decoder layer, whose parts a test may take apart as it likes."""
    return model.decoder.layers[index]


def encoder_layer(model: Transformer) -> Any:
    return model.encoder.layers[0]


class Doubled(FeedForward):
    def forward(self, states: Tensor, call: Call = PLAIN) -> Tensor:
        return 2.0 * super().forward(states, call)


def swap_activation(model: Transformer) -> None:
    layer(model, 1).feed_forward.activation = nn.GELU()


def swap_subclass(model: Transformer) -> None:
    layer(model, 0).feed_forward.__class__ = Doubled


def hook_layer(model: Transformer) -> None:
    layer(model, 1).register_forward_hook(lambda module, inputs, output: torch.zeros_like(output))


def hook_attention(model: Transformer) -> None:
    layer(model, 0).self_attention.register_forward_hook(lambda module, inputs, output: output * 0.5)
    layer(model, 1).cross_attention.register_forward_hook(lambda module, inputs, output: output * 3.0)


def hook_matrix_before(model: Transformer) -> None:
    layer(model, 0).cross_attention.value.register_forward_pre_hook(lambda module, inputs: (inputs[0] + 1.0,))


def hook_decoder(model: Transformer) -> None:
    model.decoder.register_forward_hook(lambda module, inputs, output: output.roll(1, -1))


def replace_method(model: Transformer) -> None:
    inner = layer(model, 0).feed_forward.inner
    inner.forward = lambda states: torch.zeros(*states.shape[:-1], inner.weight.shape[1]) + 1.0


def wrap_matrix(model: Transformer) -> None:
    class Shifted(nn.Module):
        def __init__(self, wrapped: nn.Module) -> None:
            super().__init__()
            self.wrapped = wrapped

        def forward(self, states: Tensor) -> Tensor:
            return self.wrapped(states) + 0.7

    layer(model, 1).self_attention.query = Shifted(layer(model, 1).self_attention.query)


def hook_encoder(model: Transformer) -> None:
    encoder_layer(model).register_forward_hook(lambda module, inputs, output: output * 0.3)


@pytest.mark.parametrize(
    "change",
    [
        swap_activation, swap_subclass, hook_layer, hook_attention, hook_matrix_before, hook_decoder, replace_method,
        wrap_matrix, hook_encoder,
    ],
)  # fmt: skip
def test_search_and_trace_agree_on_a_model_that_somebody_changed(change: Callable[[Transformer], None]) -> None:
    model, untouched = small_model(seed=4), small_model(seed=4)
    change(model)
    assert_agree(model)
    changed, before = (
        ForcedPass(one, SOURCE, keep=False).log_probabilities([4, 5, 6, 2]) for one in (model, untouched)
    )
    assert float((changed - before).abs().max()) > 1e-3, "the change has to be one that can be seen"


def test_a_hook_on_all_modules_is_seen_by_the_search() -> None:
    model = small_model(seed=4)
    halve = nn.modules.module.register_module_forward_hook(
        lambda module, inputs, output: output * 0.5 if isinstance(module, FeedForward) else None
    )
    try:
        assert_agree(model)
        assert not can_lift(model)
    finally:
        halve.remove()
    assert can_lift(model)


def test_a_method_that_is_replaced_on_its_class_is_seen_by_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small_model(seed=4)
    monkeypatch.setattr(FeedForward, "forward", lambda self, states, *rest: states * 0.1)
    assert not can_lift(model)
    assert_agree(model)


NORMAL = {point for point in point_names(small_model().config) if not point.endswith(".mask")}


@pytest.mark.parametrize("point", sorted(NORMAL))
def test_search_and_trace_agree_with_a_change_at_every_point(point: str) -> None:
    model, made = small_model(seed=6), []

    def halve() -> Interventions:
        made.append(Change(point, lambda value: value * 0.5))
        return made[-1]

    assert_agree(model, halve)
    assert all(set(one.changes) == {point} and one.largest_change > 0.0 for one in made)


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_search_and_trace_agree_with_a_changed_mask(stack: str) -> None:
    def no_third_key(mask: Tensor) -> Tensor:
        changed = mask.clone()
        changed[..., 2] = False
        return changed

    pattern = {"encoder": "encoder.0.self_attention.mask", "decoder": "decoder.1.cross_attention.mask"}[stack]
    assert_agree(small_model(seed=6), lambda: Change(pattern, no_third_key))


@pytest.mark.parametrize(
    "make",
    [
        lambda: HeadKnockout("cross", 1, 2),
        lambda: HeadKnockout("decoder_self", 0, 0),
        lambda: ForcedAlignment("cross", 0, 2, 3),
        lambda: [HeadKnockout("encoder_self", 1, 1), ForcedAlignment("decoder_self", 1, 3, 1)],
        lambda: Record("*"),
    ],
)
def test_search_and_trace_agree_under_ready_interventions(make: Callable[[], Interventions]) -> None:
    assert_agree(small_model(seed=7), make)


@pytest.mark.parametrize(
    "settings",
    [
        {"activation": "gelu"}, {"activation": "swiglu"}, {"positions": "rotary"}, {"positions": "learned"},
        {"positions": "none"}, {"key_value_heads": 1}, {"scaled": False}, {"residuals": False}, {"norm": "post"},
        {"norm": "post", "final_norm": True}, {"encoder_layers": 1, "decoder_layers": 3},
        {"norm": "pre", "final_norm": False},
    ],
)  # fmt: skip
def test_search_and_trace_agree_in_every_shape(settings: dict[str, object]) -> None:
    model = make_model(ModelConfig(11, 11, 2, 12, 7, 3, **settings), seed=2).eval()  # type: ignore[arg-type]
    randomise(model, 2, 2.0)
    assert_agree(model)


def test_the_fast_engine_is_taken_for_the_plain_model_only() -> None:
    model = small_model()
    assert isinstance(make_engine(model, [SOURCE]), LiftedEngine)
    watched = make_engine(model, [SOURCE], Record("decoder.logits"))
    assert type(watched) is ModuleEngine
    swap_activation(model)
    assert type(make_engine(model, [SOURCE])) is ModuleEngine
