"""The map picker in a page: what it shows, how one chooses, what it sends.

How it packs and settles is tests/figures/test_map_picker.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from model_core.trace import Site
from tests.browser.chromium import AppServer, wait_idle
from tests.browser.visits import PHONE
from tests.small_traces import small_trace
from viz.components.map_picker.pack import LEVELS, pack_maps
from viz.theme import palette

SCRIPT = Path(__file__).with_name("map_picker_script.py")
TRACE = small_trace()
PAINTED: tuple[tuple[Site, int, int | None], ...] = (("cross", 1, 3), ("cross", 2, None), ("decoder_self", 0, 1))


@pytest.fixture(scope="module")
def app_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    with AppServer(SCRIPT, tmp_path_factory.mktemp("map_picker") / "output.txt") as server:
        yield server


@pytest.fixture
def picker(page: Page, app_url: str) -> Page:
    """The page once the small trace's thumbnails are painted."""
    page.goto(app_url)
    wait_idle(page)
    expect(page.get_by_role("gridcell").first).to_have_attribute("aria-label", re.compile("strongest"))
    return page


def cell(page: Page, layer: int, head: int | str) -> Locator:
    return page.locator(f'[data-testid="map-cell"][data-layer="{layer}"][data-head="{head}"]')


def chosen(page: Page) -> tuple[str, str, str]:
    """Site, layer and head as the page shows them chosen; exactly one of each."""
    tab = page.locator('[data-testid="map-site"][aria-selected="true"]')
    selected = page.locator('[data-testid="map-cell"][aria-selected="true"]')
    assert (tab.count(), selected.count()) == (1, 1)
    return tuple(  # type: ignore[return-value]
        at.get_attribute(name) or ""
        for at, name in ((tab, "data-site"), (selected, "data-layer"), (selected, "data-head"))
    )


def hears(page: Page, choice: str) -> None:
    """Waits until Python says that this is chosen."""
    expect(page.get_by_test_id("stText")).to_have_text(re.compile(f"^{choice};"), timeout=30_000)
    wait_idle(page)


def choose_trace(page: Page, name: str, cells: int) -> None:
    page.get_by_test_id("stRadio").get_by_text(name, exact=True).click()
    expect(page.get_by_test_id("map-cell")).to_have_count(cells, timeout=30_000)
    wait_idle(page)


def pixels(thumbnail: Locator) -> np.ndarray:
    """Red, green, blue, alpha `[height, width, 4]` of a cell's canvas."""
    size, values = thumbnail.locator("canvas").evaluate(
        "c => [c.width, Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data)]"
    )
    return np.array(values, dtype=np.uint8).reshape(size, size, 4)


def test_it_shows_all_layers_and_heads_and_what_the_caller_chose(picker: Page) -> None:
    assert picker.get_by_role("tab").all_inner_texts() == [
        "Encoder self-attention", "Decoder self-attention", "Cross-attention",
    ]  # fmt: skip
    assert picker.get_by_role("rowheader").all_inner_texts() == ["Layer 1", "Layer 2", "Layer 3"]
    assert picker.get_by_role("columnheader").all_inner_texts() == ["Head", "1", "2", "3", "4", "mean"]
    assert picker.get_by_test_id("map-cell").count() == 3 * (4 + 1)
    assert chosen(picker) == ("cross", "1", "2")
    assert picker.locator('[role="grid"] [tabindex="0"]').count() == 1


@pytest.mark.parametrize("head", [2, "mean"])
def test_a_cell_says_its_strongest_weight(picker: Page, head: int | str) -> None:
    weights = TRACE.cross.map(1, None if head == "mean" else int(head))
    query, key = np.unravel_index(weights.argmax(), weights.shape)
    name = "mean of 4 heads" if head == "mean" else "head 3"
    tokens = f"{TRACE.decoder_input_tokens[query].text} to {TRACE.source_tokens[key].text}"
    sentence = f"Layer 2, {name}: strongest weight {weights.max():.2f}, from {tokens}"
    assert cell(picker, 1, head).get_attribute("aria-label") == sentence
    cell(picker, 1, head).hover()
    expect(picker.locator(".caption")).to_have_text(sentence)


def test_the_caption_goes_back_to_the_chosen_map(picker: Page) -> None:
    cell(picker, 0, 0).hover()
    expect(picker.locator(".caption")).to_contain_text("Layer 1, head 1")
    picker.get_by_test_id("stText").hover()
    expect(picker.locator(".caption")).to_contain_text("Layer 2, head 3")


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_thumbnails_have_the_themes_colours_and_masked_cells_none(picker: Page, color_scheme: str) -> None:
    for site, layer, head in PAINTED:
        picker.locator(f'[data-site="{site}"]').click()
        painted = pixels(cell(picker, layer, "mean" if head is None else head))
        maps = TRACE.maps(site)
        for row, column in np.ndindex(maps.allowed.shape):
            places = [(at + 0.5) / size for at, size in zip((row, column), maps.allowed.shape, strict=True)]
            pixel = painted[int(places[0] * len(painted)), int(places[1] * len(painted))]
            if maps.allowed[row, column]:
                assert_colour(pixel, float(maps.map(layer, head)[row, column]), color_scheme == "dark", head is None)
            else:
                assert pixel[3] == 0


def assert_colour(pixel: np.ndarray, weight: float, dark: bool, mean: bool) -> None:
    """That an opaque pixel has the weight's colour. A mean is made of rounded roots: it may be on the next level."""
    level = round(LEVELS * weight**0.5)
    near = range(max(level - mean, 0), min(level + mean, LEVELS) + 1)
    colours = [bytes.fromhex(palette(dark).colour_at(at / LEVELS)[1:]) for at in near]
    assert pixel[3] == 255
    assert min(max(abs(a - int(b)) for a, b in zip(colour, pixel[:3], strict=True)) for colour in colours) <= 1


FRAMES = """
([cell, other]) => new Promise(done => {
  let frames = 0;
  const framed = at => getComputedStyle(at).outlineStyle === 'solid';
  const look = () => {
    frames += 1;
    if ((framed(cell) && !framed(other)) || frames > 20) done(frames); else requestAnimationFrame(look);
  };
  cell.click();
  requestAnimationFrame(look);
})
"""


def test_a_click_moves_the_frame_within_two_frames_and_then_tells_python(picker: Page) -> None:
    target, before = cell(picker, 2, 0).element_handle(), cell(picker, 1, 2).element_handle()
    assert picker.evaluate(FRAMES, [target, before]) <= 2
    assert chosen(picker) == ("cross", "2", "0")
    hears(picker, "cross 2 0")
    assert chosen(picker) == ("cross", "2", "0")


def test_the_mean_can_be_chosen(picker: Page) -> None:
    cell(picker, 0, "mean").click()
    hears(picker, "cross 0 None")


def test_a_choice_reruns_the_fragment_only(picker: Page) -> None:
    cell(picker, 0, 1).click()
    hears(picker, "cross 0 1")
    assert picker.get_by_test_id("stText").inner_text() == "cross 0 1; page runs: 1"


def test_arrow_keys_move_the_choice_and_the_focus(picker: Page) -> None:
    cell(picker, 1, 2).focus()
    across = (("Right", "3"), ("Right", "mean"), ("Right", "mean"), ("Left", "3"))
    for key, place in (*((f"Arrow{way}", place) for way, place in across), ("Home", "0"), ("End", "mean")):
        picker.keyboard.press(key)
        assert chosen(picker) == ("cross", "1", place)
    picker.keyboard.press("ArrowLeft")
    for key, layer in (("ArrowUp", "0"), ("ArrowUp", "0"), ("ArrowDown", "1"), ("ArrowDown", "2"), ("ArrowDown", "2")):
        picker.keyboard.press(key)
        assert chosen(picker) == ("cross", layer, "3")
    expect(cell(picker, 2, 3)).to_be_focused()
    hears(picker, "cross 2 3")


def test_a_site_keeps_layer_and_head_where_it_has_them(picker: Page) -> None:
    cell(picker, 2, 3).click()
    picker.get_by_role("tab", name="Encoder").click()
    assert picker.get_by_test_id("map-cell").count() == 2 * (5 + 1)
    assert chosen(picker) == ("encoder_self", "1", "3")
    hears(picker, "encoder_self 1 3")
    picker.keyboard.press("ArrowLeft")
    expect(picker.get_by_role("tab", name="Cross")).to_be_focused()
    hears(picker, "cross 1 3")


def test_the_last_of_many_quick_clicks_is_the_choice(picker: Page) -> None:
    for layer, head in ((0, 0), (2, 3), (0, 1), (2, 2), (1, 0), (0, 3)):
        cell(picker, layer, head).evaluate("cell => cell.click()")
    assert chosen(picker) == ("cross", "0", "3")
    hears(picker, "cross 0 3")
    assert chosen(picker) == ("cross", "0", "3")


def test_it_follows_a_caller_that_asks_for_another_map(picker: Page) -> None:
    for site in ("cross", "encoder_self"):
        cell(picker, 0, 3).click()
        hears(picker, f"{site} 0 3")
        picker.get_by_role("button", name="Ask for encoder").click()
        hears(picker, "encoder_self 0 None")
        assert chosen(picker) == ("encoder_self", "0", "mean")
    cell(picker, 1, 4).click()
    hears(picker, "encoder_self 1 4")


def test_another_trace_is_shown_with_the_choice_that_it_has(picker: Page) -> None:
    cell(picker, 2, 3).click()
    hears(picker, "cross 2 3")
    choose_trace(picker, "one layer", 1 * (2 + 1))
    assert chosen(picker) == ("cross", "0", "mean")
    weights = small_trace(decoder=(1, 2), seed=1).cross.map(0, 1)
    expect(cell(picker, 0, 1)).to_have_attribute("aria-label", re.compile(f"strongest weight {weights.max():.2f}"))


def test_a_picker_that_was_away_comes_back_as_it_was(picker: Page) -> None:
    cell(picker, 2, 0).click()
    hears(picker, "cross 2 0")
    for count in (0, 15):
        picker.get_by_text("shown").click()
        wait_idle(picker)
        expect(picker.get_by_test_id("map-cell")).to_have_count(count)
    hears(picker, "cross 2 0")
    assert chosen(picker) == ("cross", "2", "0")


def test_a_choice_does_not_send_the_maps_again(page: Page, app_url: str) -> None:
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda payload: received.append(len(payload))))
    page.goto(app_url)
    wait_idle(page)
    choose_trace(page, "long", 6 * 9)
    long = ["<s>", *(f"piece{i}" for i in range(64)), "</s>"]
    size = len(pack_maps(small_trace(long, long[:-1], encoder=(6, 8), decoder=(6, 8))))
    assert max(received) > size > 100_000
    received.clear()
    for head in range(5):
        cell(page, 2, head).click()
        hears(page, f"cross 2 {head}")
    assert received and sum(received) < size / 4


def test_tokens_are_text(picker: Page) -> None:
    choose_trace(picker, "nasty", 3 * 5)
    texts = set()
    for at in picker.get_by_test_id("map-cell").all():
        at.hover()
        caption = picker.locator(".caption")
        expect(caption).to_have_text(at.get_attribute("aria-label") or "")
        texts.update(caption.locator("bdi").all_inner_texts())
        assert caption.locator("b, img, script, em, strong").count() == 0
    assert texts & {"<b>bold</b>", "<img src=x onerror=alert(1)>", "&amp;", "$x^2$", "**", "שלום", "你好"}


@pytest.mark.parametrize("viewport", [PHONE])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_eight_heads_fit_a_phone(picker: Page, color_scheme: str) -> None:
    choose_trace(picker, "long", 6 * 9)
    assert picker.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    boxes = [at.bounding_box() for at in picker.get_by_test_id("map-cell").all()]
    assert all(box and box["width"] >= 32 and box["x"] >= 0 and box["x"] + box["width"] <= PHONE[0] for box in boxes)
    assert picker.get_by_role("tab").all_inner_texts() == ["Encoder self", "Decoder self", "Cross"]
