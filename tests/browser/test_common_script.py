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
