"""From a click on another head to its repainted heatmap: this project's page beside a bare chart, in headless Chromium.

A: a page with nothing but a radio button for the head and `st.plotly_chart(go.Figure(go.Heatmap(z)))`. A radio button
   is the cheapest control that Streamlit has for it, and its page has nothing else to rerun.
B: the app's page with a sentence of 64 pieces; the click is on a thumbnail of the map picker.

Both show the same maps (encoder self-attention, float32) at the same size in pixels, in one browser, in turns. The time
runs from the click to the first animation frame after the one in which the heatmap's picture has changed in the page.
Also measured: how many frames after the click the picker's frame has moved, and the size of all maps as they are sent.
Exit code 1 if a target is missed, 2 if there is no checkpoint to measure with.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Browser, ElementHandle, Page, sync_playwright

from model_core.checkpoint import CheckpointError
from model_core.trace import TranslationTrace
from model_core.translator import Translator
from tests.browser.chromium import ARGUMENTS, ROOT, AppServer, find_chromium, wait_idle
from viz.components.map_picker import pack_maps

CHECKPOINT = ROOT / "checkpoints" / "en-fr"
SENTENCE = (
    "The children are playing in the park, and their mother is reading a book under the old tree near the river, "
    "because it is so warm today. When the sun goes down they will walk home together, cook some rice with fish, "
    "and tell each other what they have seen and heard this week, day by day."
)
TARGET_RATIO, TARGET_FRAMES, TARGET_BYTES = 1.25, 2, 400_000
LAYER, WARM_UP = 2, 2

BARE_PAGE = """
import numpy as np
import plotly.graph_objects as go
import streamlit as st

st.set_page_config(layout="wide")


@st.cache_resource
def read_maps():
    return np.load({maps!r})


head = st.radio("Head", range(len(read_maps())), horizontal=True)
figure = go.Figure(go.Heatmap(z=read_maps()[head]), layout={{"width": {width}, "height": {height}}})
st.plotly_chart(figure, key="map", width="content")
"""

# Resolves to [milliseconds to the repaint, frames until the clicked cell is framed (0 where there is none)].
CLICK = """
button => new Promise((done, fail) => {
  const picture = () => document.querySelector('.js-plotly-plot .heatmaplayer image')?.getAttribute('href');
  const before = picture();
  const cell = button.matches('[data-testid="map-cell"]');
  let frames = 0, framed = 0;
  const look = () => {
    frames += 1;
    if (cell && !framed && getComputedStyle(button).outlineStyle === 'solid') framed = frames;
    const now = picture();
    if (now && now !== before) requestAnimationFrame(() => done([performance.now() - start, framed]));
    else if (performance.now() - start > 30000) fail(new Error('The heatmap was not repainted within 30 s.'));
    else requestAnimationFrame(look);
  };
  const start = performance.now();
  button.click();
  requestAnimationFrame(look);
})
"""


class Side(NamedTuple):
    """One of the two pages, with the button of each head."""

    page: Page
    buttons: list[ElementHandle]


def click(side: Side, head: int) -> tuple[float, int]:
    """Milliseconds to the repaint, and frames to the moved frame, of choosing a head that is not chosen now."""
    side.page.bring_to_front()
    milliseconds, frames = side.page.evaluate(CLICK, side.buttons[head])
    wait_idle(side.page)
    return milliseconds, frames


@contextmanager
def serve(script: Path, folder: Path) -> Iterator[AppServer]:
    """The app's server for the script; its output goes into the folder."""
    with AppServer(script, folder / f"{script.stem}.log") as server:
        yield server


def open_page(browser: Browser, url: str) -> Page:
    page = browser.new_context(viewport={"width": 1280, "height": 1000}).new_page()
    page.goto(url)
    page.wait_for_selector(".js-plotly-plot .heatmaplayer image", timeout=120_000)
    wait_idle(page)
    return page


def open_app(browser: Browser, url: str, heads: int) -> Side:
    """The app with the sentence, at encoder self-attention of one layer."""
    query = {"text": SENTENCE, "checkpoint": "en-fr", "site": "encoder_self", "layer": LAYER + 1, "head": 1}
    page = open_page(browser, f"{url}/?{urlencode(query)}")
    cells = [page.locator(f'[data-testid="map-cell"][data-layer="{LAYER}"][data-head="{h}"]') for h in range(heads)]
    return Side(page, [cell.element_handle() for cell in cells])


def write_bare_page(folder: Path, maps: np.ndarray, like: Page) -> Path:
    """The script of page A; its chart has the size of the app's."""
    np.save(folder / "maps.npy", maps)
    box = like.locator(".js-plotly-plot").bounding_box()
    if box is None:
        raise RuntimeError("The app's page shows no heatmap.")
    script = folder / "bare.py"
    size = {"width": round(box["width"]), "height": round(box["height"])}
    script.write_text(BARE_PAGE.format(maps=str(folder / "maps.npy"), **size), encoding="utf-8")
    return script


def open_bare(browser: Browser, url: str) -> Side:
    page = open_page(browser, url)
    return Side(page, page.get_by_test_id("stRadio").locator("input").element_handles())


def measure(trace: TranslationTrace, rounds: int) -> tuple[list[float], list[float], list[int]]:
    """Milliseconds of A, milliseconds of B, and B's frames, a round each, after a few that don't count."""
    maps = trace.encoder_self.weights[LAYER]
    times: dict[str, list[tuple[float, int]]] = {"bare": [], "app": []}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        chromium = stack.enter_context(sync_playwright()).chromium
        browser = chromium.launch(executable_path=find_chromium(), args=list(ARGUMENTS), chromium_sandbox=False)
        app = open_app(browser, stack.enter_context(serve(ROOT / "app.py", folder)).url, len(maps))
        script = write_bare_page(folder, maps, app.page)
        bare = open_bare(browser, stack.enter_context(serve(script, folder)).url)
        sides = [("bare", bare), ("app", app)]
        for number in range(1, WARM_UP + rounds + 1):
            for name, side in sides if number % 2 else sides[::-1]:
                times[name].append(click(side, number % len(maps)))
            print(f"\rround {number} of {WARM_UP + rounds}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        browser.close()
    counted = {name: measured[WARM_UP:] for name, measured in times.items()}
    milliseconds = {name: [time for time, _ in measured] for name, measured in counted.items()}
    return milliseconds["bare"], milliseconds["app"], [frames for _, frames in counted["app"]]


def report(trace: TranslationTrace, size: int, bare: list[float], app: list[float], frames: list[int]) -> bool:
    """Prints the table; true if every target is met."""
    a, b = statistics.median(bare), statistics.median(app)
    rows = [
        ("repaint, app over bare", b / a, TARGET_RATIO, f"{b / a:.2f}", f"<= {TARGET_RATIO}"),
        ("frames to the moved frame, most", max(frames), TARGET_FRAMES, str(max(frames)), f"<= {TARGET_FRAMES}"),
        ("all maps as sent, bytes", size, TARGET_BYTES, f"{size:,}", f"<= {TARGET_BYTES:,}"),
    ]
    pieces = len(trace.source_tokens) - 2
    print(f"{pieces} source pieces, {len(trace.predicted_tokens) - 1} target pieces; {len(bare)} rounds")
    for name, values in (("bare page", bare), ("app", app)):
        spread = f"({min(values):.0f} ... {max(values):.0f})"
        print(f"{name + ', click to repaint':36}{statistics.median(values):>9.0f} ms   {spread}")
    for name, value, target, shown, wanted in rows:
        print(f"{name:36}{shown:>9}      {wanted:12}{'met' if value <= target else 'MISSED'}")
    return all(value <= target for _, value, target, _, _ in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description="From a click to the repainted heatmap, beside a bare chart.")
    parser.add_argument("--rounds", type=int, default=25, help="clicks on each page that count (default: 25)")
    rounds = parser.parse_args().rounds
    try:
        translator = Translator.load(CHECKPOINT)
    except CheckpointError as error:
        print(f"The app's page needs a checkpoint to measure. {error}", file=sys.stderr)
        return 2
    # The size is that of the maps of a translation as long as the sentence: 64 + 64 pieces.
    size = len(pack_maps(translator.trace(SENTENCE, target=SENTENCE)))
    trace = translator.trace(SENTENCE)
    return 0 if report(trace, size, *measure(trace, rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
