"""All pages together: one selection goes along, a link opens the same on each, the glossary is one click away."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import wait_idle
from tests.browser.visits import DESKTOP, PHONE, go_to, open_page, query_of
from viz.glossary import TERMS
from viz.navigation import ENTRIES, Entry

SHARED = {"text": "She opened the window.", "site": "cross", "layer": "2", "head": "3", "token": "4", "step": "3"}
QUERY = "text=She+opened+the+window.&site=cross&layer=2&head=3&token=4&step=3"
WITH_SENTENCE = ("Attend", "Decode", "Masks", "Positions", "Inside a head")


def test_the_selection_goes_along_to_every_page(page: Page, app_url: str) -> None:
    open_page(page, app_url, "attend", QUERY)
    for entry in (*ENTRIES[1:], ENTRIES[0]):
        go_to(page, entry.title)
        found = query_of(page)
        assert {name: found.get(name) for name in SHARED} == SHARED, entry.title
        if entry.title != "Learn":
            expect(page.get_by_role("radio", name="en-fr")).to_be_checked()
        if entry.title in WITH_SENTENCE:
            expect(page.get_by_label("English sentence", exact=True)).to_have_value(SHARED["text"])


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_link_opens_the_same_on_every_page(page: Page, app_url: str, entry: Entry) -> None:
    open_page(page, app_url, entry.name, QUERY)
    found = query_of(page)
    assert {name: found.get(name) for name in SHARED} == SHARED


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
