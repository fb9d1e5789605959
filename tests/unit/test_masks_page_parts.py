"""The parts of the Masks page that need no page: the link's spelling of cells, and words that differ."""

from __future__ import annotations

import pytest

from model_core.experiments.masks import MaskCell
from model_core.trace import Token
from viz.panels.masks.link import read_cells, spell
from viz.panels.masks.words import differing, marked_html, told_apart

CELLS = frozenset({MaskCell("cross", 2, 1), MaskCell("decoder_self", 4, 0, 2), MaskCell("encoder_self", 10, 6, 0, 7)})
LINK = "cross-3-2.decoder_self-5-1-3.encoder_self-11-7-1-8"


def test_cells_are_spelt_from_1_and_read_back() -> None:
    assert spell(CELLS) == LINK
    assert read_cells(LINK) == (CELLS, 0)
    assert read_cells("") == (frozenset(), 0)


@pytest.mark.parametrize(
    "part",
    ["foo", "cross", "cross-1", "cross-0-1", "cross-1-x", "cross--1-2", "mean-1-2", "cross-1-2-3-4-5", "/etc-1-2"],
)
def test_what_is_no_cell_is_counted(part: str) -> None:
    assert read_cells(f"cross-3-2.{part}") == (frozenset({MaskCell("cross", 2, 1)}), 1)


def test_a_link_without_end_is_cut_and_that_is_told() -> None:
    cells, wrong = read_cells(".".join(f"cross-{number}-1" for number in range(1, 2000)))
    assert wrong >= 1 and 0 < len(cells) < 1999


def test_words_that_the_other_has_not_are_marked() -> None:
    before, after = differing("Je ne parle pas français", "Je parle le français là")
    assert [word for word, differs in before if differs] == ["ne", "pas"]
    assert [word for word, differs in after if differs] == ["le", "là"]


def test_words_are_never_markup() -> None:
    drawn = marked_html([("<b>&", False), ('<img src=x onerror="f()">', True)])
    assert "&lt;b&gt;&amp;" in drawn and "<img" not in drawn and "<b>" not in drawn and drawn.count("<mark ") == 1
    assert "empty translation" in marked_html([])


def test_two_tokens_of_one_text_are_told_apart() -> None:
    """As after “Comment”, where “▁?” and “?” both are likely."""
    tokens = [Token(3, "▁?", "?", 0, False), Token(4, "▁vas", "vas", 1, False), Token(5, "?", "?", 2, False)]
    assert told_apart(tokens) == ["▁?", "vas", "?"]
