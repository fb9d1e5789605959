"""Going to pages and waiting for them, for browser tests and the soak."""

from __future__ import annotations

from urllib.parse import parse_qs, urlparse

from playwright.sync_api import Page, expect

from tests.browser.chromium import wait_idle
from viz.navigation import ENTRIES

PHONE, DESKTOP = (390, 844), (1280, 900)
HEADINGS = {entry.title: "Regard" if entry == ENTRIES[0] else entry.title for entry in ENTRIES}
"""The first page is headed by the app's name, the others by their own."""
ABOUT = "About this picture"  # stands at the end of every page that has something to show
IN_THE_LINK = "([name, value]) => new URLSearchParams(location.search).get(name) === value"


def open_page(page: Page, url: str, name: str, query: str = "", *, until: str | None = ABOUT) -> None:
    """Opens a page by a link and waits until it is drawn: heading, the text `until`, and nothing running."""
    title = next(entry.title for entry in ENTRIES if entry.name == name)
    page.goto(f"{url}/{'' if name == ENTRIES[0].name else name}?{query}", wait_until="domcontentloaded")
    expect(page.get_by_role("heading", level=1, name=HEADINGS[title], exact=True)).to_be_visible(timeout=60_000)
    if until is not None:
        expect(page.get_by_text(until).first).to_be_visible(timeout=120_000)
    wait_idle(page)


def go_to(page: Page, title: str) -> None:
    """Goes to another page by the bar, and waits for it: the page before it stands until the server answers."""
    page.locator(".st-key-navigation").get_by_role("link", name=title).click()
    expect(page.get_by_role("heading", level=1, name=HEADINGS[title], exact=True)).to_be_visible(timeout=60_000)
    wait_idle(page)


def query_of(page: Page) -> dict[str, str]:
    """The names and values in the page's link, as they are now."""
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


def expect_query(page: Page, name: str, value: str) -> None:
    """Waits until the link holds this value under the name."""
    page.wait_for_function(IN_THE_LINK, arg=[name, value], timeout=60_000)
