"""The Masks page as a person meets it: reading a head's numbers, turning cells, sharing a link, on every screen."""

from __future__ import annotations

import re
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from model_core.experiments.masks import MaskCell, MaskedPass, MaskSetting, Padded, masked_pass
from model_core.trace import TranslationTrace
from model_core.translator import Translator
from tests.browser.chromium import ROOT, wait_idle
from tests.browser.visits import DESKTOP, PHONE, open_page, query_of
from tests.examples import PAGE_SEARCH

SENTENCE = "Where is the station?"
LINK = f"text={quote(SENTENCE)}&second=No.&site=decoder_self&layer=2&head=3"

POINT_OF_CELL = """(plot, [row, column]) => {
  const { xaxis2: x, yaxis2: y } = plot._fullLayout;
  const box = plot.getBoundingClientRect();
  return [box.left + x._offset + x.d2p(String(column)), box.top + y._offset + y.d2p(String(row))];
}"""


@pytest.fixture(scope="module")
def translator() -> Translator:
    """The shipped checkpoint, beside the server's own."""
    return Translator.load(ROOT / "checkpoints" / "en-fr")


@pytest.fixture(scope="module")
def trace(translator: Translator) -> TranslationTrace:
    return translator.trace(SENTENCE, decoding=PAGE_SEARCH)


def matrix_of(page: Page, name: str) -> Locator:
    return page.locator(f'[data-testid="matrix"][data-name="{name}"]')


def go_to(matrix: Locator, row: int, column: int) -> Locator:
    """Moves to a cell by keyboard and returns what says its value."""
    stage = matrix.locator("[role=application]")
    stage.focus()
    for key, times in (("ArrowDown", row), ("ArrowRight", column)):
        for _ in range(times):
            stage.press(key)
    return matrix.locator("[role=status]")


def passed(translator: Translator, trace: TranslationTrace, setting: MaskSetting) -> MaskedPass:
    source = tuple(token.id for token in trace.source_tokens)
    target = [token.id for token in trace.predicted_tokens]
    return masked_pass(translator.checkpoint.model, Padded(source, len(source)), target, setting, "decoder_self", 1)


def test_the_matrices_show_the_models_numbers(
    page: Page, app_url: str, translator: Translator, trace: TranslationTrace
) -> None:
    open_page(page, app_url, "masks", LINK)
    found = passed(translator, trace, MaskSetting())
    said = go_to(matrix_of(page, "Weights"), 3, 2).locator("strong")
    assert float(said.inner_text()) == pytest.approx(float(trace.decoder_self.map(1, 2)[3, 2]), abs=2e-4)
    said = go_to(matrix_of(page, "Scores before the mask"), 1, 3).locator("strong")
    assert float(said.inner_text().replace("−", "-")) == pytest.approx(float(found.scores[2, 1, 3]), rel=1e-3)
    expect(go_to(matrix_of(page, "Scores after the mask"), 1, 3)).to_contain_text("(masked)")


def test_enter_forbids_a_cell_and_allows_it_again(
    page: Page, app_url: str, translator: Translator, trace: TranslationTrace
) -> None:
    open_page(page, app_url, "masks", f"{LINK}&step=4&reach=this+head")
    go_to(matrix_of(page, "Scores after the mask"), 3, 1)
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 turned cell", exact=True)).to_be_visible(timeout=60_000)
    wait_idle(page)
    assert query_of(page)["off"] == "decoder_self-4-2-2-3"
    found = passed(translator, trace, MaskSetting(forbidden=frozenset({MaskCell("decoder_self", 3, 1, 1, 2)})))
    said = go_to(matrix_of(page, "Weights after"), 3, 0).locator("strong")
    assert float(said.inner_text()) == pytest.approx(float(found.weights[2, 3, 0]), abs=2e-4)
    bars = page.locator(".js-plotly-plot").nth(3).evaluate("plot => Array.from(plot.data[1].x)")
    assert max(bars) == pytest.approx(float(np.exp(found.log_probabilities[3].max())), abs=1e-4)
    go_to(matrix_of(page, "Scores after the mask"), 0, 0)  # the cursor is where it was
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing is changed yet", exact=False)).to_be_visible(timeout=60_000)
    assert "off" not in query_of(page) and "on" not in query_of(page)


def test_a_full_link_opens_the_same_view(page: Page, app_url: str) -> None:
    query = f"{LINK}&row=second&padding=false&causal=false&step=2&off=cross-2-3.decoder_self-2-1-2-3"
    open_page(page, app_url, "masks", query)
    expect(page.get_by_role("switch", name="Padding mask")).not_to_be_checked()
    expect(page.get_by_role("switch", name="Causal mask")).not_to_be_checked()
    expect(page.get_by_text("2 turned cells", exact=True)).to_be_visible()
    expect(page.get_by_text("decoder self-attention, layer 2, head 3", exact=False).first).to_be_visible()
    expect(page.get_by_text("every row sees the answer", exact=False)).to_be_visible()
    assert matrix_of(page, "Weights").locator("[role=application]").get_attribute("aria-label")
    page.get_by_role("button", name="Reset", exact=True).click()
    expect(page.get_by_text("Nothing is changed yet", exact=False)).to_be_visible(timeout=60_000)
    assert not {"off", "on", "padding", "causal"} & query_of(page).keys()


def test_hovering_a_cell_says_who_may_look_at_whom(page: Page, app_url: str, trace: TranslationTrace) -> None:
    open_page(page, app_url, "masks", LINK)
    plot = page.locator(".js-plotly-plot").nth(1)
    plot.scroll_into_view_if_needed()
    for row, column, verb in ((2, 1, "may look at"), (1, 2, "may not look at")):
        page.mouse.move(0, 0)
        page.mouse.move(*plot.evaluate(POINT_OF_CELL, [row, column]))
        said = plot.locator(".hoverlayer")
        query, key = (trace.decoder_input_tokens[index].text for index in (row, column))
        expect(said).to_contain_text(re.compile(rf"{re.escape(query)} {verb} {re.escape(key)}"))


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_it_fits_every_screen(page: Page, app_url: str, viewport: tuple[int, int], color_scheme: str) -> None:
    open_page(page, app_url, "masks", f"{LINK}&causal=false")
    expect(page.locator(".js-plotly-plot")).to_have_count(4)
    expect(page.locator('[data-testid="matrix"]')).to_have_count(6)
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
    for canvas in page.locator('[data-testid="matrix"] canvas').all():
        box = canvas.bounding_box()
        assert box is not None and box["width"] > 100 and box["x"] + box["width"] <= viewport[0]
    colours = page.locator('[data-testid="matrix"] canvas').first.evaluate(
        "c => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
    )
    assert colours > 5, "cells of several colours are drawn"
