"""Takes the pictures in this folder: every page on a wide, light screen, from the running app in headless Chromium.

python -m docs.take_pictures [PAGE ...]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

from tests.browser.chromium import ARGUMENTS, ROOT, AppServer, find_chromium, wait_idle
from viz.navigation import ENTRIES

WIDTH, HEIGHT, TALLEST = 1280, 900, 1900
KATE = "Kate went to the bank after work yesterday and deposited a check there."
STATION = "Where is the station?"
LINKS: dict[str, dict[str, str]] = {
    "attend": {"text": KATE},
    "decode": {"text": STATION, "step": "3"},
    "masks": {"text": STATION},
    "positions": {"text": "The woman loves the man.", "change": "off"},
    "meaning": {},
    "inside": {"text": STATION, "stage": "4"},
    "learn": {},
}


def take(page: Page, url: str, name: str) -> Path:
    """Opens the page, gives it the height of its content (at most TALLEST pixels), and saves the picture."""
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.goto(f"{url}/{'' if name == 'attend' else name}?{urlencode(LINKS[name])}", wait_until="domcontentloaded")
    wait_idle(page)
    tall = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": WIDTH, "height": min(max(tall, HEIGHT), TALLEST)})
    page.wait_for_timeout(1500)  # charts follow the new size
    wait_idle(page)
    path = ROOT / "docs" / f"{name}-light-1280.png"
    page.screenshot(path=path)
    return path


def main(names: list[str]) -> None:
    """Takes the pictures of the named pages, or of all where none is named."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=list(ARGUMENTS), chromium_sandbox=False
        )
        page = browser.new_context(color_scheme="light", locale="en-GB").new_page()
        with AppServer(ROOT / "app.py", Path(folder) / "output.txt") as server:
            for entry in ENTRIES:
                if not names or entry.name in names:
                    print(take(page, server.url, entry.name).relative_to(ROOT))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
