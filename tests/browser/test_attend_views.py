"""The views of the Attend page in the browser: lines, three sites, heads."""

from __future__ import annotations

import csv
import io
import re
from urllib.parse import quote

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Locator, Page, expect

from model_core.trace import TranslationTrace
from model_core.translator import Translator
from tests.browser.chromium import ROOT, wait_idle
from tests.browser.test_attend import SENTENCE, heatmap, open_attend
from tests.browser.visits import DESKTOP, PHONE, query_of
from tests.examples import HOSTILE_TEXTS, PAGE_SEARCH


@pytest.fixture(scope="module")
def trace() -> TranslationTrace:
    """What the page shows, computed beside it."""
    return Translator.load(ROOT / "checkpoints" / "en-fr").trace(SENTENCE, decoding=PAGE_SEARCH)


def open_lines(page: Page, url: str, query: str = "layer=2&head=mean", text: str = SENTENCE) -> None:
    open_attend(page, url, f"text={quote(text)}&view=Lines&site=cross&{query}")
    expect(page.locator(".head-view svg.lines")).to_be_visible(timeout=30_000)


def token(page: Page, side: str, index: int) -> Locator:
    return page.locator(f'[data-testid="head-token"][data-side="{side}"][data-index="{index}"]')


def beside(page: Page, side: str) -> list[str]:
    """The numbers beside one side's tokens."""
    return page.locator(f'[data-side="{side}"] [data-testid="head-weight"]').all_text_contents()


def downloaded_lines(page: Page) -> list[dict[str, str]]:
    with page.expect_download(timeout=30_000) as download:
        page.get_by_role("button", name="CSV of the lines shown").click()
    return list(csv.DictReader(io.StringIO(download.value.path().read_bytes().decode("utf-8-sig"))))


def strongest_lines(weights: NDArray[np.float32], share: float) -> set[tuple[int, int, int]]:
    """Head, query and key, from 1, of the strongest keys of each row that hold `share` of it."""
    found = set()
    for head, rows in enumerate(weights.astype(np.float64), start=1):
        for query, row in enumerate(rows, start=1):
            order = np.argsort(-row, kind="stable")
            needed = 1 + int(np.searchsorted(np.cumsum(row[order]), share * row.sum() - 1e-9))
            found |= {(head, query, int(key) + 1) for key in order[:needed]}
    return found


def test_a_token_that_is_pointed_at_says_the_models_weights(page: Page, app_url: str, trace: TranslationTrace) -> None:
    open_lines(page, app_url, "layer=2&head=3")
    weights = trace.cross.map(1, 2)
    token(page, "query", 1).hover()
    assert beside(page, "key") == [f"{weight:.2f}" for weight in weights[1]]
    expect(page.get_by_test_id("head-summary")).to_contain_text(f"{weights[1].max():.2f}")
    token(page, "key", 2).hover()
    assert beside(page, "query") == [f"{weight:.2f}" for weight in weights[:, 2]]
    assert beside(page, "key") == [""] * len(trace.source_tokens)
    page.get_by_test_id("head-square").nth(4).click()  # now the mean of two heads
    token(page, "query", 0).hover()
    mean = trace.cross.weights[1, [2, 4], 0].mean(axis=0)
    assert np.abs(np.array([float(text) for text in beside(page, "key")]) - mean).max() <= 0.005 + 1e-6


def test_the_threshold_keeps_the_strongest_lines_and_the_file_holds_them(
    page: Page, app_url: str, trace: TranslationTrace
) -> None:
    open_lines(page, app_url, "layer=4&head=mean&mass=60")
    weights = trace.cross.weights[3]
    wanted = strongest_lines(weights, 0.6)
    expect(page.get_by_test_id("head-count")).to_contain_text(f"showing {len(wanted)} of {weights.size} lines")
    rows = downloaded_lines(page)
    read = {(int(row["head"]), int(row["query"]), int(row["key"])): float(row["weight"]) for row in rows}
    assert set(read) == wanted and len(rows) == len(wanted)
    assert all(weights[head - 1, query - 1, key - 1] == np.float32(read[head, query, key]) for head, query, key in read)
    assert rows[0]["key token"] == trace.source_tokens[int(rows[0]["key"]) - 1].text
    page.get_by_label("Strongest lines that hold").press("End")
    expect(page.get_by_test_id("head-count")).to_contain_text(f"showing {weights.size} of {weights.size} lines")
    page.wait_for_url(re.compile("mass=100"), timeout=30_000)


def test_squares_switch_heads_and_a_pin_goes_into_the_link(page: Page, app_url: str, trace: TranslationTrace) -> None:
    open_lines(page, app_url)
    squares = page.get_by_test_id("head-square")
    expect(squares).to_have_count(trace.cross.heads)
    squares.nth(2).dblclick()
    expect(page.locator('[data-testid="head-square"][aria-pressed="true"]')).to_have_text(["3"])
    squares.nth(6).focus()
    page.keyboard.press("Enter")
    expect(page.locator('[data-testid="head-square"][aria-pressed="true"]')).to_have_text(["3", "7"])
    page.wait_for_url(re.compile("heads=3%2C7"), timeout=30_000)
    token(page, "query", 2).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(token(page, "key", 1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(token(page, "key", 1)).to_have_attribute("aria-selected", "true")
    page.wait_for_url(re.compile("pin=key"), timeout=30_000)
    wait_idle(page)
    assert query_of(page)["token"] == "2"
    expect(token(page, "key", 1)).to_be_focused()  # the run that heard of it built nothing anew
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile(r"^(?!.*pin=)"), timeout=30_000)


def test_a_full_link_opens_the_same_lines_again(page: Page, app_url: str, trace: TranslationTrace) -> None:
    open_lines(page, app_url, "layer=5&head=mean&heads=2,6&mass=75&step=3&pin=query")
    expect(token(page, "query", 2)).to_have_attribute("aria-selected", "true")
    expect(page.locator('[data-testid="head-square"][aria-pressed="true"]')).to_have_text(["2", "6"])
    expect(page.get_by_test_id("head-count")).to_contain_text("75 %")
    mean = trace.cross.weights[4, [1, 5], 2].mean(axis=0)
    assert np.abs(np.array([float(text) for text in beside(page, "key")]) - mean).max() <= 0.005 + 1e-6
    assert {(row["query"], row["head"]) for row in downloaded_lines(page)} == {("3", "2"), ("3", "6")}
    page.get_by_text("Heatmap", exact=True).click()
    np.testing.assert_allclose(heatmap(page), trace.cross.map(4, None), atol=1e-6)
    page.get_by_text("Lines", exact=True).click()  # and what was shown comes back
    expect(page.locator('[data-testid="head-square"][aria-pressed="true"]')).to_have_text(["2", "6"], timeout=30_000)


def test_pasted_text_stays_text_on_the_page_and_in_its_pictures(page: Page, app_url: str) -> None:
    open_lines(page, app_url, text=HOSTILE_TEXTS["markup"][0])
    labels = page.locator('[data-side="key"] .label').all_text_contents()
    assert (labels[0], labels[-1]) == ("<s>", "</s>") and "bold" in "".join(labels)
    assert page.locator(".head-view b, .head-view img").count() == 0
    files: dict[str, bytes] = {}
    for name in ("SVG", "PNG", "HTML"):
        with page.expect_download(timeout=30_000) as download:
            page.locator(".head-view").get_by_role("button", name=f"Save the lines as {name}").click()
        assert download.value.suggested_filename.endswith(f"-lines.{name.lower()}")
        files[name] = download.value.path().read_bytes()
    assert files["PNG"].startswith(b"\x89PNG")
    assert files["SVG"].startswith(b"<svg")
    assert files["HTML"].startswith(b"<!DOCTYPE html>") and files["SVG"] in files["HTML"]
    assert b"&lt;/s&gt;" in files["SVG"] and b"<b>" not in files["HTML"]


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_every_view_fits_the_screen(page: Page, app_url: str, viewport: tuple[int, int], color_scheme: str) -> None:
    open_lines(page, app_url, text="The animal didn't cross the street because it was too tired.")
    drawn = page.locator(".head-view svg path").count()
    assert drawn > 50
    texts = page.locator(".head-view svg text").evaluate_all(
        "all => all.map((t) => t.getBBox()).filter((b) => b.width).map((b) => [b.x, b.x + b.width])"
    )
    width = page.locator(".head-view svg").evaluate("svg => svg.clientWidth")
    assert min(left for left, _ in texts) >= -1 and max(right for _, right in texts) <= width + 1
    for view, figures in (("Three sites", 3), ("Heads", 1)):
        page.get_by_text(view, exact=True).click()
        expect(page.locator(".js-plotly-plot")).to_have_count(figures, timeout=60_000)
        wait_idle(page)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 0
        assert main.get_by_test_id("stException").count() == 0
