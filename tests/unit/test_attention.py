"""Attention by hand, masked, tapped and split over heads."""

import math

import pytest
import torch

from model_core.model.attention import MultiHeadAttention, attend, attention_scores, attention_weights
from model_core.model.masks import causal_mask
from tests.small_models import randomise

# B 2, H 3, Q 5, K 7, d_head 11


@pytest.fixture
def projected() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return tuple(torch.randn(2, 3, length, 11, generator=generator) for length in (5, 7, 7))  # type: ignore[return-value]


Projected = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


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


def test_a_tap_sees_the_weights_and_may_replace_them(projected: Projected) -> None:
    query, key, value = projected
    seen = []

    def only_key_4(weights: torch.Tensor) -> torch.Tensor:
        seen.append(weights)
        changed = torch.zeros_like(weights)
        changed[..., 4] = 1.0
        return changed

    used = attend(query, key, value, tap=only_key_4)
    torch.testing.assert_close(seen[0], attention_weights(query, key))
    torch.testing.assert_close(used, value[:, :, 4:5].expand(-1, -1, 5, -1))


def test_the_fused_kernel_cannot_be_tapped(projected: Projected) -> None:
    with pytest.raises(ValueError, match="fused kernel never shows its weights"):
        attend(*projected, tap=lambda weights: weights, fused=True)


def test_dropout_acts_on_the_weights(projected: Projected) -> None:
    query, key, _ = projected
    torch.manual_seed(1)
    shown = attend(query, key, torch.eye(7).expand(2, 3, 7, 7), dropout=0.5, fused=False)  # the weights themselves
    weights = attention_weights(query, key)
    kept = shown != 0
    assert 0.3 < float(kept.float().mean()) < 0.7
    torch.testing.assert_close(shown[kept], 2.0 * weights[kept])


def test_heads_are_blocks_of_columns() -> None:
    module = MultiHeadAttention(15, 3)
    states = torch.arange(2 * 7 * 15).view(2, 7, 15)
    heads = module.split(states)
    assert heads.shape == (2, 3, 7, 5)
    assert torch.equal(heads[1, 2, 4], states[1, 4, 10:15])
    assert torch.equal(module.merge(heads), states)


def test_multi_head_attention_is_its_formula() -> None:
    module = MultiHeadAttention(15, 3).eval()
    randomise(module, 1)
    generator = torch.Generator().manual_seed(2)
    queries, keys = torch.randn(2, 5, 15, generator=generator), torch.randn(2, 7, 15, generator=generator)
    heads = []
    for columns in (slice(0, 5), slice(5, 10), slice(10, 15)):
        q, k, v = (
            x @ linear.weight[:, columns] + linear.bias[columns]
            for x, linear in ((queries, module.query), (keys, module.key), (keys, module.value))
        )
        heads.append((q @ k.transpose(1, 2) / math.sqrt(5)).softmax(dim=-1) @ v)
    expected = torch.cat(heads, dim=-1) @ module.output.weight + module.output.bias
    torch.testing.assert_close(module(queries, keys), expected)


def test_no_position_sees_what_is_masked() -> None:
    module = MultiHeadAttention(15, 3).eval()
    states = torch.randn(1, 7, 15, generator=torch.Generator().manual_seed(3))
    changed = states.clone()
    changed[0, 4] += 1.0
    before, after = (module(x, x, causal_mask(7)) for x in (states, changed))
    torch.testing.assert_close(before[0, :4], after[0, :4])
    assert bool(((before - after)[0, 4:].abs().amax(dim=-1) > 1e-4).all())


def test_dropout_is_for_training_only() -> None:
    module = MultiHeadAttention(15, 3, dropout=0.5)
    states = torch.randn(1, 7, 15, generator=torch.Generator().manual_seed(4))
    torch.manual_seed(1)
    assert not torch.equal(module.train()(states, states), module(states, states))
    assert torch.equal(module.eval()(states, states), module(states, states))


def test_heads_must_divide_the_model() -> None:
    with pytest.raises(ValueError, match="d_model 16 does not split evenly over 3 heads"):
        MultiHeadAttention(16, 3)
