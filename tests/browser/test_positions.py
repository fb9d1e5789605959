"""The Positions page in a browser: what its pictures show, against the formula and the model."""

from __future__ import annotations

import re
from urllib.parse import quote

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from model_core.experiments.positions import PositionChange, encoding_table, input_norms, run_experiment
from model_core.translator import Translator
from tests.browser.chromium import ROOT, wait_idle
from tests.browser.visits import DESKTOP, PHONE, open_page, query_of
from tests.examples import HOSTILE_TEXTS, PAGE_SEARCH

LETTERS = "c a b e d"
VIEWS = {
    "Encoding": ("encoding-heatmap", "encoding-curves", "similarity-heatmap", "similarity-curve"),
    "Lengths": ("norms",),
    "Experiment": ("attention-before", "attention-after", "changes"),
    "Word order": ("equivariance",),
}
HEATMAPS = ("encoding-heatmap", "similarity-heatmap", "attention-before", "attention-after")
NUMBERS = """([key, name]) => {
  const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`);
  if (!plot?._fullData) return null;  // not drawn yet
  const values = plot._fullData.map((trace) => trace[name]).filter((found) => found?.length > 1);
  return name === "z" ? Array.from(values[0], (row) => Array.from(row)) : values.map((row) => Array.from(row));
}"""


@pytest.fixture(scope="module")
def copier() -> Translator:
    """The shipped checkpoint, beside the server's own."""
    return Translator.load(ROOT / "checkpoints" / "copy")


def open_view(page: Page, name: str) -> None:
    """Another of the page's tabs."""
    page.get_by_role("tab", name=name, exact=True).click()
    wait_idle(page)


def numbers(page: Page, key: str, name: str = "z") -> NDArray[np.float64]:
    """What the picture of this key shows: a heatmap's z, or each trace's y."""
    drawn = page.wait_for_function(NUMBERS, arg=[key, name], timeout=60_000)
    return np.array(drawn.json_value(), dtype=np.float64)


def expect_numbers(page: Page, key: str, wanted: NDArray[np.float32], name: str = "z") -> None:
    """Waits until the picture shows exactly these numbers."""
    for _ in range(40):
        shown = numbers(page, key, name)
        if shown.shape == wanted.shape and np.allclose(shown, wanted, atol=1e-5):
            return
        page.wait_for_timeout(250)
    np.testing.assert_allclose(numbers(page, key, name), wanted, atol=1e-5)


def test_the_pictures_show_the_formula_and_the_models_own_numbers(page: Page, app_url: str, copier: Translator) -> None:
    open_page(page, app_url, "positions", f"checkpoint=copy&letters={quote(LETTERS)}")
    expect_numbers(page, "encoding-heatmap", encoding_table(130, 64, 10_000.0))
    trace = copier.trace(LETTERS, decoding=PAGE_SEARCH)
    open_view(page, "Lengths")
    expect_numbers(page, "norms", np.array(input_norms(copier.checkpoint, trace.source_tokens)), "y")
    off = run_experiment(copier.checkpoint, trace, PositionChange("off"), PAGE_SEARCH)
    shuffled = run_experiment(copier.checkpoint, trace, PositionChange("off", shuffle=1), PAGE_SEARCH)
    open_view(page, "Word order")
    assert query_of(page)["view"] == "order"
    apart = numbers(page, "equivariance", "y")
    assert apart[0].min() > 0.1 and apart[1].max() < 1e-4
    assert np.abs(off.states[-1] - shuffled.states_put_back()[-1]).max() < 1e-4
    expect(page.get_by_text("the same vectors in another order")).to_be_visible()


def test_a_link_opens_the_same_experiment(page: Page, app_url: str, copier: Translator) -> None:
    query = f"checkpoint=copy&letters={quote(LETTERS)}&site=encoder_self&layer=2&head=3&change=shifted&shift=7"
    query += "&both=true&base=100&d_model=16&positions=21&dimensions=5&dimensions=2&measure=cosine"
    open_page(page, app_url, "positions", query)
    trace = copier.trace(LETTERS, decoding=PAGE_SEARCH)
    found = run_experiment(copier.checkpoint, trace, PositionChange("shifted", 7, decoder=True), PAGE_SEARCH)
    expect_numbers(page, "attention-before", trace.encoder_self.map(1, 2))
    expect_numbers(page, "attention-after", found.attention[1, 2])
    main = page.get_by_test_id("stMain")
    expect(main.get_by_text("Positions shifted by 7, in encoder and decoder", exact=True)).to_be_visible()
    expect(main.get_by_text(f"→ {found.text}", exact=True)).to_be_visible()
    before = query_of(page)
    assert before | {"change": "shifted", "shift": "7", "layer": "2", "head": "3", "base": "100"} == before
    page.reload(wait_until="domcontentloaded")
    expect_numbers(page, "attention-after", found.attention[1, 2])
    assert query_of(page) == before
    open_view(page, "Encoding")
    table = encoding_table(21, 16, 100.0)
    expect_numbers(page, "encoding-heatmap", table)
    expect_numbers(page, "encoding-curves", table[:, [5, 2]].T, "y")
    expect_numbers(page, "similarity-curve", (table @ table[0])[None] / 8, "y")


def test_the_keyboard_moves_the_base_and_the_link_follows(page: Page, app_url: str) -> None:
    open_page(page, app_url, "positions", f"checkpoint=copy&letters={quote(LETTERS)}&positions=11")
    expect_numbers(page, "encoding-heatmap", encoding_table(11, 64, 10_000.0))
    slider = page.locator(".st-key-base").get_by_role("slider")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect_numbers(page, "encoding-heatmap", encoding_table(11, 64, 3_000.0))
    assert query_of(page)["base"] == "3000"
    page.get_by_role("button", name="Back to the model's own").click()
    expect_numbers(page, "encoding-heatmap", encoding_table(130, 64, 10_000.0))
    assert not {"base", "d_model", "positions"} & query_of(page).keys()


def test_a_shuffled_map_can_be_put_back(page: Page, app_url: str, copier: Translator) -> None:
    open_page(page, app_url, "positions", f"checkpoint=copy&letters={quote(LETTERS)}&layer=1&head=2&view=experiment")
    page.get_by_role("radiogroup", name="Positions and words").get_by_text("shuffled", exact=True).click()
    trace = copier.trace(LETTERS, decoding=PAGE_SEARCH)
    found = run_experiment(copier.checkpoint, trace, PositionChange(shuffle=1), PAGE_SEARCH)
    expect_numbers(page, "attention-after", found.attention[0, 1])
    page.get_by_text("Show the map in the original order").click()
    expect_numbers(page, "attention-after", found.attention_put_back()[0, 1])
    assert query_of(page) | {"change": "shuffled", "back": "true"} == query_of(page)


def test_typed_markup_stays_text(page: Page, app_url: str) -> None:
    text = " and ".join(HOSTILE_TEXTS[name][0] for name in ("markup", "formula", "image", "right to left"))
    open_page(page, app_url, "positions", f"text={quote(text)}&change=shuffled&all=true")
    numbers(page, "attention-after")
    main = page.get_by_test_id("stMain")
    assert main.locator("img[src*='127.0.0.1:1']").count() == 0, "a typed image became an image"
    assert main.locator("b, strong, .katex").filter(has_text=re.compile("bold$|^x")).count() == 0
    assert main.get_by_test_id("stException").count() == 0


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_it_fits_the_screen_in_light_and_dark(
    page: Page, app_url: str, viewport: tuple[int, int], color_scheme: str
) -> None:
    open_page(page, app_url, "positions", f"checkpoint=copy&letters={quote(LETTERS)}")
    for view, keys in VIEWS.items():
        open_view(page, view)
        for key in keys:
            numbers(page, key, "z" if key in HEATMAPS else "y")
            plot = page.locator(f".st-key-{key} .js-plotly-plot")
            box = plot.bounding_box()
            assert box is not None and box["width"] > 250 and box["x"] + box["width"] <= viewport[0], key
            light_text = int(plot.evaluate("plot => plot._fullLayout.font.color")[1:3], 16) > 128
            assert light_text == (color_scheme == "dark"), "the figure's text must stand out from the page"
        wide = page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.querySelector('[data-testid=stMain]'))")
        assert wide <= 0, view
