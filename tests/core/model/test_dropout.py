"""Dropout that draws eight elements at a time."""

import pytest
import torch

from model_core.tensors.dropout import Dropout, dropout


def test_rate_zero_gives_back_the_very_same_tensor() -> None:
    values = torch.ones(3, 5)
    assert dropout(values, 0.0) is values


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.5, 0.9])
def test_elements_are_dropped_at_the_rate_and_the_others_keep_the_expectation(rate: float) -> None:
    torch.manual_seed(1)
    used = dropout(torch.full((101, 1003), 3.0), rate)
    dropped = round(rate * 256) / 256
    assert float((used == 0).float().mean()) == pytest.approx(dropped, abs=0.01)
    assert used.unique().tolist() == pytest.approx([0.0, 3.0 / (1 - dropped)])
    assert float(used.mean()) == pytest.approx(3.0, abs=0.1)


def test_neighbours_are_dropped_independently() -> None:
    """Eight elements share a draw: no pair of them may fall together more often than by chance."""
    torch.manual_seed(2)
    gone = (dropout(torch.ones(20_000, 8), 0.25) == 0).double()
    correlation = torch.corrcoef(gone.T) - torch.eye(8, dtype=torch.float64)
    assert float(correlation.abs().max()) < 0.05


@pytest.mark.parametrize("shape", [(), (1,), (3, 5, 7), (0, 3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_any_shape_and_type_come_back(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    used = dropout(torch.ones(shape, dtype=dtype), 0.3)
    assert used.shape == shape and used.dtype == dtype


def test_what_lies_transposed_in_memory_is_dropped_too() -> None:
    torch.manual_seed(3)
    values = torch.arange(1.0, 106.0).view(15, 7).T
    used = dropout(values, 0.5)
    kept = used != 0
    assert 0.2 < float(kept.float().mean()) < 0.8
    torch.testing.assert_close(used[kept], 2.0 * values[kept])


def test_gradients_flow_where_values_did() -> None:
    torch.manual_seed(4)
    values = torch.ones(11, 13, requires_grad=True)
    used = dropout(values, 0.5)
    used.sum().backward()
    assert values.grad is not None
    assert torch.equal(values.grad, used.detach())
    assert bool((values.grad == 0).any())


def test_the_global_seed_makes_it_repeatable() -> None:
    values = torch.ones(5, 7)
    torch.manual_seed(5)
    first, second = dropout(values, 0.5), dropout(values, 0.5)
    torch.manual_seed(5)
    assert torch.equal(dropout(values, 0.5), first)
    assert not torch.equal(first, second)


def test_the_module_drops_in_training_only() -> None:
    torch.manual_seed(6)
    module, values = Dropout(0.5), torch.ones(5, 7)
    assert bool((module.train()(values) == 0).any())
    assert module.eval()(values) is values
