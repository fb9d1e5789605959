"""Attention by hand, masked, watched, changed and split over heads."""

import math

import pytest
import torch

import model_core.model.attention as attention
from model_core.config import ConfigError, ModelConfig
from model_core.interventions import Change, Record, make_call
from model_core.model.attention import MultiHeadAttention, attend, attention_scores, attention_weights
from model_core.model.masks import causal_mask
from model_core.model.points import Address
from tests.small_models import randomise

# B 2, H 3, Q 5, K 7, d_head 11; in modules D 18, d_head 6
CONFIG = ModelConfig(13, 13, 1, 18, 11, 3, dropout=0.0)
CROSS = Address("decoder", 0, "cross_attention")


@pytest.fixture
def projected() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return tuple(torch.randn(2, 3, length, 11, generator=generator) for length in (5, 7, 7))  # type: ignore[return-value]


Projected = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def module_at(address: Address | None = None, config: ModelConfig = CONFIG) -> MultiHeadAttention:
    module = MultiHeadAttention(config, address).eval()
    randomise(module, 1)
    return module


def states(length: int, seed: int) -> torch.Tensor:
    return torch.randn(2, length, 18, generator=torch.Generator().manual_seed(seed))


def test_scores_and_weights_by_hand() -> None:
    query = torch.tensor([[[[1.0, 0.0, 2.0, 0.0]]]])
    key = torch.tensor([[[[2.0, 1.0, 0.0, 3.0], [0.0, 0.0, 4.0, 1.0]]]])
    assert attention_scores(query, key).tolist() == [[[[1.0, 4.0]]]]  # 2 / sqrt(4), 8 / sqrt(4)
    first = 1 / (1 + math.exp(3))
    assert attention_weights(query, key)[0, 0, 0].tolist() == pytest.approx([first, 1 - first])
    value = torch.tensor([[[[10.0, 0.0], [0.0, 20.0]]]])
    assert attend(query, key, value, fused=False)[0, 0, 0].tolist() == pytest.approx([10 * first, 20 * (1 - first)])


def test_rows_sum_to_one_and_masked_cells_are_exactly_zero(projected: Projected) -> None:
    query, key, _ = projected
    allowed = torch.rand(2, 1, 5, 7, generator=torch.Generator().manual_seed(2)) < 0.5
    allowed[..., 3] = True
    weights = attention_weights(query, key, allowed)
    assert weights.shape == (2, 3, 5, 7)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3, 5))
    assert bool((weights[~allowed.expand_as(weights)] == 0.0).all())
    assert bool((weights[allowed.expand_as(weights)] > 0.0).all())


def test_a_masked_key_may_be_anything(projected: Projected) -> None:
    query, key, value = projected
    allowed = torch.tensor([[True, True, False, True, True, True, False]])
    others = [0, 1, 3, 4, 5]
    for fused in (False, True):
        expected = attend(query, key[:, :, others], value[:, :, others], fused=fused)
        torch.testing.assert_close(attend(query, key, value, allowed, fused=fused), expected)


def test_a_row_that_may_attend_to_nothing_is_nan_which_is_why_masks_refuse_it(projected: Projected) -> None:
    query, key, _ = projected
    assert bool(attention_weights(query, key, torch.zeros(5, 7, dtype=torch.bool)).isnan().all())


def test_large_scores_do_not_overflow(projected: Projected) -> None:
    query, key, value = projected
    assert bool(attend(query * 1e4, key * 1e4, value, fused=False).isfinite().all())


def test_the_weights_are_shown_at_their_point_and_may_be_replaced() -> None:
    module, queries, memory = module_at(CROSS), states(5, 2), states(7, 3)
    seen = []

    def only_key_4(weights: torch.Tensor) -> torch.Tensor:
        seen.append(weights)
        changed = torch.zeros_like(weights)
        changed[..., 4] = 1.0
        return changed

    used = module(queries, memory, None, make_call(CONFIG, Change(f"{CROSS}.weights", only_key_4)))
    key, value = module.project_key_value(memory)
    assert len(seen) == 1
    torch.testing.assert_close(seen[0], attention_weights(module.project_query(queries), key))
    expected = module.output(module.merge(value[:, :, 4:5].expand(-1, -1, 5, -1)))
    torch.testing.assert_close(used, expected)


def test_the_scores_and_the_mask_are_shown_before_the_softmax_and_may_be_replaced() -> None:
    module, queries, memory = module_at(CROSS), states(5, 2), states(7, 3)
    given, only_key_6 = torch.ones(5, 7, dtype=torch.bool).tril(), torch.arange(7) == 6
    seen: list[torch.Tensor] = []

    def keep_key_6(mask: torch.Tensor) -> torch.Tensor:
        seen.append(mask)
        return only_key_6.expand(mask.shape)

    record = Record(f"{CROSS}.scores")
    call = make_call(CONFIG, [record, Change(f"{CROSS}.mask", keep_key_6)])
    used = module(queries, memory, given, call)
    key, value = module.project_key_value(memory)
    expected = module.output(module.merge(value[:, :, 6:].expand(-1, -1, 5, -1)))
    torch.testing.assert_close(used, expected)
    assert torch.equal(seen[0], given.expand(2, 3, 5, 7))
    scores = attention_scores(module.project_query(queries), key)
    assert torch.equal(record[f"{CROSS}.scores"], scores), "before the mask"
    negated = module(queries, memory, given, make_call(CONFIG, Change(f"{CROSS}.scores", torch.neg)))
    weights = scores.neg().masked_fill(~given, -math.inf).softmax(dim=-1)
    torch.testing.assert_close(negated, module.output(module.merge(weights @ value)))


def test_where_no_mask_was_given_the_point_has_one_that_allows_everything() -> None:
    record = Record(f"{CROSS}.mask")
    module_at(CROSS)(states(5, 2), states(7, 3), None, make_call(CONFIG, record))
    assert torch.equal(record[f"{CROSS}.mask"], torch.ones(2, 3, 5, 7, dtype=torch.bool))


def test_a_changed_mask_that_leaves_a_query_without_a_key_is_refused() -> None:
    def no_key_for_query_3(mask: torch.Tensor) -> torch.Tensor:
        changed = mask.clone()
        changed[1, 2, 3] = False
        return changed

    call = make_call(CONFIG, Change(f"{CROSS}.mask", no_key_for_query_3))
    message = r"At decoder\.0\.cross_attention a changed mask leaves a query without any key"
    with pytest.raises(ValueError, match=message):
        module_at(CROSS)(states(5, 2), states(7, 3), None, call)


@pytest.mark.parametrize("name", ["scores", "mask", "weights"])
def test_the_fused_kernel_is_never_asked_for_what_it_does_not_show(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, queries, memory = module_at(CROSS), states(5, 2), states(7, 3)
    explicit = module(queries, memory)

    def fused(*arguments: torch.Tensor, **options: float) -> torch.Tensor:
        raise AssertionError("the fused kernel was asked")

    monkeypatch.setattr(attention, "attend", fused)
    watched = module(queries, memory, None, make_call(CONFIG, Record(f"{CROSS}.{name}")))
    torch.testing.assert_close(watched, explicit)
    for call in (make_call(CONFIG), make_call(CONFIG, Record(f"{CROSS}.heads", "encoder.*.weights"))):
        with pytest.raises(AssertionError, match="fused kernel was asked"):
            module(queries, memory, None, call)


def test_dropout_acts_on_the_weights(projected: Projected) -> None:
    query, key, _ = projected
    torch.manual_seed(1)
    shown = attend(query, key, torch.eye(7).expand(2, 3, 7, 7), dropout=0.5, fused=False)  # the weights themselves
    weights = attention_weights(query, key)
    kept = shown != 0
    assert 0.3 < float(kept.float().mean()) < 0.7
    torch.testing.assert_close(shown[kept], 2.0 * weights[kept])


def test_heads_are_blocks_of_columns() -> None:
    module = module_at()
    numbers = torch.arange(2 * 7 * 18).view(2, 7, 18)
    heads = module.split(numbers, 3)
    assert heads.shape == (2, 3, 7, 6)
    assert torch.equal(heads[1, 2, 4], numbers[1, 4, 12:18])
    assert torch.equal(module.merge(heads), numbers)


def test_multi_head_attention_is_its_formula() -> None:
    module, queries, keys = module_at(), states(5, 2), states(7, 3)
    heads = []
    for columns in (slice(0, 6), slice(6, 12), slice(12, 18)):
        q, k, v = (
            x @ linear.weight[:, columns] + linear.bias[columns]
            for x, linear in ((queries, module.query), (keys, module.key), (keys, module.value))
        )
        heads.append((q @ k.transpose(1, 2) / math.sqrt(6)).softmax(dim=-1) @ v)
    expected = torch.cat(heads, dim=-1) @ module.output.weight + module.output.bias
    torch.testing.assert_close(module(queries, keys), expected)


def test_without_a_memory_states_attend_to_themselves() -> None:
    module, own = module_at(), states(5, 2)
    assert torch.equal(module(own), module(own, own))
    assert not torch.allclose(module(own), module(own, states(5, 3)))


def test_no_position_sees_what_is_masked() -> None:
    module, before = module_at(), states(7, 3)
    changed = before.clone()
    changed[0, 4] += 1.0
    first, second = (module(x, None, causal_mask(7)) for x in (before, changed))
    torch.testing.assert_close(first[0, :4], second[0, :4])
    assert bool(((first - second)[0, 4:].abs().amax(dim=-1) > 1e-4).all())


def test_dropout_is_for_training_only() -> None:
    module = module_at(config=ModelConfig(13, 13, 1, 18, 11, 3, attention_dropout=0.5))
    own = states(7, 4)
    torch.manual_seed(1)
    assert not torch.equal(module.train()(own), module(own))
    assert torch.equal(module.eval()(own), module(own))


def test_heads_must_divide_the_model() -> None:
    with pytest.raises(ConfigError, match="d_model 16 does not split evenly over 3 heads"):
        MultiHeadAttention(ModelConfig(13, 13, 1, 16, 7, 3))
