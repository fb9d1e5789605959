"""The Learn page as a person meets it: the shipped training, one of her own, and what comes of it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model_core.training.live_settings import LiveSettings
from model_core.training.live_training import LiveTraining
from model_core.training.snapshots import shipped_snapshots
from tests.browser.chromium import ROOT, AppServer, wait_idle
from tests.browser.plots import Z_OF_HEATMAP
from tests.browser.visits import DESKTOP, PHONE, open_page

SMALL = LiveSettings(layers=1, heads=2, width=16, steps=50, learning_rate=0.01, seed=7)
LINK = "layers=1&heads=2&width=16&steps=50&rate=0.01&seed=7"
VALUES = f"""key => {{
  const plot = document.querySelector(`.st-key-${{key}} .js-plotly-plot`);
  return plot?.data?.some((trace) => trace.type === "heatmap") ? ({Z_OF_HEATMAP})(plot) : null;
}}"""


def open_learn(page: Page, url: str, query: str = "") -> None:
    open_page(page, url, "learn", query)


def expect_map(page: Page, wanted: np.ndarray, key: str = "learn-map") -> None:
    """Waits until the figure shows exactly these weights."""
    shown = None
    for _ in range(60):
        shown = page.evaluate(VALUES, key)
        if shown is not None and np.shape(shown) == wanted.shape and np.allclose(shown, wanted, atol=1e-6):
            return
        page.wait_for_timeout(250)
    assert shown is not None, "nothing is drawn"
    np.testing.assert_allclose(np.array(shown, dtype=np.float64), wanted, atol=1e-6)


def test_the_slider_goes_back_over_the_shipped_training(page: Page, app_url: str) -> None:
    found = {kept.step: kept for kept in shipped_snapshots(ROOT / "checkpoints" / "copy")}
    open_learn(page, app_url)
    expect_map(page, found[1200].cross.map(1))
    expect(page.get_by_text("8 of 8 rows on the diagonal")).to_be_visible()
    slider = page.get_by_role("slider", name="Step of the training")
    slider.focus()
    slider.press("ArrowLeft")
    slider.press("ArrowLeft")
    expect_map(page, found[300].cross.map(1))
    slider.press("Home")
    expect_map(page, found[0].cross.map(1))
    page.wait_for_url(re.compile(r"[?&]at=0(&|$)"))


def test_a_link_opens_the_same_map_and_settings(page: Page, app_url: str) -> None:
    found = {kept.step: kept for kept in shipped_snapshots(ROOT / "checkpoints" / "copy")}
    open_learn(page, app_url, f"{LINK}&positions=false&at=100&layer=1&head=3")
    expect_map(page, found[100].cross.map(0, 2))
    expect(page.get_by_text("Cross-attention at step 100, layer 1, head 3")).to_be_visible()
    expect(page.get_by_role("combobox", name=re.compile("Learning rate"))).to_have_value("0.01")
    expect(page.get_by_label("Seed", exact=True)).to_have_value("7")
    expect(page.get_by_role("switch", name="Positions")).not_to_be_checked()


def test_the_film_plays_until_it_is_held(page: Page, app_url: str) -> None:
    found = {kept.step: kept for kept in shipped_snapshots(ROOT / "checkpoints" / "copy")}
    open_learn(page, app_url)
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("button", name="Hold", exact=True).click(timeout=60_000)
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible(timeout=60_000)
    wait_idle(page)
    told = page.get_by_text(re.compile("^Cross-attention at step ")).inner_text()
    step = int(re.sub(r"\D", "", told.split(", layer")[0]))
    assert step < 1200, "it plays from the beginning"
    expect_map(page, found[step].cross.map(1))
    page.wait_for_url(re.compile(rf"[?&]at={step}(&|$)"))


def test_a_training_is_watched_to_its_end_and_looked_back_on(page: Page, app_url: str) -> None:
    open_learn(page, app_url, LINK)
    page.get_by_role("button", name="Start a training").click()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible(timeout=30_000)
    expect(page.get_by_text("Done in")).to_be_visible(timeout=180_000)
    wait_idle(page)
    training = LiveTraining(SMALL)
    while not training.done:
        training.step()
    expect_map(page, training.snapshots[-1].cross.map(0))
    page.get_by_role("slider", name="Step of the training").press("Home")
    expect_map(page, training.snapshots[0].cross.map(0))
    lines = page.evaluate(
        "() => document.querySelector('.st-key-learn-curves .js-plotly-plot').data"
        ".filter((line) => line.legendgroup === '1' && line.yaxis === 'y3').map((line) => Array.from(line.y))"
    )
    assert np.allclose(lines[0], [kept.loss or 0.0 for kept in training.snapshots[1:]], atol=1e-6)


def test_an_experiment_sets_what_the_link_sets_without_a_warning(
    page: Page, app_url: str, app_server: AppServer
) -> None:
    open_learn(page, app_url, "seed=7")
    page.get_by_role("button", name="Ten times the learning rate").click()
    expect(page.get_by_role("combobox", name=re.compile("Learning rate"))).to_have_value("0.02", timeout=60_000)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("Stopped. What it learned until then stays here.")).to_be_visible(timeout=60_000)
    assert "Session State API" not in app_server.log()


def test_a_training_is_paused_resumed_and_stopped(page: Page, app_url: str) -> None:
    open_learn(page, app_url, LINK.replace("steps=50", "steps=1200"))
    page.get_by_role("button", name="Start a training").click()
    expect(page.get_by_text("steps a second")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused. Its place is free")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("slider", name="Step of the training")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("steps a second")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("Stopped. What it learned until then stays here.")).to_be_visible(timeout=60_000)
    page.reload(wait_until="domcontentloaded")
    expect(page.get_by_text("it lives in its own tab", exact=False)).to_be_visible(timeout=60_000)


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_nothing_overflows_and_all_figures_are_drawn(page: Page, app_url: str) -> None:
    open_learn(page, app_url)
    for key in ("learn-strip", "learn-map", "learn-curves"):
        figure = page.locator(f".st-key-{key} .js-plotly-plot")
        figure.scroll_into_view_if_needed()
        expect(figure.locator(".main-svg").first).to_be_visible(timeout=30_000)
    wide, room = page.get_by_test_id("stMain").evaluate("main => [main.scrollWidth, main.clientWidth]")
    assert wide <= room
    assert page.locator(".st-key-learn-curves .scatterlayer .trace").count() >= 2
