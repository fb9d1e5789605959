"""For those who see no colours, no pictures, or use no mouse: names, descriptions, and the keyboard, on every page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visits import open_page
from viz.navigation import ENTRIES, Entry

CONTROLS = "button|link|textbox|combobox|slider|checkbox|switch|radio|tab|spinbutton|application"
FIGURES = {"attend": 1, "decode": 0, "masks": 3, "positions": 4, "meaning": 6, "inside": 0, "learn": 3}
"""How many of a page's pictures are Plotly's; the others are components, which have names as controls do."""
NAMELESS = re.compile(rf"^- (?:{CONTROLS})(?: \[[^]]*\])*:?$")

# All that a pointer can use, shadow roots included. A group in which arrow keys move is one stop, and what is outside
# the order of Tab on purpose (a list's own arrow, a number's plus and minus) belongs to the control that it stands in.
NUMBERED = """
() => {
  const wanted =
    'button, a[href], input, select, textarea, summary, [role="button"], [role="application"], [tabindex="0"]';
  const moving = '[role="radiogroup"], [role="tablist"], [role="grid"]';
  const fields = ["stNumberInput", "stSelectbox", "stMultiSelect"].map((name) => `[data-testid="${name}"]`);
  const around = `${moving}, [role="group"], ${fields}`;
  const found = [];
  const visit = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) visit(element.shadowRoot);
      if (!element.matches(wanted) || element.disabled || element.closest("[inert], [hidden]")) continue;
      if (element.closest(".modebar") || !element.checkVisibility({ visibilityProperty: true })) continue;
      const { width, height } = element.getBoundingClientRect();
      if (!width || !height) continue;
      const group = element.closest(element.getAttribute("tabindex") === "-1" ? around : moving);
      found.push({ element, group, reached: false });
    }
  };
  visit(document.querySelector('[data-testid="stApp"]'));
  window.regardStops = found;
  return found.length;
}
"""
FOCUSED = """
() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  if (!at || at === document.body) return false;
  for (const stop of window.regardStops) {
    if (stop.element.contains(at) || stop.group?.contains(at)) stop.reached = true;
  }
  return true;
}
"""
MISSED = """
() => window.regardStops.filter((stop) => !stop.reached)
  .map(({ element }) => `${element.tagName} ${element.getAttribute("aria-label") ?? element.textContent.slice(0, 40)}`)
"""


def nameless(page: Page) -> list[str]:
    """Controls that a screen reader could only call by their kind."""
    lines = [line.strip() for line in page.locator("body").aria_snapshot().splitlines()]
    assert len(lines) > 20
    return [line for line in lines if NAMELESS.match(line)]


def descriptions(page: Page) -> list[str]:
    """What stands for each figure where it can't be seen."""
    return page.get_by_test_id("stPlotlyChart").evaluate_all(
        "all => all.map(one => (one.getAttribute('aria-label') ?? one.querySelector('[aria-label]')?.ariaLabel) ?? '')"
    )


def out_of_reach(page: Page) -> list[str]:
    """Controls that Tab does not come to, however often one presses it."""
    count = page.evaluate(NUMBERED)
    assert count > 10
    for _ in range(3 * count):
        page.keyboard.press("Tab")
        if not page.evaluate(FOCUSED):
            break
    return page.evaluate(MISSED)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_names_descriptions_and_the_keyboard(page: Page, app_url: str, entry: Entry) -> None:
    """One visit a page for all three. A figure's description states its main number."""
    open_page(page, app_url, entry.name)
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(FIGURES[entry.name], timeout=60_000)
    assert nameless(page) == []
    assert [told for told in descriptions(page) if not re.search(r"\d", told)] == []
    assert out_of_reach(page) == []
