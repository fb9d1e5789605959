"""The Decode page as a person meets it: stepping, forcing, looking at the beam, writing a translation of her own."""

from __future__ import annotations

import math
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from model_core.config import DecodingConfig
from model_core.trace import TranslationTrace
from model_core.translator import Translation, Translator
from tests.browser.chromium import ROOT, wait_idle
from tests.browser.saved import saved_texts
from tests.browser.visits import DESKTOP, PHONE, expect_query, open_page, query_of

SENTENCE = "Where is the station?"
BEAM = DecodingConfig("beam", beam_width=5, n_best=5, alternatives=10)


@pytest.fixture(scope="module")
def translator() -> Translator:
    """The shipped checkpoint, beside the server's own."""
    return Translator.load(ROOT / "checkpoints" / "en-fr")


@pytest.fixture(scope="module")
def found(translator: Translator) -> Translation:
    return translator.translate(SENTENCE, BEAM)


@pytest.fixture(scope="module")
def trace(translator: Translator, found: Translation) -> TranslationTrace:
    return translator.replay(found)


def open_decode(page: Page, url: str, query: str = "") -> None:
    """Opens the page with the sentence and waits until its steps are drawn."""
    open_page(page, url, "decode", f"text={quote(SENTENCE)}&{query}")
    expect(bars(page).first).to_be_visible(timeout=60_000)


def bars(page: Page) -> Locator:
    return page.get_by_test_id("bar")


def nodes(page: Page) -> Locator:
    return page.get_by_test_id("hypothesis")


def numbers(rows: Locator, name: str) -> list[float]:
    return [float(value) for value in rows.evaluate_all(f"nodes => nodes.map(node => node.dataset.{name})")]


def expect_step(page: Page, trace: TranslationTrace, step: int, layer: int, head: int | None) -> None:
    """The bars and the tinted source tokens of a step (from 0) are the model's own numbers."""
    wanted = trace.decoding[step].alternatives
    expect(bars(page)).to_have_count(len(wanted))
    assert numbers(bars(page), "probability") == pytest.approx(
        [math.exp(entry.log_probability) for entry in wanted], abs=1e-4
    )
    weights = numbers(page.get_by_test_id("looked-at"), "weight")
    np.testing.assert_allclose(weights, trace.cross.map(layer, head)[step], atol=1e-4)


def test_steps_show_the_models_numbers_and_go_into_the_link(page: Page, app_url: str, trace: TranslationTrace) -> None:
    open_decode(page, app_url)
    expect_step(page, trace, 0, 2, None)
    page.get_by_label("Step", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect_step(page, trace, 2, 2, None)
    expect_query(page, "step", "3")
    page.keyboard.press("End")
    last = len(trace.decoding) - 1
    expect_step(page, trace, last, 2, None)
    expect_query(page, "step", str(last + 1))
    page.keyboard.press("Home")
    rest = float(page.get_by_test_id("rest").get_attribute("data-probability") or "nan")
    assert rest == pytest.approx(1 - sum(math.exp(a.log_probability) for a in trace.decoding[0].alternatives), abs=1e-4)
    source = len(trace.source_tokens)
    told = f"K and V of [8, {source}, 32] in each of 6 layers = {2 * 6 * 8 * source * 32:,} numbers"
    expect(page.get_by_test_id("cache")).to_contain_text(told)


def test_play_runs_to_the_end(page: Page, app_url: str, trace: TranslationTrace) -> None:
    steps = len(trace.decoding)
    open_decode(page, app_url, f"step={steps - 1}")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.get_by_text(f"Step {steps} of {steps}", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect_query(page, "step", str(steps))


def test_a_full_link_opens_its_view_and_a_forced_piece_can_be_undone(
    page: Page, app_url: str, translator: Translator
) -> None:
    ids = translator.tokenizer.encode("Où se trouve")
    forced = translator.replay(translator.translate(SENTENCE, DecodingConfig(alternatives=10), prefix=ids[:2]))
    open_decode(page, app_url, f"strategy=greedy&force={ids[0]}-{ids[1]}f&step=2&layer=4&head=6")
    expect(page.get_by_text(forced.target_text, exact=True).first).to_be_visible()
    expect(page.get_by_text("⚑ Forced by you", exact=False)).to_be_visible()
    expect_step(page, forced, 1, 3, 5)
    page.get_by_role("button", name="Undo the last").click()
    expect(page.get_by_text("⚑ Forced by you", exact=False)).to_have_count(0)
    wait_idle(page)
    plain = translator.trace(SENTENCE, decoding=DecodingConfig(alternatives=10))
    expect_step(page, plain, 1, 3, 5)
    assert "force" not in query_of(page)


def test_a_pressed_alternative_is_decoded_on_from(
    page: Page, app_url: str, translator: Translator, trace: TranslationTrace
) -> None:
    open_decode(page, app_url, "step=2")
    other = next(a.id for a in trace.decoding[1].alternatives if a.id != trace.decoding[1].chosen_id)
    prefix = (trace.decoding[0].chosen_id, other)
    bars(page).locator(f"xpath=self::*[@data-id='{other}']").focus()
    page.keyboard.press("Enter")
    wanted = translator.replay(translator.translate(SENTENCE, BEAM, prefix=prefix))
    expect(page.get_by_text("⚑ Forced by you", exact=False)).to_be_visible(timeout=30_000)
    wait_idle(page)
    expect(page.locator(".st-key-translation").get_by_text(wanted.target_text, exact=True)).to_be_visible()
    expect_step(page, wanted, 1, 2, None)
    assert query_of(page)["force"] == f"{prefix[0]}-{other}f"


def test_the_beam_is_a_tree_whose_hypotheses_can_be_looked_at(
    page: Page, app_url: str, translator: Translator, found: Translation
) -> None:
    open_decode(page, app_url)
    expect(nodes(page)).to_have_count(sum(map(len, found.best.beam)))
    assert numbers(nodes(page), "score") == pytest.approx([h.score for row in found.best.beam for h in row], abs=1e-3)
    kinds = nodes(page).evaluate_all("nodes => nodes.map(node => node.dataset.kind)")
    beam = [h for row in found.best.beam for h in row]
    assert kinds.count("finished") == sum(h.finished and h.kept for h in beam)
    assert kinds.count("pruned") == sum(not h.kept for h in beam)
    second = found.n_best[1]
    step = len(second.ids) - 1
    index = next(i for i, h in enumerate(found.best.beam[step]) if h.score == second.score)
    node = page.locator(f'[data-testid="hypothesis"][data-step="{step}"][data-index="{index}"]')
    node.focus()
    text = translator.tokenizer.decode(second.ids)
    expect(page.get_by_test_id("hypothesis-told")).to_contain_text(text)
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-translation").get_by_text(text, exact=True)).to_be_visible(timeout=30_000)
    assert query_of(page)["hypothesis"] == "-".join(map(str, second.ids))
    expect(node).to_be_focused()  # the tree was drawn anew around it
    step, index = next((s, i) for s, row in enumerate(found.best.beam) for i, h in enumerate(row) if s and not h.kept)
    page.locator(f'[data-testid="hypothesis"][data-step="{step}"][data-index="{index}"]').focus()
    page.get_by_label("show pruned").uncheck()
    expect(nodes(page)).to_have_count(sum(h.kept for h in beam))
    here = page.locator('[data-testid="hypothesis"][tabindex="0"]')
    expect(here).to_have_attribute("data-step", str(step - 1))
    expect(here).to_have_attribute("data-index", str(found.best.beam[step][index].parent))


def test_what_sampling_leaves_out_is_marked_and_the_beam_can_be_taken_home(
    page: Page, app_url: str, found: Translation
) -> None:
    open_decode(page, app_url, "strategy=sample&topk=2")
    shares = numbers(bars(page), "share")
    assert sum(shares) == pytest.approx(1, abs=1e-4) and shares[2:] == [0.0] * len(shares[2:])
    expect(page.locator(".bar.off")).to_have_count(len(shares) - 2)
    open_decode(page, app_url)
    expect(page.locator(".bar.off")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_text("All hypotheses as CSV").click()
    lines = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) == 1 + sum(map(len, found.best.beam))
    assert float(lines[1].split(",")[5]) == pytest.approx(found.best.beam[0][0].log_probability, abs=1e-4)


def test_the_rows_of_pieces_can_be_taken_home(page: Page, app_url: str, trace: TranslationTrace) -> None:
    open_decode(page, app_url)
    texts = saved_texts(page, page.get_by_label("Save cross-attention as SVG"))
    assert texts[::2] == [token.text for token in trace.source_tokens]
    assert texts[1::2] == page.get_by_test_id("looked-at").locator("small").all_inner_texts()
    expect(page.get_by_label("Save pieces as SVG")).to_be_hidden()
    open_decode(page, app_url, f"writer={quote('you write')}&target={quote('Où est la gare ?')}")
    texts = saved_texts(page, page.get_by_label("Save pieces as SVG"))
    assert texts[:3] == ["<s>", "Où", page.get_by_test_id("words").locator("small").first.inner_text()]


def test_pieces_of_a_word_stay_within_the_page(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app_url}/decode?text={quote('She said that he did not know. ' * 4)}", wait_until="domcontentloaded")
    expect(bars(page).first).to_be_visible(timeout=60_000)
    wait_idle(page)
    left = page.get_by_test_id("words").evaluate("node => node.getBoundingClientRect().left")
    chips = page.get_by_test_id("words").get_by_role("button")
    assert min(chips.evaluate_all("all => all.map(one => one.getBoundingClientRect().left)")) >= left - 0.5


def test_a_typed_translation_says_how_likely_each_piece_is(page: Page, app_url: str, translator: Translator) -> None:
    open_decode(page, app_url, f"writer={quote('you write')}&target={quote('Où est la gare ?')}")
    box = page.get_by_label("Your own French")
    box.fill("Où est <b>ta</b> gare ?")
    box.press("Enter")
    wanted = translator.trace(SENTENCE, target="Où est <b>ta</b> gare ?")
    chips = page.get_by_test_id("words").get_by_role("button")
    expect(chips).to_have_count(len(wanted.predicted_tokens), timeout=30_000)
    assert numbers(chips, "probability") == pytest.approx(
        [math.exp(step.log_probability) for step in wanted.decoding], abs=1e-4
    )
    drawn = page.wait_for_function("() => document.querySelector('.js-plotly-plot')?.data?.length === 2")
    assert drawn.json_value()


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_it_fits_every_screen(page: Page, app_url: str, viewport: tuple[int, int], color_scheme: str) -> None:
    open_decode(page, app_url)
    expect(nodes(page).first).to_be_visible()
    main = page.get_by_test_id("stMain")
    assert main.evaluate("node => node.scrollWidth - node.clientWidth") <= 0
    for part in (bars(page).first, page.get_by_test_id("looked-at").last, page.get_by_test_id("words")):
        box = part.bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= viewport[0] + 1
