"""The pictures of masks, and the bars before and after: their numbers, their words, odd tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from model_core.trace import Token
from tests.small_traces import make_tokens
from viz.figures.masks import mask_alt, mask_figure, next_token_figure, padding_figure
from viz.theme import DARK, LIGHT

PAD = Token(0, "<pad>", "<pad>", -1, True)
SOURCE = (*make_tokens(["<s>", "<b>", "are", "are", "</s>"]), PAD, PAD)  # K 7
READ = make_tokens(["<s>", "Comment", "$x$"], 1000)  # Q 3


def cross() -> np.ndarray:
    return np.arange(7)[None] < np.full((3, 1), 5)


def drawn(figure: Any) -> Any:
    """The figure with attributes that no type checker knows."""
    return figure


def heatmaps(figure: Any) -> list[Any]:
    return [trace for trace in figure.data if trace.type == "heatmap"]


def shown(trace: Any) -> np.ndarray:
    return ~np.isnan(np.asarray(trace.z, dtype=np.float64))


@pytest.mark.parametrize("dark", [False, True])
def test_allowed_and_masked_cells_are_told_apart(dark: bool) -> None:
    figure = drawn(mask_figure(cross(), READ, SOURCE, site="cross", query_label="query", key_label="key", dark=dark))
    may, never = heatmaps(figure)
    assert np.array_equal(shown(may), cross()) and np.array_equal(shown(never), ~cross())
    assert "may look at" in may.hovertemplate and never.hovertemplate.endswith("it is padding<extra></extra>")
    assert may.colorscale[0][1] == (DARK if dark else LIGHT).accent
    assert len(figure.layout.images) == 1, "masked cells are hatched, not only of another colour"
    assert figure.layout.xaxis2.labelalias["1"] == "&lt;b&gt;" and figure.layout.yaxis2.labelalias["2"] == "&#36;x&#36;"
    assert list(may.x) == [str(i) for i in range(7)], "equal tokens are two columns"


def test_the_future_is_called_so() -> None:
    figure = drawn(
        mask_figure(
            np.tril(np.ones((3, 3), dtype=bool)), READ, READ, site="decoder_self", query_label="query", key_label="key"
        )
    )
    _, future = heatmaps(figure)
    assert "may not look at" in future.hovertemplate and "it lies in the future" in future.hovertemplate
    assert shown(future).sum() == 3


def test_a_mask_without_masked_cells_has_no_hatch() -> None:
    figure = drawn(
        mask_figure(np.ones((3, 7), dtype=bool), READ, SOURCE, site="cross", query_label="query", key_label="key")
    )
    assert not figure.layout.images
    assert "may not" not in figure.layout.xaxis.title.text and "may attend" in figure.layout.xaxis.title.text


def test_a_batch_shows_each_sentence_in_its_column() -> None:
    longer = make_tokens(["<s>", "a", "<i>", "c", "d", "e", "</s>"])
    figure = drawn(padding_figure([longer, SOURCE]))
    may, never = heatmaps(figure)
    assert shown(may).shape == (7, 2) and shown(may).sum() == 12
    assert np.argwhere(shown(never)).tolist() == [[5, 1], [6, 1]]
    assert may.text[2][0] == "&lt;i&gt;" and may.text[5][1] == "" and never.text[5][1] == "&lt;pad&gt;"
    assert "padding" in never.hovertemplate
    assert shown(heatmaps(padding_figure([longer, SOURCE], masked=False))[0]).all()
    assert figure.layout.xaxis.tickangle == 0 and figure.layout.margin.b < 80, "flat labels need no more room"


def test_a_long_batch_says_its_tokens_by_hovering_only() -> None:
    """In rows of a few pixels they would be written over each other."""
    sizes = []
    for length in (20, 60, 98):
        tokens = make_tokens([f"t{i}" for i in range(length)])
        may, _ = heatmaps(drawn(padding_figure([tokens, tokens])))
        assert may.text[length - 1][0] == f"t{length - 1}"
        sizes.append(may.textfont.size if may.texttemplate else None)
    assert sizes == [11, 10, None]


def test_a_batch_of_different_lengths_is_refused() -> None:
    with pytest.raises(ValueError, match=r"not \[3, 7\]"):
        padding_figure([READ, SOURCE])


def test_the_alt_text_counts() -> None:
    assert mask_alt(cross(), "Mask") == "Mask, 3 x 7: 15 of 21 cells may be attended to."
    assert mask_alt(np.ones((1, 1), dtype=bool), "Mask") == "Mask, 1 x 1: 1 of 1 cell may be attended to."


def test_bars_tell_both_numbers_and_their_difference() -> None:
    figure = drawn(next_token_figure(["<b>", "parle", "parle"], [0.7, 0.2, 0.0], [0.1, 0.65, 0.05]))
    before, after = figure.data
    assert list(before.x) == [0.7, 0.2, 0.0] and list(after.x) == [0.1, 0.65, 0.05]
    assert after.text[0] == "0.100 (−0.600)" and after.text[1] == "0.650 (+0.450)"
    assert figure.layout.yaxis.ticktext[0] == "&lt;b&gt;" and list(figure.layout.yaxis.tickvals) == [0, 1, 2]
    assert after.marker.pattern.bgcolor == LIGHT.series[1] != before.marker.color
    assert after.marker.pattern.shape == "/", "the bars differ by more than their colour"


def test_bars_call_nothing_certain_and_no_change_a_change() -> None:
    _, after = drawn(next_token_figure(["a", "b"], [0.99987, 0.00002], [0.99985, 0.00001])).data
    assert list(after.text) == ["> 0.999 (0.000)", "1.0e−05 (0.000)"]
