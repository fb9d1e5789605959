"""Masks: True = may attend, and no row without a True."""

from collections.abc import Callable

import pytest
import torch

from model_core.model.masks import causal_mask, decoder_mask, padding_mask

IDS = torch.tensor([[5, 6, 7, 8, 9], [5, 6, 7, 0, 0], [5, 0, 0, 0, 0]])


def test_the_causal_mask_of_five_tokens_is_the_lower_triangle() -> None:
    assert causal_mask(5).int().tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1],
    ]
    assert causal_mask(5).dtype == torch.bool
    assert causal_mask(0).shape == (0, 0)


def test_padding_may_not_be_attended_to() -> None:
    mask = padding_mask(IDS, 0)
    assert mask.shape == (3, 1, 1, 5) and mask.dtype == torch.bool
    assert mask[:, 0, 0].int().tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]
    assert padding_mask(IDS, 9)[0, 0, 0].tolist() == [True, True, True, True, False]


def test_a_decoder_may_attend_to_what_is_neither_later_nor_padding() -> None:
    mask = decoder_mask(IDS, 0)
    assert mask.shape == (3, 1, 5, 5)
    assert mask[0, 0].int().tolist() == causal_mask(5).int().tolist()
    assert mask[1, 0].int().tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 0, 0],
    ]
    assert bool(mask.any(dim=-1).all())


@pytest.mark.parametrize("make", [padding_mask, decoder_mask])
def test_a_row_without_anything_to_attend_to_is_refused(make: Callable[[torch.Tensor, int], torch.Tensor]) -> None:
    ids = torch.cat((IDS, torch.zeros(1, 5, dtype=torch.int64)))
    with pytest.raises(ValueError, match=r"Sequences \[3\] of the batch of 4 are nothing but padding \(id 0\)"):
        make(ids, 0)


def test_padding_on_the_left_of_a_decoder_input_is_refused() -> None:
    with pytest.raises(ValueError, match="pad on the right"):
        decoder_mask(torch.tensor([[5, 6], [0, 6]]), 0)
