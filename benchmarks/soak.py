"""Eight people at once: each clicks through all pages for a while, with sentences of their own.

Each person is a context of its own in one headless Chromium. In every round a person types a sentence that nobody else
types and goes to every page by the bar on top, acting there once. Reported: rounds and pages, whatever went wrong (an
error in the page or in the server's log, a sentence on a page that is not that person's, a translation that is not that
sentence's), and the server's memory after each tenth of the time. Exit code 1 if anything went wrong, or if memory at
the end is more than GROWTH above what it was after half of the time.

    python -m benchmarks.soak --people 8 --seconds 60
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, Error, Locator, Page, async_playwright, expect

from model_core.translator import Translator
from tests.browser.chromium import ARGUMENTS, IDLE, QUIET_MS, ROOT, AppServer, find_chromium
from tests.browser.visits import HEADINGS, IN_THE_LINK
from viz.frame import SEARCH
from viz.navigation import ENTRIES
from viz.translators import FIRST_CHOICE

GROWTH = 0.15
SLOW_MS = 240_000  # eight people on two cores, the browser among them, can wait long for a page
SUBJECTS = (
    "The cat",
    "My brother",
    "A teacher",
    "The old man",
    "Our neighbour",
    "The girl",
    "Her friend",
    "The doctor",
)
PREDICATES = (
    "is sleeping.", "went to the bank.", "has lost the key.", "likes to read books.", "is waiting for the train.",
    "speaks French.", "opened the window.", "bought a new car.", "came home late.", "was very tired.",
)  # fmt: skip


@dataclass
class Report:
    """The visits that were made, the problems met on them, and the server's memory."""

    rounds: int = 0
    pages: int = 0
    unopened: int = 0  # lists that did not open, in three tries
    problems: list[str] = field(default_factory=list)
    translations: list[tuple[str, str]] = field(default_factory=list)  # (the sentence typed, the translation shown)
    memory: list[tuple[float, float]] = field(default_factory=list)  # (seconds, MB)


async def wait_idle(page: Page) -> None:
    """As `tests.browser.chromium.wait_idle`, for many pages at once, which are slow."""
    await page.evaluate("() => { window.regardIdleSince = undefined; }")
    await page.wait_for_function(IDLE, arg=QUIET_MS, timeout=SLOW_MS)


class Person:
    """One session: a browser context, and sentences that only this one types."""

    def __init__(self, number: int, context: BrowserContext, url: str, report: Report) -> None:
        self.number, self.context, self.url, self.report = number, context, url, report
        self.round = 0

    def note(self, problem: str) -> None:
        self.report.problems.append(f"person {self.number + 1}, round {self.round + 1}: {problem}")

    @property
    def sentence(self) -> str:
        predicate = PREDICATES[self.round % len(PREDICATES)]
        number = self.round // len(PREDICATES)
        return f"{SUBJECTS[self.number % len(SUBJECTS)]} {predicate}" + (f" {number} times" if number else "")

    async def go_on_until(self, end: float) -> None:
        page = await self.context.new_page()
        page.on("pageerror", lambda error: self.note(f"an uncaught error in the page: {error}"))
        await page.goto(self.url, wait_until="domcontentloaded")
        await wait_idle(page)
        while time.monotonic() < end:
            try:
                await self.one_round(page)
            except (Error, AssertionError) as error:
                self.note(" / ".join(line.strip() for line in str(error).splitlines()[:5] if line.strip()))
                await page.goto(self.url, wait_until="domcontentloaded")
            self.round += 1
            self.report.rounds += 1

    async def one_round(self, page: Page) -> None:
        """Types, then looks at every page."""
        await self.visit(page, ENTRIES[0].title)
        box = page.get_by_label("English sentence")
        await box.fill(self.sentence)
        await box.press("Enter")
        await page.wait_for_function(IN_THE_LINK, arg=["text", self.sentence], timeout=SLOW_MS)
        await wait_idle(page)
        translation = await page.locator(".st-key-translation").inner_text()
        self.report.translations.append((self.sentence, translation.strip()))
        for entry in ENTRIES[1:]:
            await self.visit(page, entry.title)
            await self.look(page, entry.title)

    async def visit(self, page: Page, title: str) -> None:
        """Goes to a page by the bar, and waits for it: a busy server lets the page before it stand for a while."""
        await page.locator(".st-key-navigation").get_by_role("link", name=title).click()
        heading = page.get_by_role("heading", level=1, name=HEADINGS[title], exact=True)
        await expect(heading).to_be_visible(timeout=SLOW_MS)
        await wait_idle(page)
        self.report.pages += 1

    async def look(self, page: Page, title: str) -> None:
        """The page shows this person's sentence and no error; then another layer is chosen, where there is a choice."""
        for kind in ("stException", "stAlertContentError"):
            if await page.get_by_test_id(kind).count():
                self.note(f"{title} shows an error: {await page.get_by_test_id(kind).first.inner_text()}")
        box = page.get_by_label("English sentence", exact=True)
        if await box.count():
            await expect(box).to_have_value(self.sentence)
        layer = page.get_by_role("combobox", name="Layer")
        if await layer.count():
            options = page.get_by_role("option")
            if not await self.opened(layer.first, options.first):
                return
            await options.nth((self.number + self.round) % await options.count()).click()
            await wait_idle(page)

    async def opened(self, box: Locator, option: Locator) -> bool:
        """Opens a list; a page that is being redrawn at that moment swallows the click, so it is tried three times."""
        for _ in range(3):
            await box.click()
            try:
                await option.wait_for(timeout=5_000)
                return True
            except Error:
                continue
        self.report.unopened += 1
        return False


def resident_mb(pid: int) -> float:
    """The memory that the process holds now (Linux: /proc)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"/proc/{pid}/status has no VmRSS: this benchmark needs Linux.")


async def watch_memory(pid: int, start: float, seconds: float, report: Report) -> None:
    """Ten looks at the server's memory, evenly spread."""
    for number in range(1, 11):
        await asyncio.sleep(max(start + seconds * number / 10 - time.monotonic(), 0))
        report.memory.append((time.monotonic() - start, resident_mb(pid)))


async def soak(browser: Browser, url: str, pid: int, people: int, seconds: float) -> Report:
    """Lets the people in together and waits for all of them."""
    report, start = Report(), time.monotonic()
    contexts = [await browser.new_context(viewport={"width": 1280, "height": 900}) for _ in range(people)]
    visitors = [Person(number, context, url, report) for number, context in enumerate(contexts)]
    await asyncio.gather(
        watch_memory(pid, start, seconds, report), *(person.go_on_until(start + seconds) for person in visitors)
    )
    report.memory.append((time.monotonic() - start, resident_mb(pid)))
    for context in contexts:
        await context.close()
    return report


def mix_ups(shown: list[tuple[str, str]]) -> list[str]:
    """A sentence for each translation on a page that differs from the one that the model gives by itself."""
    translator = Translator.load(ROOT / "checkpoints" / FIRST_CHOICE)
    right = {sentence: translator.translate(sentence, SEARCH).text for sentence, _ in shown}
    return [f"{typed!r} gave {text!r}, not {right[typed]!r}" for typed, text in shown if text != right[typed]]


async def main_async(people: int, seconds: float) -> int:
    with tempfile.TemporaryDirectory() as folder, AppServer(ROOT / "app.py", Path(folder) / "output.txt") as server:
        assert server.process is not None
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=find_chromium(), args=list(ARGUMENTS), chromium_sandbox=False
            )
            report = await soak(browser, server.url, server.process.pid, people, seconds)
            await browser.close()
        report.problems += mix_ups(report.translations)
        report.problems += [line for line in server.log().splitlines() if "Error" in line or "Traceback" in line]
    return print_report(report, people)


def print_report(report: Report, people: int) -> int:
    """Prints the report and returns the exit code."""
    print(f"{people} people, {report.rounds} rounds, {report.pages} pages opened, {report.unopened} lists not")
    for seconds, megabytes in report.memory:
        print(f"  after {seconds:5.0f} s the server holds {megabytes:6.0f} MB")
    half, end = report.memory[len(report.memory) // 2][1], report.memory[-1][1]
    growth = end / half - 1
    print(f"memory grew by {growth:.1%} over the second half (at most {GROWTH:.0%})")
    print(f"{len(report.problems)} problems" + "".join(f"\n  {problem}" for problem in report.problems[:20]))
    return int(bool(report.problems) or growth > GROWTH)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60)
    chosen = parser.parse_args()
    return asyncio.run(main_async(chosen.people, chosen.seconds))


if __name__ == "__main__":
    sys.exit(main())
