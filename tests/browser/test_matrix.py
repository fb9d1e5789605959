"""The matrix in a page: what it paints, how a cell is chosen, what it saves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.chromium import AppServer, wait_idle
from tests.browser.matrix_script import NASTY, numbers
from tests.browser.visits import DESKTOP, PHONE
from viz.theme import LIGHT

SCRIPT = Path(__file__).with_name("matrix_script.py")


@pytest.fixture(scope="module")
def app_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    with AppServer(SCRIPT, tmp_path_factory.mktemp("matrix") / "output.txt") as server:
        yield server


@pytest.fixture
def opened(page: Page, app_url: str) -> Page:
    page.goto(app_url)
    wait_idle(page)
    expect(page.get_by_test_id("matrix")).to_have_count(5)
    expect(matrix(page, "W_Q").get_by_role("status")).to_have_text("256 × 32")
    return page


def matrix(page: Page, name: str) -> Locator:
    return page.locator(f'[data-testid="matrix"][data-name="{name}"]')


def told(page: Page, name: str) -> str:
    return matrix(page, name).get_by_role("status").inner_text()


def value_told(page: Page, name: str) -> float:
    return float(told(page, name).rpartition(": ")[2].replace("−", "-"))


def focus(page: Page, name: str) -> None:
    """With the keyboard's focus, which shows where it is."""
    matrix(page, name).get_by_role("application").focus()
    page.keyboard.press("Home")


def test_the_keyboard_reads_and_chooses_cells(opened: Page) -> None:
    scores = numbers(5, 7)
    focus(opened, "Scores")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp"):
        opened.keyboard.press(key)
    assert value_told(opened, "Scores") == pytest.approx(scores[1, 1], rel=1e-5)
    assert f"row 2 {NASTY[1]}, column 2 {NASTY[1]}" in told(opened, "Scores")
    opened.keyboard.press("Enter")
    expect(opened.get_by_test_id("stText")).to_have_text("chosen (1, 1); picks [(1, 1)]")
    opened.keyboard.press("Enter")
    expect(opened.get_by_test_id("stText")).to_have_text("chosen (1, 1); picks [(1, 1), (1, 1)]")
    opened.keyboard.press("End")
    assert value_told(opened, "Scores") == pytest.approx(scores[1, 6], rel=1e-5)


def test_a_masked_cell_says_so_and_the_script_may_overrule(opened: Page) -> None:
    focus(opened, "Scores")
    opened.keyboard.press("End")
    assert told(opened, "Scores").endswith(": −∞ (masked)")
    opened.keyboard.press("Enter")
    expect(opened.get_by_test_id("stText")).to_have_text(re.compile(r"^chosen \(0, 6\)"))
    opened.get_by_role("button", name="Ask for row 3").click()
    expect(matrix(opened, "Scores")).to_have_attribute("data-row", "2")
    expect(matrix(opened, "Scores")).to_have_attribute("data-column", "1")


def test_a_click_finds_the_cell_under_it(opened: Page) -> None:
    values = numbers(256, 32)
    canvas = matrix(opened, "W_Q").locator("canvas")
    canvas.scroll_into_view_if_needed()
    size = canvas.bounding_box()
    assert size is not None
    canvas.click(position={"x": size["width"] * 0.4, "y": 100})
    row, column = (int(matrix(opened, "W_Q").get_attribute(f"data-{name}") or -1) for name in ("row", "column"))
    assert value_told(opened, "W_Q") == pytest.approx(values[row, column], rel=1e-5)
    wide = numbers(9, 256)
    low, high = (float(matrix(opened, "X").get_attribute(f"data-{name}") or 0) for name in ("low", "high"))
    assert (low, high) == pytest.approx((-abs(wide).max(), abs(wide).max()))


def test_each_cell_has_the_colour_of_its_value(opened: Page) -> None:
    values = numbers(1, 32)[0]
    pixels = (
        matrix(opened, "A row")
        .locator("canvas")
        .evaluate(
            "c => Array.from({ length: 32 }, (_, i) => Array.from(c.getContext('2d')"
            ".getImageData(Math.floor((i + 0.5) * c.width / 32), 6, 1, 1).data.slice(0, 3)))"
        )
    )
    stops = np.array([[*bytes.fromhex(colour[1:])] for colour in LIGHT.diverging])
    places = (np.clip(values, -2, 2) + 2) / 4 * (len(stops) - 1)
    wanted = np.stack([np.interp(places, np.arange(len(stops)), stops[:, part]) for part in range(3)], axis=1)
    np.testing.assert_allclose(pixels, wanted, atol=4)  # of 255: the page has 256 levels


def test_labels_are_text_and_the_main_number_is_said(opened: Page) -> None:
    assert opened.get_by_test_id("stMain").locator("img").count() == 0
    name = matrix(opened, "A column").get_by_role("application").get_attribute("aria-label") or ""
    values = abs(numbers(11, 1))
    assert f"A column: 11 x 1; the largest value is {values.max():.4g}, at row {values.argmax() + 1}" in name


@pytest.mark.parametrize(
    ("ending", "first"),
    [("png", b"\x89PNG"), ("svg", b"<svg"), ("html", b"<!DOCTYPE html>")],
    ids=["png", "svg", "html"],
)
def test_the_picture_is_saved_under_the_matrix_s_name(opened: Page, ending: str, first: bytes) -> None:
    with opened.expect_download() as download:
        matrix(opened, "A row").get_by_role("button", name=f"Save A row as {ending.upper()}").click()
    assert download.value.suggested_filename == f"regard-a-row.{ending}"
    saved = download.value.path().read_bytes()
    assert saved.startswith(first)
    assert len(saved) > 1000  # not an empty picture
    assert ending == "png" or b"data:image/png;base64," in saved


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_every_shape_fits_its_width_and_numbers_stand_out(opened: Page, viewport: tuple[int, int]) -> None:
    assert opened.evaluate("document.documentElement.scrollWidth") <= viewport[0]
    for name in ("Scores", "X", "A row", "A column", "W_Q"):
        canvas, room = matrix(opened, name).locator("canvas").bounding_box(), matrix(opened, name).bounding_box()
        assert canvas is not None and room is not None
        assert canvas["width"] <= room["width"] + 0.5 and canvas["height"] > 30
        painted = np.array(
            matrix(opened, name)
            .locator("canvas")
            .evaluate("c => Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data)")
        ).reshape(-1, 4)
        assert len(np.unique(painted[painted[:, 3] == 255], axis=0)) >= 8
