"""All pages together: one selection goes along, a link opens the same on each, the glossary is one click away."""

from __future__ import annotations

from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import wait_idle
from viz.glossary import TERMS
from viz.navigation import ENTRIES, Entry

SHARED = {"text": "She opened the window.", "site": "cross", "layer": "2", "head": "3", "token": "4", "step": "3"}
QUERY = "text=She+opened+the+window.&site=cross&layer=2&head=3&token=4&step=3"
WITH_SENTENCE = ("Attend", "Decode", "Masks", "Positions", "Inside a head")
PHONE, DESKTOP = (390, 844), (1280, 900)


def query_of(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


def go_to(page: Page, title: str) -> None:
    page.locator(".st-key-navigation").get_by_role("link", name=title).click()
    page.wait_for_timeout(300)
    wait_idle(page)


def test_the_selection_goes_along_to_every_page(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?{QUERY}", wait_until="domcontentloaded")
    wait_idle(page)
    for entry in (*ENTRIES[1:], ENTRIES[0]):
        go_to(page, entry.title)
        heading = "Regard" if entry.name == "attend" else entry.title
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        found = query_of(page)
        assert {name: found.get(name) for name in SHARED} == SHARED, entry.title
        if entry.title in WITH_SENTENCE:
            expect(page.get_by_label("English sentence", exact=True)).to_have_value(SHARED["text"])


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_link_opens_the_same_on_every_page(page: Page, app_url: str, entry: Entry) -> None:
    page.goto(f"{app_url}/{'' if entry.name == 'attend' else entry.name}?{QUERY}", wait_until="domcontentloaded")
    wait_idle(page)
    found = query_of(page)
    assert {name: found.get(name) for name in SHARED} == SHARED
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_the_glossary_is_one_click_away(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/learn", wait_until="domcontentloaded")
    wait_idle(page)
    page.get_by_role("button", name="Glossary").click()
    window = page.get_by_role("dialog")
    expect(window).to_contain_text(TERMS["Query"])
    expect(window).to_contain_text("</s>")
    window.get_by_label("Find").fill("softmax")
    window.get_by_label("Find").press("Enter")
    expect(window).not_to_contain_text(TERMS["Padding"])
    expect(window).to_contain_text(TERMS["Softmax"])


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
def test_the_bar_fits_the_page(page: Page, app_url: str, viewport: tuple[int, int]) -> None:
    page.goto(app_url, wait_until="domcontentloaded")
    wait_idle(page)
    for entry in ENTRIES:
        box = page.locator(".st-key-navigation").get_by_role("link", name=entry.title).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= viewport[0], entry.title
