"""The browser tests' own footing, on a small script: a server that starts, a page that waits, a guard that barks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.chromium import AppServer, ChromiumMissing, PageGuard, find_chromium, wait_idle
from tests.browser.visits import DESKTOP, PHONE

SCRIPT = """
import time
import streamlit as st

clicks = st.session_state.setdefault("clicks", 0)
if st.button("Count"):
    time.sleep(0.7)
    st.session_state.clicks += 1
st.text(f"clicks: {st.session_state.clicks}")
if st.button("Break"):
    raise RuntimeError("secret of the server")
"""
OUTSIDE = "http://regard.invalid/picture.png"
ANOTHER_PORT = "http://127.0.0.1:1/picture.png"


@pytest.fixture(scope="module")
def app_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    folder = tmp_path_factory.mktemp("frame")
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    with AppServer(folder / "script.py", folder / "output.txt") as server:
        yield server


def background(page: Page) -> tuple[int, ...]:
    """Red, green and blue, 0 to 255, of the app's background."""
    color = page.evaluate("() => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    return tuple(map(int, color.removeprefix("rgb(").removesuffix(")").split(",")))


def test_waiting_for_idle_covers_a_slow_run(page: Page, app_url: str) -> None:
    page.goto(app_url)
    wait_idle(page)
    for clicks in (1, 2, 3):
        page.get_by_role("button", name="Count").click()
        wait_idle(page)
        assert page.get_by_test_id("stText").inner_text() == f"clicks: {clicks}"


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_the_theme_follows_the_browser(page: Page, app_url: str, color_scheme: str) -> None:
    page.goto(app_url)
    wait_idle(page)
    darkest, lightest = min(background(page)), max(background(page))
    assert lightest < 64 if color_scheme == "dark" else darkest > 224


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
def test_the_viewport_is_the_one_asked_for(page: Page, app_url: str, viewport: tuple[int, int]) -> None:
    page.goto(app_url)
    assert page.evaluate("() => [innerWidth, innerHeight]") == list(viewport)


def test_the_configuration_holds_no_unknown_option(page: Page, app_url: str, app_server: AppServer) -> None:
    page.goto(app_url)
    wait_idle(page)
    assert "not a valid config option" not in app_server.log()
    assert "External URL" not in app_server.log()


def test_an_error_shows_no_detail_in_the_page(page: Page, app_url: str, app_server: AppServer) -> None:
    page.goto(app_url)
    wait_idle(page)
    page.get_by_role("button", name="Break").click()
    wait_idle(page)
    assert page.get_by_test_id("stException").count() == 1
    assert not any(word in page.content() for word in ("secret", "Traceback", "RuntimeError", "script.py"))
    assert "secret of the server" in app_server.log()


@pytest.mark.parametrize("url", [OUTSIDE, ANOTHER_PORT])
def test_the_guard_notes_a_picture_from_elsewhere(page: Page, app_url: str, guard: PageGuard, url: str) -> None:
    page.goto(app_url)
    wait_idle(page)
    assert guard.problems() == ""
    page.evaluate("url => new Promise(done => { const i = new Image(); i.onerror = done; i.src = url; })", url)
    assert guard.outside == [url]
    assert url in guard.problems()
    guard.outside.clear()


def test_the_guard_notes_a_socket_to_elsewhere(page: Page, app_url: str, guard: PageGuard) -> None:
    page.goto(app_url)
    url = "ws://127.0.0.1:1/socket"
    page.evaluate("url => new Promise(done => { new WebSocket(url).onerror = done; })", url)
    assert guard.outside == [url]
    guard.outside.clear()


def test_the_guard_notes_an_uncaught_error_and_the_console(page: Page, app_url: str, guard: PageGuard) -> None:
    page.goto(app_url)
    with page.context.expect_event("weberror"):
        page.evaluate("() => { console.error('said'); setTimeout(() => { throw new Error('thrown'); }); }")
    assert "thrown" in guard.problems() and "said" in guard.problems()
    guard.page_errors.clear()


def test_a_picture_in_the_page_itself_is_allowed(page: Page, app_url: str, guard: PageGuard) -> None:
    page.goto(app_url)
    page.evaluate("() => fetch('data:text/plain,x')")
    page.evaluate("() => fetch(URL.createObjectURL(new Blob(['x'])))")
    assert guard.problems() == ""


def test_without_chromium_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ChromiumMissing, match="apt-get install chromium"):
        find_chromium()
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "nowhere"))
    with pytest.raises(ChromiumMissing, match=r"nowhere.*cannot be run"):
        find_chromium()


def test_a_server_that_cannot_start_shows_its_output(tmp_path: Path) -> None:
    server = AppServer(tmp_path / "missing.py", tmp_path / "output.txt")
    with pytest.raises(RuntimeError, match=r"ended before it answered[\s\S]*missing\.py"), server:
        pass
    assert server.process is None
