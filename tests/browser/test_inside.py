"""The page Inside a head in a browser: what one reads, chooses and takes home."""

from __future__ import annotations

import csv
import io
import re
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from model_core.experiments.anatomy import HeadAnatomy, dissect
from model_core.trace import Site
from model_core.translator import Translator
from tests.browser.chromium import ROOT, wait_idle
from tests.browser.visits import DESKTOP, PHONE, open_page
from tests.examples import PAGE_SEARCH

SENTENCE = "How are you?"


@pytest.fixture(scope="module")
def translator() -> Translator:
    """The shipped checkpoint, beside the server's own."""
    return Translator.load(ROOT / "checkpoints" / "en-fr")


def anatomy(translator: Translator, site: Site, layer: int, head: int) -> HeadAnatomy:
    trace = translator.trace(SENTENCE, decoding=PAGE_SEARCH)
    return dissect(translator.checkpoint.model, trace, site, layer, head)


def open_inside(page: Page, url: str, query: str = "") -> None:
    open_page(page, url, "inside", f"text={quote(SENTENCE)}&{query}")
    expect(page.get_by_test_id("model-diagram")).to_be_visible(timeout=60_000)


def matrix(page: Page, name: str) -> Locator:
    return page.locator(f'[data-testid="matrix"][data-name="{name}"]')


def cell_told(page: Page, name: str) -> float:
    return float(matrix(page, name).get_by_role("status").inner_text().rpartition(": ")[2].replace("−", "-"))


def bars(page: Page) -> np.ndarray:
    page.wait_for_function("() => document.querySelector('.js-plotly-plot')?._fullData")
    return np.array(page.evaluate("() => Array.from(document.querySelector('.js-plotly-plot')._fullData[0].y)"))


def stage(page: Page, number: int) -> None:
    expect(page.get_by_text(re.compile(rf"^{number} of 11\."))).to_be_visible(timeout=30_000)
    wait_idle(page)


def test_a_link_opens_a_cell_and_its_products_are_the_model_s(page: Page, app_url: str, translator: Translator) -> None:
    open_inside(page, app_url, "site=cross&layer=2&head=5&stage=4&cell=3.2")
    products = anatomy(translator, "cross", 1, 4).products
    stage(page, 4)
    expect(matrix(page, "QK transposed")).to_have_attribute("data-row", "2")
    assert cell_told(page, "QK transposed") == pytest.approx(products[2, 1], abs=1e-4)
    assert bars(page).sum() == pytest.approx(products[2, 1], abs=1e-4)
    block = page.locator('[data-testid="block"][aria-pressed="true"]')
    expect(block).to_have_attribute("data-site", "cross")
    expect(block).to_have_attribute("data-layer", "1")


def test_one_walks_through_the_stages_and_chooses_cells_by_keyboard(
    page: Page, app_url: str, translator: Translator
) -> None:
    open_inside(page, app_url, "site=decoder_self&layer=1&head=2&stage=6")
    page.keyboard.press("ArrowRight")
    stage(page, 7)
    page.get_by_label("English sentence").focus()
    page.keyboard.press("ArrowLeft")  # moves in the text, not among the stages
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("ArrowRight")
    stage(page, 8)  # and not 7: the text took the key before
    page.keyboard.press("ArrowLeft")
    stage(page, 7)
    weights = anatomy(translator, "decoder_self", 0, 1).weights
    matrix(page, "Weights").get_by_role("application").focus()
    for key in ("Home", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    row = weights.shape[0] - 1
    expect(page.get_by_text(re.compile(rf"^Weights, row {row + 1} .*, column 2 "))).to_be_visible(timeout=30_000)
    wait_idle(page)
    stage(page, 7)
    shares = bars(page) / bars(page).sum()
    np.testing.assert_allclose(shares, weights[row], atol=1e-5)
    assert f"cell={row + 1}.2" in page.url and "stage=7" in page.url
    page.get_by_role("button", name="Back").click()
    stage(page, 6)


def test_a_block_of_the_diagram_chooses_its_attention(page: Page, app_url: str, translator: Translator) -> None:
    open_inside(page, app_url, "site=cross&layer=2&head=5&stage=7")
    block = page.locator('[data-testid="block"][data-site="encoder_self"][data-layer="3"]')
    block.focus()
    page.keyboard.press("Enter")
    expect(block).to_have_attribute("aria-pressed", "true", timeout=30_000)
    expect(page.get_by_text("4 tokens + 2 specials: X is 6 × 256, eight heads of 6 × 32.")).to_be_visible()
    wait_idle(page)
    assert "site=encoder_self" in page.url and "layer=4" in page.url and "head=5" in page.url
    weights = anatomy(translator, "encoder_self", 3, 4).weights
    assert cell_told(page, "Weights") == pytest.approx(weights.max(), abs=1e-5)
    assert f"{translator.checkpoint.model.parameter_count():,} parameters" in page.get_by_test_id("stMain").inner_text()


def test_a_file_holds_the_matrix(page: Page, app_url: str, translator: Translator) -> None:
    open_inside(page, app_url, "site=cross&layer=1&head=1&stage=3&projection=K")
    page.get_by_role("button", name="Matrices as CSV").click()
    with page.expect_download(timeout=60_000) as download:
        page.get_by_role("button", name="K as CSV", exact=True).click()
    rows = list(csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    numbers = np.array([[float(value) for value in row[2:]] for row in rows[2:]])
    np.testing.assert_allclose(numbers, anatomy(translator, "cross", 0, 0).key, atol=1e-5)


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_it_fits_the_screen_in_light_and_dark(page: Page, app_url: str, viewport: tuple[int, int]) -> None:
    open_inside(page, app_url, "site=cross&layer=3&head=1&stage=10")
    wide = page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.querySelector('[data-testid=stMain]'))")
    assert wide <= 0
    assert len(bars(page)) == 256
    expect(page.get_by_test_id("matrix")).to_have_count(3)
    svg = page.get_by_test_id("model-diagram").locator("svg")
    box = svg.bounding_box()
    assert box is not None and 250 < box["width"] <= viewport[0]
    outside = svg.evaluate(
        "s => Array.from(s.querySelectorAll('text')).filter(t => { const b = t.getBBox(); "
        "return b.x < 0 || b.x + b.width > s.clientWidth; }).map(t => t.textContent)"
    )
    assert outside == []
    crowded = svg.evaluate(
        "s => Array.from(s.querySelectorAll('g')).filter(g => { const [a, b] = Array.from(g.querySelectorAll('text'))"
        ".map(t => t.getBBox()); return b && Math.abs(a.y - b.y) < 6 && a.x + a.width > b.x; }).map(g => g.textContent)"
    )
    assert crowded == []


def test_a_built_model_is_drawn_and_offers_nothing_to_choose(page: Page, app_url: str) -> None:
    open_inside(page, app_url, "shape=src%3D100,tgt%3D120,N%3D2,d_model%3D64,d_ff%3D128,h%3D4")
    drawn = page.get_by_test_id("drawn-model")
    expect(drawn.get_by_text("Encoder: 2 layers")).to_be_visible(timeout=60_000)
    assert drawn.get_by_role("button", name="layer").count() == 0
    page.get_by_role("button", name="The tutorials' model (32,000 + 32,000)").click()
    expect(page.get_by_text("93,322,496 parameters")).to_be_visible(timeout=60_000)
    expect(drawn.get_by_text("Encoder: 6 layers")).to_be_visible(timeout=60_000)
