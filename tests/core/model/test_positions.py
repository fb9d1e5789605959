"""Sinusoidal positions, by the formula, at any position and base."""

import math

import pytest
import torch

from model_core.model.positions import PositionalEncoding, sinusoidal_encoding


@pytest.mark.parametrize("base", [10000.0, 100.0])
def test_sines_and_cosines_alternate_by_the_formula(base: float) -> None:
    table = sinusoidal_encoding(7, 6, base)
    assert table.shape == (7, 6) and table.dtype == torch.float32
    for position in range(7):
        for pair in range(3):
            angle = position / base ** (2 * pair / 6)
            assert float(table[position, 2 * pair]) == pytest.approx(math.sin(angle), abs=1e-7)
            assert float(table[position, 2 * pair + 1]) == pytest.approx(math.cos(angle), abs=1e-7)


def test_the_first_position_is_zeros_and_ones() -> None:
    assert sinusoidal_encoding(1, 6).tolist() == [[0, 1, 0, 1, 0, 1]]


def test_positions_may_start_anywhere_and_far_ones_keep_their_digits() -> None:
    assert torch.equal(sinusoidal_encoding(4, 6, start=3), sinusoidal_encoding(7, 6)[3:])
    far = sinusoidal_encoding(1, 6, start=10_000_019)[0]
    assert float(far[0]) == pytest.approx(math.sin(10_000_019), abs=1e-7)


@pytest.mark.parametrize(
    ("length", "d_model", "start", "message"),
    [(3, 5, 0, "d_model must be even.* it is 5"), (-1, 6, 0, "length -1"), (3, 6, -2, "start -2")],
)
def test_impossible_tables_are_refused(length: int, d_model: int, start: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sinusoidal_encoding(length, d_model, start=start)


@pytest.mark.parametrize("start", [0, 3, 9, 30])
def test_the_module_adds_the_rows_of_the_positions_asked_for(start: int) -> None:
    """Stored rows, rows past the stored ones, and a stretch that is partly both."""
    module = PositionalEncoding(6, stored=11)
    embedded = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(1))
    expected = embedded + sinusoidal_encoding(start + 5, 6)[start:]
    torch.testing.assert_close(module(embedded, start), expected)


def test_the_base_reaches_rows_that_are_not_stored() -> None:
    module = PositionalEncoding(6, base=100.0, stored=3)
    torch.testing.assert_close(module.rows(5), sinusoidal_encoding(5, 6, 100.0))


def test_the_table_is_no_part_of_a_checkpoint_and_is_not_learned() -> None:
    module = PositionalEncoding(6)
    assert not module.state_dict() and not list(module.parameters())


def test_dropout_acts_in_training_only() -> None:
    module, embedded = PositionalEncoding(6, dropout=0.5), torch.ones(3, 7, 6)
    assert bool((module.train()(embedded) == 0).any())
    torch.testing.assert_close(module.eval()(embedded), embedded + sinusoidal_encoding(7, 6))
