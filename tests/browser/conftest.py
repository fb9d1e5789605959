"""Fixtures of the browser tests: the app's server and Chromium once, a fresh page each test.

A test takes `page`, opens `app_url` in it and calls `wait_idle`. Two fixtures are there to be overridden, by
`@pytest.mark.parametrize("viewport", [PHONE])` and `@pytest.mark.parametrize("color_scheme", ["dark"])`; a module that
tests another script defines `app_url` anew.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import ARGUMENTS, ROOT, AppServer, ChromiumMissing, PageGuard, find_chromium
from tests.browser.visits import DESKTOP


@pytest.fixture(scope="session")
def app_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """The running app."""
    with AppServer(ROOT / "app.py", tmp_path_factory.mktemp("server") / "output.txt") as server:
        yield server


@pytest.fixture
def app_url(app_server: AppServer) -> str:
    """Where the app is; a page may ask for nothing elsewhere."""
    return app_server.url


def _chromium_or_fail() -> str:
    try:
        return find_chromium()
    except ChromiumMissing as missing:
        told = str(missing)
    pytest.fail(told, pytrace=False)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium. Without one the tests fail: a skipped browser test would look like a passed one."""
    program = _chromium_or_fail()
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS), chromium_sandbox=False)
        yield launched
        launched.close()


@pytest.fixture
def viewport() -> tuple[int, int]:
    """Width and height of the page in pixels."""
    return DESKTOP


@pytest.fixture
def color_scheme() -> str:
    """What the browser asks pages for: "light" or "dark"."""
    return "light"


@pytest.fixture
def guard(app_url: str) -> PageGuard:
    """What the page did that it must not; a test that provokes something looks here and clears it."""
    return PageGuard(app_url)


@pytest.fixture
def page(browser: Browser, guard: PageGuard, viewport: tuple[int, int], color_scheme: str) -> Iterator[Page]:
    """An empty page in a fresh context. Its test fails at the end if the guard noted anything."""
    width, height = viewport
    scheme = "dark" if color_scheme == "dark" else "light"
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, locale="en-GB")
    guard.watch(context)
    yield context.new_page()
    context.close()
    if problems := guard.problems():
        pytest.fail(problems, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Shows what the server printed beside the report of a failed test."""
    report = yield
    server = getattr(item, "funcargs", {}).get("app_server")
    if report.failed and isinstance(server, AppServer):
        report.sections.append(("The app's server printed", server.log()))
    return report
