"""Interventions: watching and changing values, alone and several in a row, and the refusal of what a model lacks."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from model_core.config import DecodingConfig, ModelConfig
from model_core.interventions import (
    Change,
    ForcedAlignment,
    HeadKnockout,
    Intervention,
    Interventions,
    PointError,
    Record,
    listed,
    make_call,
    record_attention,
)
from model_core.model.cache import KeyValueCache
from model_core.model.points import PLAIN, Address, Call
from model_core.search.decoding import decode
from model_core.search.forced_pass import ForcedPass
from tests.small_models import random_source, small_model

# B 2, H 3, Q 5, K 7
WEIGHTS = torch.rand(2, 3, 5, 7, generator=torch.Generator().manual_seed(1))
CONFIG = ModelConfig(11, 11, 5, 12, 7, 3)


def cross(layer: int) -> Address:
    return Address("decoder", layer, "cross_attention")


def passed(interventions: Interventions, address: Address, weights: Tensor = WEIGHTS) -> Tensor:
    """The weights that an attention at this address would go on with."""
    return make_call(CONFIG, interventions).point(address, "weights", weights)


def cached(length: int) -> KeyValueCache:
    """A cache that holds `length` positions."""
    cache = KeyValueCache.empty(1)
    cache.layers[0].append(torch.zeros(1, 3, length, 4), torch.zeros(1, 3, length, 4))
    return cache


def test_where_nobody_acts_a_value_goes_on_as_it_is() -> None:
    for call in (PLAIN, make_call(CONFIG), make_call(CONFIG, HeadKnockout("cross", 1, 2))):
        assert not call.acts(cross(3), "scores", "mask", "weights")
        assert call.point(cross(3), "weights", WEIGHTS) is WEIGHTS


def test_an_intervention_is_given_its_point_the_value_and_the_position_of_its_first_row() -> None:
    seen: list[tuple[str, int]] = []

    class Doubled(Intervention):
        def points(self, config: ModelConfig) -> list[str]:
            return ["decoder.4.self_attention.weights"]

        def change(self, point: str, value: Tensor, start: int) -> Tensor:
            seen.append((point, start))
            return value * 2.0

    address = Address("decoder", 4, "self_attention")
    call = make_call(CONFIG, Doubled(), cached(6))
    assert call.acts(address, "mask", "weights") and not call.acts(address, "mask", "scores")
    assert torch.equal(call.point(address, "weights", WEIGHTS), WEIGHTS * 2.0)
    assert seen == [("decoder.4.self_attention.weights", 6)]


def test_an_intervention_that_changes_the_shape_is_named() -> None:
    message = r"Change returned .* shape \[2, 1, 5, 7\] for decoder\.1\.cross_.*\.weights, which has \[2, 3, 5, 7\]"
    with pytest.raises(ValueError, match=message):
        passed(Change("decoder.1.cross_attention.weights", lambda weights: weights[:, :1]), cross(1))


def test_a_record_keeps_copies_and_returns_what_it_got() -> None:
    record, weights = record_attention(["cross"]), WEIGHTS.clone()
    call = make_call(CONFIG, record)
    assert torch.equal(call.point(cross(1), "weights", weights * 2), WEIGHTS * 2)
    assert call.point(cross(0), "weights", weights) is weights
    weights.zero_()
    assert record.weights("cross").shape == (2, 2, 3, 5, 7)
    assert torch.equal(record.weights("cross"), torch.stack((WEIGHTS, WEIGHTS * 2)))  # layers in their order
    assert torch.equal(record["decoder.1.cross_attention.weights"], WEIGHTS * 2)


def test_layers_are_in_the_order_of_their_numbers() -> None:
    """Layer 10 comes after layer 2, which text alone would not say."""
    record = record_attention(["cross"])
    call = make_call(ModelConfig(11, 11, 12, 12, 7, 3), record)
    for layer in (10, 2, 11, 0):
        call.point(cross(layer), "weights", WEIGHTS + layer)
    assert torch.equal(record.weights("cross"), torch.stack([WEIGHTS + layer for layer in (0, 2, 10, 11)]))


def test_a_record_keeps_float32_without_gradients() -> None:
    record = Record("decoder.0.cross_attention.weights")
    passed(record, cross(0), WEIGHTS.bfloat16().requires_grad_())
    kept = record["decoder.0.cross_attention.weights"]
    assert kept.dtype == torch.float32 and not kept.requires_grad


def test_a_record_keeps_masks_as_masks() -> None:
    record, mask = Record("decoder.0.cross_attention.mask"), WEIGHTS > 0.5
    make_call(CONFIG, record).point(cross(0), "mask", mask)
    assert torch.equal(record["decoder.0.cross_attention.mask"], mask)


def test_a_record_says_what_it_has_not_seen() -> None:
    record, point = record_attention(["encoder_self"]), "encoder.0.self_attention.weights"
    with pytest.raises(KeyError, match=r"Nothing was recorded at 'encoder\.final_norm'; recorded: nothing"):
        record["encoder.final_norm"]
    passed(record, Address("encoder", 0, "self_attention"))
    with pytest.raises(KeyError, match=rf"Nothing was recorded at decoder\.\*\.cross_attention.*; recorded: {point}"):
        record.weights("cross")
    with pytest.raises(KeyError, match=rf"Nothing was recorded at 'decoder\.logits'; recorded: {point}"):
        record["decoder.logits"]


def test_a_knockout_silences_one_head_of_one_layer_and_site() -> None:
    knockout, before = HeadKnockout("cross", 1, 2), WEIGHTS.clone()
    assert passed(knockout, cross(0)) is WEIGHTS
    assert passed(knockout, Address("decoder", 1, "self_attention")) is WEIGHTS
    used = passed(knockout, cross(1))
    assert not used[:, 2].any()
    assert torch.equal(used[:, :2], WEIGHTS[:, :2])
    assert torch.equal(WEIGHTS, before), "the weights given must not be changed in place"
    assert knockout.largest_change == float(WEIGHTS[:, 2].max())


def test_a_forced_alignment_points_one_row_at_one_key() -> None:
    alignment, before = ForcedAlignment("cross", 1, query=3, key=6), WEIGHTS.clone()
    assert passed(alignment, cross(0)) is WEIGHTS
    assert passed(alignment, Address("encoder", 1, "self_attention")) is WEIGHTS
    used = passed(alignment, cross(1))
    assert torch.equal(used[:, :, 3], torch.eye(7)[6].expand(2, 3, 7))
    others = [0, 1, 2, 4]
    assert torch.equal(used[:, :, others], WEIGHTS[:, :, others])
    assert torch.equal(WEIGHTS, before)


def test_a_forced_alignment_acts_at_the_step_that_computes_its_row() -> None:
    alignment, row = ForcedAlignment("cross", 1, query=3, key=6), WEIGHTS[:, :, :1]
    for length in (2, 4):
        assert make_call(CONFIG, alignment, cached(length)).point(cross(1), "weights", row) is row
    assert alignment.largest_change == 0.0
    used = make_call(CONFIG, alignment, cached(3)).point(cross(1), "weights", row)
    assert torch.equal(used, torch.eye(7)[6].expand(2, 3, 1, 7))


def test_a_forced_alignment_of_a_row_that_is_never_computed_says_that_it_changed_nothing() -> None:
    alignment = ForcedAlignment("cross", 0, 5, 0)
    assert passed(alignment, cross(0)) is WEIGHTS and alignment.largest_change == 0.0


@pytest.mark.parametrize(("query", "key"), [(-1, 0), (0, -1)])
def test_a_forced_alignment_below_position_0_is_refused(query: int, key: int) -> None:
    with pytest.raises(PointError, match=f"there is no query {query} with a key {key}"):
        make_call(CONFIG, ForcedAlignment("cross", 0, query, key))


def test_a_forced_alignment_to_a_key_outside_is_refused() -> None:
    message = r"Query 0 can't attend to key 7: decoder\.0\.cross_attention\.weights has keys 0 to 6 there"
    with pytest.raises(PointError, match=message):
        passed(ForcedAlignment("cross", 0, 0, 7), cross(0))


def test_one_or_several_interventions_are_a_list() -> None:
    one, other = HeadKnockout("cross", 0, 2), Record("decoder.logits")
    assert listed(one) == (one,) and listed([one, other]) == (one, other) and listed(()) == ()


def test_several_interventions_act_one_after_the_other() -> None:
    record = Record("decoder.0.cross_attention.weights")
    used = passed([ForcedAlignment("cross", 0, 3, 6), HeadKnockout("cross", 0, 2), record], cross(0))
    assert float(used[0, 1, 3, 6]) == 1.0 and not used[:, 2].any()
    assert torch.equal(record.weights("cross")[0], used)
    reverse = passed([HeadKnockout("cross", 0, 2), ForcedAlignment("cross", 0, 3, 6)], cross(0))
    assert float(reverse[0, 2, 3, 6]) == 1.0
    assert passed([], cross(0)) is WEIGHTS


class Masks(Intervention):
    """Keeps each mask that it is given, with its point and start, and answers with its own if it has one."""

    def __init__(self, answer: Tensor | None) -> None:
        super().__init__()
        self.answer = answer
        self.given: list[tuple[str, Tensor, int]] = []

    def points(self, config: ModelConfig) -> list[str]:
        return ["decoder.4.self_attention.mask"]

    def change(self, point: str, value: Tensor, start: int) -> Tensor:
        self.given.append((point, value, start))
        return value if self.answer is None else self.answer


def test_each_intervention_is_given_the_mask_of_the_one_before() -> None:
    models = torch.ones(5, 7, dtype=torch.bool).tril(2).expand(2, 3, 5, 7)
    ones = (torch.arange(7) < 3).expand(2, 3, 5, 7)
    first, second, third = Masks(ones), Masks(None), Masks(ones & models)
    watching = Record("decoder.4.self_attention.weights")
    call = make_call(CONFIG, [first, watching, second, third], cached(6))
    assert call.point(Address("decoder", 4, "self_attention"), "mask", models) is third.answer
    assert [masks.given[0][1] for masks in (first, second, third)] == [models, ones, ones]
    for masks in (first, second, third):
        assert [(point, start) for point, _, start in masks.given] == [("decoder.4.self_attention.mask", 6)]
    assert (first.largest_change, second.largest_change) == (1.0, 0.0)
    assert make_call(CONFIG, watching).point(Address("decoder", 4, "self_attention"), "mask", models) is models


SOURCE = random_source(5, 1)


@pytest.mark.parametrize("searched", [False, True])
@pytest.mark.parametrize(
    ("intervention", "message"),
    [
        (HeadKnockout("crosss", 0, 0), "no site 'crosss'"),  # type: ignore[arg-type]
        (HeadKnockout("cross", 2, 0), "The decoder has layers 0 to 1, and no layer 2"),
        (HeadKnockout("encoder_self", -1, 0), "The encoder has layers 0 to 1, and no layer -1"),
        (HeadKnockout("cross", 1, 3), "no head 3 in layer 1 of cross: it has heads 0 to 2"),
        (HeadKnockout("cross", 1, -1), "no head -1 in layer 1 of cross: it has heads 0 to 2"),
        (ForcedAlignment("decoder_self", 40, 1, 0), "no layer 40"),
        (Record("decoder.*.cross_attention.weight"), "The points of decoder.*.cross_attention are queries, keys"),
    ],
)
def test_what_a_model_lacks_is_refused_at_once(intervention: Intervention, message: str, searched: bool) -> None:
    """Before anything is computed, in a search and in a recorded pass."""
    model, last = small_model(), Record("encoder.embedding")
    model.source_embedding.register_forward_pre_hook(lambda module, inputs: pytest.fail("the encoder was asked"))
    with pytest.raises(PointError) as refused:
        if searched:
            decode(model, [SOURCE], DecodingConfig(), interventions=[last, intervention])
        else:
            ForcedPass(model, SOURCE, [last, intervention], keep=True)
    assert message in str(refused.value)
    assert not last.kept


def test_a_call_with_a_cache_keeps_its_interventions() -> None:
    knockout = HeadKnockout("cross", 1, 2)
    call = make_call(CONFIG, knockout)
    later = call.with_cache(cached(4))
    assert (call.cache, call.start, later.start) == (None, 0, 4)
    assert later.acting is call.acting and Call(cache=cached(3)).start == 3
