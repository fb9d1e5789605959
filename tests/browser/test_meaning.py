"""The Meaning page as a person meets it: the story of a word, a link, a story one click away, odd things pasted."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, quote, urlparse

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model_core.experiments.meaning import encode_all, word_similarity
from model_core.text.words import find_word
from model_core.translator import Translator
from tests.browser.chromium import ROOT, wait_idle
from tests.browser.saved import saved_texts
from tests.browser.visits import DESKTOP, PHONE, open_page
from tests.examples import HOSTILE_TEXTS

PAIR = ("We won the match yesterday.", "I need a match to light the candle.")
LINK = f"sentences={quote(chr(10).join(PAIR))}&word=match&depth=4&layer=2&head=5"
LINE = """([plot, name]) => {
  const chart = document.querySelectorAll(".js-plotly-plot")[plot];
  const line = chart?.data?.find((trace) => trace.name === name);
  return line && Array.from(chart.calcdata[chart.data.indexOf(line)], (point) => point.y);
}"""


def line(page: Page, plot: int, name: str) -> list[float]:
    """The heights of a line as Plotly has drawn it."""
    return page.wait_for_function(LINE, arg=[plot, name], timeout=60_000).json_value()


def test_a_link_opens_the_numbers_of_the_model(page: Page, app_url: str) -> None:
    open_page(page, app_url, "meaning", LINK)
    encoded = encode_all(Translator.load(ROOT / "checkpoints" / "en-fr"), PAIR)
    spans = [span for one in encoded if (span := find_word(one.words, "match")) is not None]
    alike = word_similarity(encoded, spans).across[:, 0, 1]
    np.testing.assert_allclose(line(page, 0, "1 and 2"), alike, atol=1e-4)
    told = f"At layer 4 the vectors of “match” in sentences 1 and 2 have a cosine of {alike[4]:.2f}"
    expect(page.get_by_text(told).first).to_be_visible()
    expect(page.get_by_role("slider", name=re.compile("^Layer"))).to_have_value("4")
    marked = page.locator('[data-testid="tinted-token"][data-marked="true"] mark')
    assert marked.first.inner_text() == "match"
    query = parse_qs(urlparse(page.url).query)
    assert (query["word"], query["depth"], query["layer"], query["head"]) == (["match"], ["4"], ["2"], ["5"])
    assert query["sentences"] == ["\n".join(PAIR)]


def test_the_rows_of_words_can_be_taken_home(page: Page, app_url: str) -> None:
    """As they stand on the page: every piece, and its weight where the page writes one."""
    open_page(page, app_url, "meaning", LINK)
    (one,) = encode_all(Translator.load(ROOT / "checkpoints" / "en-fr"), PAIR[:1])
    card = saved_texts(page, page.get_by_label("Save sentence 1 as SVG"))
    assert card[: len(one.tokens) - 2] == [token.text for token in one.tokens[1:-1]]
    assert any(text.startswith("“match” → “") for text in card)
    looks = saved_texts(page, page.get_by_label("Save what the word looks at as SVG"))
    shown = page.locator('[role="list"][aria-label^="What match looks at"] small').all_inner_texts()
    assert shown and [text for text in looks if text in shown] == shown


def test_the_slider_moves_by_keys_and_the_link_follows(page: Page, app_url: str) -> None:
    open_page(page, app_url, "meaning", LINK)
    page.get_by_role("slider", name=re.compile("^Layer")).press("ArrowLeft")
    expect(page.get_by_text(re.compile("^At layer 3 the vectors of “match”")).first).to_be_visible(timeout=60_000)
    wait_idle(page)
    assert parse_qs(urlparse(page.url).query)["depth"] == ["3"]


def test_a_story_is_one_click_away(page: Page, app_url: str) -> None:
    open_page(page, app_url, "meaning", LINK)
    page.get_by_role("button", name="spring", exact=True).click()
    expect(page.get_by_text(re.compile("^“spring” becomes “"))).to_be_visible(timeout=120_000)
    expect(page.get_by_label(re.compile("^English sentences"))).to_have_value(re.compile("^In spring,"))
    wait_idle(page)
    assert len(line(page, 0, "2 and 3")) == 7


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_it_fits_and_something_is_drawn(page: Page, app_url: str, viewport: tuple[int, int], color_scheme: str) -> None:
    open_page(page, app_url, "meaning", LINK)
    assert len(line(page, 0, "unrelated words")) == 7
    assert page.locator(".js-plotly-plot").count() == 6
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth")
    outside = page.locator('[data-testid="tinted-token"]').evaluate_all(
        "tokens => tokens.filter((token) => token.getBoundingClientRect().right > innerWidth).length"
    )
    assert outside == 0
    background = page.locator(".js-plotly-plot .main-svg").first.evaluate(
        "svg => getComputedStyle(svg).backgroundColor"
    )
    assert background == ("rgb(251, 250, 247)" if color_scheme == "light" else "rgb(20, 24, 29)")


def test_what_is_pasted_stays_data(page: Page, app_url: str) -> None:
    pasted = [text for text, answer in HOSTILE_TEXTS.values() if answer is None][:5]
    open_page(page, app_url, "meaning", f"sentences={quote(chr(10).join([*pasted, 'bold x']))}&word=bold&depth=-7")
    main = page.get_by_test_id("stMain")
    expect(main.get_by_text(re.compile("^“bold” becomes"))).to_be_visible(timeout=60_000)
    assert main.locator("img[src*='127.0.0.1:1']").count() == 0, "a typed image became an image"
    assert main.locator("b, .katex").filter(has_text=re.compile("bold|x$")).count() == 0, "markup became markup"
    assert main.get_by_test_id("stException").count() == 0
