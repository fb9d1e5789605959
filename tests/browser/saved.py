"""What a component's picture is once it is saved."""

from __future__ import annotations

from xml.etree import ElementTree

from playwright.sync_api import Locator, Page

SVG = "{http://www.w3.org/2000/svg}"


def saved_svg(page: Page, button: Locator) -> ElementTree.Element:
    """The SVG that the button saves."""
    with page.expect_download(timeout=30_000) as download:
        button.click()
    return ElementTree.parse(download.value.path()).getroot()


def saved_texts(page: Page, button: Locator) -> list[str]:
    """The texts of the SVG that the button saves, in the order in which they stand in it."""
    return [text.text or "" for text in saved_svg(page, button).iter(f"{SVG}text")]
