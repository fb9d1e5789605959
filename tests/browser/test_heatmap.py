"""The heatmap as a browser draws it, from its stand-alone page: what is read on it, and that nothing collides.

What the figure holds is tests/figures/test_heatmap.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model_core.trace.view import AttentionView, hide_special, view_map
from tests.browser.visits import DESKTOP, PHONE
from tests.small_traces import small_trace
from viz.figures.export import standalone_html
from viz.figures.heatmap import Limits, Scale, attention_heatmap

TRICKY = ("<b>b</b>", "&lt;i", "$x^2$", "$", "![a](x)", "`", "שלום", "你好", "🙂", "</s>", "the", "the")
LONG = "![a](http://127.0.0.1:1/x.png)<br>"


@pytest.fixture
def app_url() -> str:
    """There is no server: a stand-alone page may ask for nothing at all."""
    return "http://nowhere.invalid"


def show(page: Page, view: AttentionView, folder: Path, scale: Scale = "linear", limits: Limits = "unit") -> None:
    file = folder / "figure.html"
    file.write_text(standalone_html(attention_heatmap(view, scale=scale, limits=limits), "Attention"), encoding="utf-8")
    page.set_content(file.read_text(encoding="utf-8"))
    expect(page.locator(".heatmaplayer image")).to_have_count(1)


def labels(page: Page, axis: str) -> list[str]:
    """Tick labels of an axis in the order of their tokens, without the marks that isolate right-to-left text."""
    found = page.evaluate(
        """axis => [...document.querySelectorAll(`.${axis}tick text`)].map(text => {
          const box = text.getBoundingClientRect();
          return [axis[0] === 'x' ? (box.left + box.right) / 2 : (box.top + box.bottom) / 2, text.textContent];
        })""",
        axis,
    )
    return [text.strip("\u2068\u2069") for _, text in sorted(found)]


def hover(page: Page, view: AttentionView, row: int, column: int) -> str:
    """What the hover says in the middle of a cell, lines separated by "|"."""
    cells = page.locator(".heatmaplayer image").bounding_box()
    assert cells is not None
    rows, columns = view.weights.shape
    x = cells["x"] + (column + 0.5) * cells["width"] / columns
    y = cells["y"] + (row + 0.5) * cells["height"] / rows
    page.mouse.move(x - 1, y)
    page.mouse.move(x, y, steps=3)
    lines = page.locator(".hoverlayer .hovertext .nums .line")
    expect(lines.first).to_be_visible()
    return "|".join(line.replace("\u2068", "").replace("\u2069", "") for line in lines.all_text_contents())


def test_every_token_is_read_as_it_was_typed(page: Page, tmp_path: Path) -> None:
    show(page, view_map(small_trace(source=TRICKY, target=("<s>", *TRICKY)), "cross", 0), tmp_path)
    assert labels(page, "x") == list(TRICKY)
    assert labels(page, "y") == ["<s>", *TRICKY]


def test_the_hover_names_both_tokens_in_full_and_the_number(page: Page, tmp_path: Path) -> None:
    view = view_map(small_trace(source=(*TRICKY, LONG), target=("<s>", LONG, "$y$")), "cross", 2, 1)
    show(page, view, tmp_path, scale="root", limits="fitted")
    for row, column in ((1, 2), (0, 12), (2, 10)):
        told = hover(page, view, row, column)
        weight = float(re.findall(r"weight: ([^|]+)", told)[0].replace("\u2212", "-"))
        np.testing.assert_allclose(weight, view.weights[row, column], rtol=1e-3)
        assert f"|key {column + 1}: {view.key_tokens[column].text}|" in told
        assert f"|query {row + 1}: {view.query_tokens[row].text}|" in told
        assert f"|this row predicts: {view.predicted_tokens[row].text}|this row's sum: 1.000" in told


def test_hover_and_labels_go_with_the_zoom(page: Page, tmp_path: Path) -> None:
    view = view_map(small_trace(), "cross", 1, 2)
    show(page, view, tmp_path)
    ranges = {"xaxis.range": [1.5, 4.5], "yaxis.range": [3.5, 0.5]}
    page.evaluate("ranges => Plotly.relayout(document.querySelector('.js-plotly-plot'), ranges)", ranges)
    assert labels(page, "x") == ["are", "you", "?"] and labels(page, "y") == ["Comment", "allez", "-"]
    shown = page.locator(".plot-container .nsewdrag").first.bounding_box()
    assert shown is not None
    page.mouse.move(shown["x"] + shown["width"] / 2, shown["y"] + shown["height"] / 2, steps=3)
    expect(page.locator(".hovertext")).to_contain_text("key 4: you")
    expect(page.locator(".hovertext")).to_contain_text("query 3: allez")


def test_the_rows_sums_stand_beside_them(page: Page, tmp_path: Path) -> None:
    view = hide_special(view_map(small_trace(), "cross", 1, 2))
    show(page, view, tmp_path)
    assert labels(page, "y3") == [f"{total:.2f}" for total in view.row_sums]


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_written_collides_or_leaves_the_figure(page: Page, tmp_path: Path) -> None:
    show(page, view_map(small_trace(), "cross", 0), tmp_path)
    for pieces in (5, 8, 30, 66):
        texts = long_texts(pieces)
        trace = small_trace(source=texts, target=("<s>", *texts[1:]), decoder=(1, 1))
        view = view_map(trace, "decoder_self", 0)
        faded = replace(view, weights=view.weights * np.linspace(0.5, 1, pieces)[:, None])
        for each in (view, faded):
            draw(page, attention_heatmap(each, scale="root", limits="fitted"))
            boxes = written(page)
            assert len(boxes) > 8
            assert [box["text"] for box in boxes if not box["inside"]] == []
            assert [pair for i, one in enumerate(boxes) for other in boxes[:i] if (pair := collision(one, other))] == []


def draw(page: Page, figure: Any) -> None:
    """Another figure in the place of the one that the page shows."""
    page.evaluate(
        """spec => {
          const figure = JSON.parse(spec);
          return Plotly.react(document.querySelector('.js-plotly-plot'), figure.data, figure.layout).then(() => null);
        }""",
        figure.to_json(),
    )


def written(page: Page) -> list[dict[str, Any]]:
    """Every text of the figure with its box, and whether that lies inside the figure."""
    return page.evaluate(
        """() => {
          const svg = document.querySelector('.main-svg').getBoundingClientRect();
          return [...document.querySelectorAll('.main-svg text')].filter(t => t.textContent.trim()).map(t => {
            const {left, right, top, bottom} = t.getBoundingClientRect();
            const inside = left >= svg.left && right <= svg.right && top >= svg.top && bottom <= svg.bottom;
            return {text: t.textContent, left, right, top, bottom, inside};
          });
        }"""
    )


def long_texts(count: int) -> Sequence[str]:
    words = ("a", "deposited", "unconstitutional", "of", "Großbritannien", "MMMMMMMM")
    return [words[i % len(words)] for i in range(count)]


def collision(one: dict[str, Any], other: dict[str, Any]) -> tuple[object, object] | None:
    """Both texts, where their boxes overlap by more than the blank that is part of a line's height."""
    width = min(one["right"], other["right"]) - max(one["left"], other["left"])
    height = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return (one["text"], other["text"]) if min(width, height) > 4 else None
