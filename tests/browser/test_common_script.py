"""What the components' scripts have in common, run in a page of its own."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.chromium import ROOT

COMMON = (ROOT / "viz" / "components" / "common.js").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("number", "digits", "told"),
    [(-0.000268, 2, "0.00"), (-0.006, 2, "−0.01"), (0, 3, "0.000"), (-12.5, 1, "−12.5"), (0.3, 2, "0.30")],
)
def test_a_minus_is_a_true_one_and_zero_has_none(page: Page, number: float, digits: int, told: str) -> None:
    script = f"([number, digits]) => {{ {COMMON}; return minus(number, digits); }}"
    assert page.evaluate(script, [number, digits]) == told


def test_one_is_one(page: Page) -> None:
    told = page.evaluate(f"() => {{ {COMMON}; return [0, 1, 2, 1200].map((number) => counted(number, 'piece')); }}")
    assert told == ["0 pieces", "1 piece", "2 pieces", "1,200 pieces"]


def test_a_view_is_made_once_an_element_and_goes_with_it(page: Page) -> None:
    calls = page.evaluate(
        f"""() => {{
          {COMMON}
          const calls = [];
          const create = (host) => ({{
            receive: (data, state, trigger) => calls.push([host, data, state, trigger]),
            remove: () => calls.push([host, "gone"]),
          }});
          const component = mounted((host) => (calls.push([host.id, "made"]), create(host.id)));
          const [a, b] = ["a", "b"].map((id) => Object.assign(document.createElement("div"), {{ id }}));
          const answers = {{ setStateValue: 1, setTriggerValue: 2 }};
          const give = (parentElement, data) => component({{ data, parentElement, ...answers }});
          const leave = give(a, "x");
          give(b, "y"), give(a, "z"), leave(), give(a, "w");
          return calls;
        }}"""
    )
    told = [("a", "made"), ("a", "x", 1, 2), ("b", "made"), ("b", "y", 1, 2), ("a", "z", 1, 2), ("a", "gone")]
    assert calls == [list(call) for call in (*told, ("a", "made"), ("a", "w", 1, 2))]
