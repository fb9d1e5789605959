"""Masks as a person changes them: which cell counts, what a turn does, and what is refused."""

from __future__ import annotations

from typing import cast

import pytest

from model_core.experiments.masks import (
    ChangedMasks,
    MaskCell,
    MaskedPass,
    MaskError,
    MaskSetting,
    Padded,
    check_setting,
    flipped,
    masked_pass,
)
from model_core.trace import Site
from tests.small_models import random_source, small_model

SHORT = random_source(3, seed=4)  # 5 ids
PADDED = Padded(tuple(SHORT), 9)
TARGET = [5, 8, 4, 10, 6, 2]  # T 6
USUAL = MaskSetting()


def run(setting: MaskSetting = USUAL, site: Site = "cross", layer: int = 1) -> MaskedPass:
    return masked_pass(small_model(), PADDED, TARGET, setting, site, layer)


def test_a_row_without_a_key_is_refused() -> None:
    all_five = frozenset(MaskCell("cross", 2, key, layer=1) for key in range(5))
    with pytest.raises(MaskError, match="Query 3 would have no key left in layer 2, head 1 of cross-attention"):
        run(MaskSetting(forbidden=all_five))
    run(MaskSetting(padding=False, forbidden=all_five))  # then padding is left
    future = MaskSetting(
        forbidden=frozenset({MaskCell("decoder_self", 0, 0, layer=0, head=1)}),
        permitted=frozenset({MaskCell("decoder_self", 0, 4)}),
    )
    with pytest.raises(MaskError, match="Query 1 would have no key left in layer 1, head 2 of decoder self-attention"):
        run(future)  # a search has no future to look at


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (MaskCell("cross", 6, 0), "no query 7 in this sentence's cross-attention: it has 6"),
        (MaskCell("cross", 0, 9), "no key 10 in this sentence's cross-attention: it has 9"),
        (MaskCell("decoder_self", 0, 7), "no key 8 in this sentence's decoder self-attention: it has 6"),
        (MaskCell("encoder_self", 9, 0), "no query 10 in this sentence's encoder self-attention: it has 9"),
        (MaskCell("cross", 0, 0, layer=2), "no layer 3 in this sentence's cross-attention: it has 2"),
        (MaskCell("cross", 0, 0, layer=1, head=-1), "no head 0 in this sentence's cross-attention: it has 3"),
    ],
)
def test_cells_that_are_not_there_are_named(cell: MaskCell, message: str) -> None:
    with pytest.raises(MaskError, match=message):
        run(MaskSetting(permitted=frozenset({cell})))


@pytest.mark.parametrize("layer", [2, 9, -1])
def test_a_layer_that_is_not_there_is_named(layer: int) -> None:
    with pytest.raises(MaskError, match=f"no layer {layer} in this model: it has layers 0 to 1"):
        run(layer=layer)


def test_a_site_that_is_not_there_is_named() -> None:
    nowhere = cast(Site, "memory")
    for ask in (lambda: run(site=nowhere), lambda: MaskCell(nowhere, 0, 0)):
        with pytest.raises(MaskError, match="no site 'memory'; the sites are encoder_self, decoder_self, cross"):
            ask()


def test_a_head_without_its_layer_is_no_cell() -> None:
    """It would lie in as many layers as a cell of all heads, and a link would spell it like a cell of layer 3."""
    with pytest.raises(MaskError, match="head 3 of no layer lies nowhere: name its layer"):
        MaskCell("cross", 0, 1, head=2)


def test_a_source_is_not_padded_to_less_than_it_has() -> None:
    assert Padded(tuple(SHORT), 5).padding == 0
    with pytest.raises(MaskError, match="source of 5 ids can't be padded to 4: give a length of 5 or more"):
        Padded(tuple(SHORT), 4)


def test_too_many_cells_are_refused() -> None:
    cells = frozenset(MaskCell("encoder_self", query, key) for query in range(9) for key in range(8))
    with pytest.raises(MaskError, match="72 cells are changed; at most 64 can be"):
        check_setting(MaskSetting(forbidden=cells), PADDED, 6, small_model().config)


def test_the_narrower_cell_counts() -> None:
    wide, layer, head = MaskCell("cross", 2, 3), MaskCell("cross", 2, 3, 1), MaskCell("cross", 2, 3, 1, 2)
    setting = MaskSetting(forbidden=frozenset({wide, head}), permitted=frozenset({layer}))
    masks = ChangedMasks(setting, PADDED)
    assert masks.allowed("cross", 0, 3, 6, 9)[:, 2, 3].tolist() == [False] * 3
    assert masks.allowed("cross", 1, 3, 6, 9)[:, 2, 3].tolist() == [True, True, False]


def test_a_cell_turned_twice_is_as_it_was() -> None:
    wide, head = MaskCell("cross", 2, 3), MaskCell("cross", 2, 3, 1, 2)
    once = flipped(USUAL, PADDED, head, 1, 2)
    assert once == MaskSetting(forbidden=frozenset({head}))
    assert flipped(once, PADDED, head, 1, 2) == USUAL
    everywhere = flipped(flipped(once, PADDED, wide, 1, 2), PADDED, wide, 1, 2)
    assert everywhere == MaskSetting(forbidden=frozenset({wide})), "the narrow cell is dropped, then the wide one acts"
    but_one = flipped(everywhere, PADDED, head, 1, 2)
    assert but_one == MaskSetting(forbidden=frozenset({wide}), permitted=frozenset({head}))
    assert flipped(but_one, PADDED, head, 1, 2) == everywhere


@pytest.mark.parametrize(
    "cell", [MaskCell("cross", 1, 8), MaskCell("decoder_self", 1, 4), MaskCell("encoder_self", 7, 6)]
)
def test_a_masked_cell_is_permitted_by_a_turn(cell: MaskCell) -> None:
    assert flipped(USUAL, PADDED, cell, 0, 1) == MaskSetting(permitted=frozenset({cell}))
