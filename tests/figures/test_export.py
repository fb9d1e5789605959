"""The files to take home: nothing is lost, and nothing in them acts."""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from model_core.trace.view import AttentionView, hide_special, view_map, view_maps
from tests.small_traces import small_trace
from viz.figures.export import matrix_csv, standalone_html
from viz.figures.heatmap import attention_heatmap
from viz.theme import DARK, LIGHT

TRICKY = ("<s>", "=1+1", '"q", & <b>', "a\nb", "\r", "nan", "NA", "שלום", "你好", "the", "the", "</s>")


def read(csv: str, index_columns: int) -> pd.DataFrame:
    columns = list(range(index_columns))
    # newline="": a quoted line break in a token must stay what it is
    file = io.StringIO(csv, newline="")
    return pd.read_csv(file, header=[0, 1], index_col=columns, keep_default_na=False, na_values=[""])


def test_the_table_brings_back_every_digit_and_every_token() -> None:
    trace = small_trace(source=TRICKY)
    view = view_map(trace, "cross", 2)
    table = read(matrix_csv(view), 3)
    np.testing.assert_array_equal(table.to_numpy(dtype=np.float32), view.weights)
    assert [token for _, token in table.columns] == list(TRICKY)
    assert [int(number) for number, _ in table.columns] == list(range(1, 13))
    assert table.index.names == ["query", "token", "predicts"]
    assert list(table.index) == [
        (i, token.text, predicted.text)
        for i, (token, predicted) in enumerate(zip(view.query_tokens, view.predicted_tokens, strict=True), start=1)
    ]


def test_an_encoder_row_predicts_nothing() -> None:
    view = view_map(small_trace(source=TRICKY), "encoder_self", 1, 3)
    table = read(matrix_csv(view), 2)
    np.testing.assert_array_equal(table.to_numpy(dtype=np.float32), view.weights)
    assert list(table.index) == list(enumerate(TRICKY, start=1))


def test_masked_cells_are_empty() -> None:
    view = view_map(small_trace(), "decoder_self", 0, 0)
    assert matrix_csv(view).splitlines()[3].endswith(",,,,")
    np.testing.assert_array_equal(np.isnan(read(matrix_csv(view), 3).to_numpy(dtype=float)), ~view.allowed)


def test_a_lone_surrogate_does_not_stop_the_download() -> None:
    csv = matrix_csv(view_map(small_trace(source=("<s>", "a\ud800", "</s>")), "cross", 0))
    assert "a\ufffd" in csv.encode("utf-8").decode()


def test_several_maps_are_no_table() -> None:
    with pytest.raises(ValueError, match=r"one map \[Q, K\], not weights of shape \[2, 5, 7, 7\]"):
        matrix_csv(view_maps(small_trace(), "encoder_self"))


def test_no_tokens_make_an_empty_table() -> None:
    token = small_trace().source_tokens[:1]
    empty = hide_special(
        AttentionView("cross", np.ones((1, 1), dtype=np.float32), np.ones((1, 1), dtype=bool), token, token)
    )
    assert matrix_csv(empty).startswith("key")


@pytest.mark.parametrize(("dark", "theme"), [(False, LIGHT), (True, DARK)])
def test_the_page_stands_alone_in_its_theme(dark: bool, theme: object) -> None:
    page = standalone_html(attention_heatmap(view_map(small_trace(), "cross", 0), dark=dark), "Layer 1")
    palette = DARK if dark else LIGHT
    assert f"background: {palette.background}; color: {palette.text}" in page
    assert len(page) > 3_000_000, "plotly.js is not inside"
    loaded = re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)\s*=\s*[\"']?(?!data:)", page)
    assert loaded == []


def test_title_and_tokens_cannot_leave_their_place() -> None:
    attack = "</title></script><script>alert(1)</script>{figure}\ud800"
    page = standalone_html(attention_heatmap(view_map(small_trace(source=("<s>", attack, "</s>")), "cross", 0)), attack)
    page.encode("utf-8")
    assert "<script>alert" not in page
    assert "<title>&lt;/title&gt;&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;{figure}\ufffd</title>" in page


def test_a_figure_without_a_theme_is_taken_too() -> None:
    assert f"background: {LIGHT.background}" in standalone_html(go.Figure(), "Empty")
