"""The Attend page as a person meets it: typing, choosing, sharing a link, taking files home, pasting odd things."""

from __future__ import annotations

import csv
import io
import re
from urllib.parse import quote

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, expect

from model_core.trace import TranslationTrace
from model_core.trace.view import hide_special, merge_words, view_map
from model_core.translator import Translator
from tests.browser.chromium import ROOT, PageGuard, wait_idle
from tests.browser.plots import Z_OF_HEATMAP
from tests.browser.saved import SVG, saved_svg
from tests.browser.visits import DESKTOP, PHONE, expect_query, open_page, query_of
from tests.examples import HOSTILE_TEXTS, PAGE_SEARCH

SENTENCE = "Where is the station?"


@pytest.fixture(scope="module")
def translator() -> Translator:
    """The shipped checkpoint, beside the server's own."""
    return Translator.load(ROOT / "checkpoints" / "en-fr")


def open_attend(page: Page, url: str, query: str = "") -> None:
    open_page(page, url, "attend", query, until=None)  # some links have nothing to show


def type_sentence(page: Page, text: str) -> None:
    """Types into the text box, leaves it with Enter, and waits until the page has answered."""
    box = page.get_by_label("English sentence")
    box.fill(text)
    box.press("Enter")
    expect_query(page, "text", box.input_value())
    wait_idle(page)


def heatmap(page: Page) -> NDArray[np.float64]:
    """The numbers in the Plotly heatmap, once it is drawn; masked cells are NaN."""
    find = "const plot = document.querySelector('.js-plotly-plot')"
    drawn = f"() => {{ {find}; return plot?.data && ({Z_OF_HEATMAP})(plot) }}"
    rows = page.wait_for_function(drawn, timeout=60_000).json_value()
    return np.array([[np.nan if z is None else z for z in row] for row in rows], dtype=np.float64)


def expect_map(page: Page, wanted: NDArray[np.float32]) -> None:
    """Waits until the heatmap shows exactly these weights."""
    for _ in range(40):
        shown = heatmap(page)
        if shown.shape == wanted.shape and np.allclose(np.nan_to_num(shown), wanted, atol=1e-6):
            return
        page.wait_for_timeout(250)
    np.testing.assert_allclose(np.nan_to_num(heatmap(page)), wanted, atol=1e-6)


def cell(page: Page, layer: int, head: int | str):
    return page.locator(f'[data-testid="map-cell"][data-layer="{layer}"][data-head="{head}"]')


def test_the_page_shows_the_numbers_of_the_trace(page: Page, app_url: str, translator: Translator) -> None:
    open_attend(page, app_url)
    type_sentence(page, SENTENCE)
    trace = translator.trace(SENTENCE, decoding=PAGE_SEARCH)
    expect(page.get_by_text(trace.target_text, exact=True)).to_be_visible()
    for layer, head in ((1, 2), (5, 7), (0, 0)):
        cell(page, layer, head).click()
        expect(cell(page, layer, head)).to_have_attribute("aria-selected", "true")
        expect_map(page, trace.cross.map(layer, head))
        assert query_of(page) | {"site": "cross", "layer": str(layer + 1), "head": str(head + 1)} == query_of(page)
    chips = page.locator('[data-testid="chip"]')
    expect(chips).to_have_count(len(trace.source_tokens) + len(trace.predicted_tokens))
    assert chips.nth(1).locator("bdi").inner_text() == trace.source_tokens[1].text


def test_a_link_opens_the_same_view(page: Page, app_url: str, translator: Translator) -> None:
    query = f"text={quote(SENTENCE)}&site=encoder_self&layer=3&head=mean&words=true&hide=true&scale=root&range=fitted"
    open_attend(page, app_url, query)
    view = view_map(translator.trace(SENTENCE, decoding=PAGE_SEARCH), "encoder_self", 2, None)
    expect_map(page, merge_words(hide_special(view)).weights)
    expect(page.get_by_text("Encoder self-attention, layer 3, mean over heads", exact=True)).to_be_visible()
    expect(page.get_by_text("rows no longer sum to 1", exact=False)).to_be_visible()
    colours = page.locator(".js-plotly-plot").evaluate(
        "plot => (t => [t.zmax, t.colorbar.title.text])(plot.data.find((trace) => trace.type === 'heatmap'))"
    )
    assert colours[0] == pytest.approx(merge_words(hide_special(view)).weights.max(), abs=1e-6)
    assert colours[1] == "weight (colour: square root, fitted)"
    before = query_of(page)
    page.reload(wait_until="domcontentloaded")
    expect_map(page, merge_words(hide_special(view)).weights)
    assert query_of(page) == before


def test_a_link_with_nonsense_opens_the_default_view(page: Page, app_url: str, translator: Translator) -> None:
    open_attend(page, app_url, f"text={quote(SENTENCE)}&site=../../etc&layer=99&head=-3&scale=x&checkpoint=../copy")
    trace = translator.trace(SENTENCE, decoding=PAGE_SEARCH)
    expect_map(page, trace.cross.map(2, None))


def test_the_front_page_leads_to_the_story_of_bank(page: Page, app_url: str) -> None:
    page.goto(app_url, wait_until="domcontentloaded")
    page.get_by_role("link", name="the story of “bank”").click()
    expect(page.get_by_role("heading", name="Meaning", exact=True)).to_be_visible(timeout=60_000)


def test_an_example_is_one_click_away(page: Page, app_url: str) -> None:
    open_attend(page, app_url)
    page.get_by_role("button", name="I don't speak French.").click()
    expect(page.get_by_label("English sentence")).to_have_value("I don't speak French.")
    expect(page.get_by_text("Je ne parle pas français.", exact=True)).to_be_visible(timeout=30_000)
    assert query_of(page)["text"] == "I don't speak French."


def test_files_hold_what_the_page_shows(page: Page, app_url: str, translator: Translator) -> None:
    open_attend(page, app_url, f"text={quote(SENTENCE)}&site=cross&layer=2&head=4")
    trace = translator.trace(SENTENCE, decoding=PAGE_SEARCH)
    expect_map(page, trace.cross.map(1, 3))
    page.get_by_role("button", name="Download", exact=True).click()
    files: dict[str, bytes] = {}
    for name in ("This map as CSV", "This figure as HTML", "The whole trace"):
        with page.expect_download(timeout=60_000) as download:
            page.get_by_role("button", name=name).click()
        files[name] = download.value.path().read_bytes()
    rows = list(csv.reader(io.StringIO(files["This map as CSV"].decode("utf-8-sig"))))
    numbers = np.array(
        [[float(value) for value in row[-len(trace.source_tokens) :]] for row in rows[-len(trace.predicted_tokens) :]]
    )
    np.testing.assert_allclose(numbers, trace.cross.map(1, 3), atol=1e-7)
    loaded = TranslationTrace.from_bytes(files["The whole trace"])
    np.testing.assert_array_equal(loaded.cross.weights.shape, trace.cross.weights.shape)
    np.testing.assert_allclose(loaded.cross.weights, trace.cross.weights, atol=1e-6)
    html = files["This figure as HTML"].decode()
    assert len(html) > 1_000_000 and "<script src=" not in html, "plotly.js has to be inside the file"


def test_a_saved_trace_opens_again(page: Page, app_url: str, translator: Translator) -> None:
    trace = translator.trace("The cat sleeps.", target="Le chat dort.")
    open_attend(page, app_url, "site=cross&layer=1&head=1")
    page.get_by_role("button", name="Open a trace").click()
    upload = page.locator('input[type="file"]')
    upload.set_input_files(
        {"name": "cat.safetensors", "mimeType": "application/octet-stream", "buffer": trace.to_bytes()}
    )
    expect(page.get_by_text("Le chat dort.", exact=True)).to_be_visible(timeout=30_000)
    expect_map(page, trace.cross.map(0, 0))
    page.get_by_role("button", name="Close this trace").click()
    expect(page.get_by_label("English sentence")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("Le chat dort.", exact=True)).to_have_count(0)


def test_a_damaged_trace_is_refused_in_a_sentence(page: Page, app_url: str, translator: Translator) -> None:
    data = bytearray(translator.trace("The cat sleeps.").to_bytes())
    data[-100] ^= 1
    open_attend(page, app_url)
    page.get_by_role("button", name="Open a trace").click()
    page.locator('input[type="file"]').set_input_files(
        {"name": "cat.safetensors", "mimeType": "application/octet-stream", "buffer": bytes(data)}
    )
    expect(page.get_by_text(re.compile("^The uploaded file"))).to_be_visible(timeout=30_000)
    expect(page.locator(".js-plotly-plot")).to_be_visible()


def test_the_copy_checkpoint_copies(page: Page, app_url: str) -> None:
    open_attend(page, app_url, "checkpoint=copy")
    box = page.get_by_label("Letters to copy")
    box.fill("b a d c a f e")
    box.press("Enter")
    expect(page.get_by_test_id("stMain").get_by_text("b a d c a f e", exact=True).first).to_be_visible(timeout=30_000)
    box.fill("b z")
    box.press("Enter")
    expect(page.get_by_text(re.compile("does not know 'z'"))).to_be_visible(timeout=30_000)


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_whatever_is_pasted_is_answered(page: Page, app_url: str, guard: PageGuard, name: str) -> None:
    text, answer = HOSTILE_TEXTS[name]
    open_attend(page, app_url)
    type_sentence(page, text)
    main = page.get_by_test_id("stMain")
    if answer is not None:
        expect(main.get_by_text(re.compile(answer)).first).to_be_visible(timeout=60_000)
    else:
        heatmap(page)
        expect(page.locator('[data-testid="chip"]').first).to_be_visible()
    assert main.locator("img[src*='127.0.0.1:1']").count() == 0, "a typed image became an image"
    assert main.locator("b").filter(has_text="bold").count() == 0, "typed markup became markup"
    formulas = main.locator(".katex").count() - main.get_by_test_id("stExpander").locator(".katex").count()
    assert formulas == 0, "a typed formula became a formula"
    assert main.get_by_test_id("stException").count() == 0


def test_other_sessions_are_served_after_odd_input(page: Page, app_url: str, browser: Browser) -> None:
    open_attend(page, app_url)
    type_sentence(page, "x " * 5000)
    other = browser.new_context().new_page()
    try:
        open_attend(other, app_url, f"text={quote(SENTENCE)}")
        assert heatmap(other).shape[1] > 3
    finally:
        other.context.close()


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_it_fits_the_screen_in_light_and_dark(
    page: Page, app_url: str, viewport: tuple[int, int], color_scheme: str
) -> None:
    open_attend(page, app_url, f"text={quote(SENTENCE)}")
    heatmap(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport[0]
    wide = page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.querySelector('[data-testid=stMain]'))")
    assert wide <= 0
    background = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    brightness = sum(int(part) for part in re.findall(r"\d+", background)[:3]) / 3
    assert (brightness < 80) == (color_scheme == "dark")
    font = page.locator(".js-plotly-plot").evaluate("plot => plot._fullLayout.font.color")
    light_text = int(font[1:3], 16) > 128
    assert light_text == (color_scheme == "dark"), "the figure's text must stand out from the page"


def test_all_maps_can_be_taken_home(page: Page, app_url: str) -> None:
    """The thumbnails as one picture: the layers down, the heads and their mean across, each map an image."""
    open_attend(page, app_url, f"text={quote(SENTENCE)}&site=cross")
    saved = saved_svg(page, page.get_by_label("Save all maps as SVG"))
    heads = ["Head", *map(str, range(1, 9)), "mean"]
    assert [text.text for text in saved.iter(f"{SVG}text")] == [*heads, *(f"Layer {n}" for n in range(1, 7))]
    maps = [image.attrib for image in saved.iter(f"{SVG}image")]
    assert len(maps) == 6 * 9 and len({image["href"] for image in maps}) == len(maps)
    assert len({image["x"] for image in maps}) == 9 and len({image["y"] for image in maps}) == 6


def test_the_camera_saves_svg_when_asked(page: Page, app_url: str) -> None:
    open_attend(page, app_url, f"text={quote(SENTENCE)}")
    page.get_by_role("button", name="View").click()
    page.get_by_role("radio", name="SVG").click()
    wait_idle(page)
    page.keyboard.press("Escape")
    page.locator(".js-plotly-plot").hover()
    with page.expect_download(timeout=30_000) as download:
        page.locator(".modebar-btn[data-title*='ownload']").first.click()
    assert download.value.suggested_filename.endswith(".svg")
    assert download.value.path().read_bytes().lstrip().startswith(b"<svg")
