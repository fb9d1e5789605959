"""Colours that people can tell apart, and labels that are never markup."""

from __future__ import annotations

import html
import tomllib
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.theme import DARK, LIGHT, Palette, escape_label, escape_markdown, label_width, palette, visible

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
# What a label shows of it when nothing is cut.
SHOWN = {
    '<b>bold</b> & "q"': '<b>bold</b> & "q"',
    "$x^2$": "$x^2$",
    "![a](http://127.0.0.1:1/x.png)": "![a](http://127.0.0.1:1/x.png)",
    "`": "`",
    "&lt;": "&lt;",
    "שלום": "\u2068שלום\u2069",
    "你好": "你好",
    "👩\u200d🔬🏳️\u200d🌈": "👩\u200d🔬🏳️\u200d🌈",
    "\0": "␀",
    "a\tb\n": "a␉b␤",
    " a b  ": "␣a b␣␣",
    " ": "␣",
    "": "∅",
    "a\ud800": "a\ufffd",
    "abc\u202edef": "abc⟨202E⟩def",
    "ab\u2069c": "ab⟨2069⟩c",
    "\x9f": "⟨009F⟩",
}


def channels(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def linear(colour: str) -> np.ndarray:
    values = np.array(channels(colour)) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def oklab(colour: str) -> np.ndarray:
    """Lightness, a, b (Ottosson 2020, bottosson.github.io/posts/oklab): distances are about equally visible."""
    cones = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]])
    axes = np.array([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
    return axes @ np.cbrt(cones @ linear(colour))


def contrast(one: str, other: str) -> float:
    """Contrast ratio, 1 to 21 (WCAG 2.2)."""
    low, high = sorted(float(linear(c) @ (0.2126, 0.7152, 0.0722)) + 0.05 for c in (one, other))
    return high / low


@THEMES
def test_the_scale_is_even_and_its_lightness_goes_one_way(theme: Palette) -> None:
    stops = np.array([oklab(colour) for colour in theme.sequential])
    steps = np.linalg.norm(np.diff(stops, axis=0), axis=1)
    assert steps.max() / steps.min() < 1.3
    lightness = np.diff(stops[:, 0])
    assert (lightness > 0).all() or (lightness < 0).all()


@THEMES
def test_nothing_lies_next_to_the_background_and_much_far_from_it(theme: Palette) -> None:
    assert contrast(theme.sequential[0], theme.background) < 1.2 < 10 < contrast(theme.sequential[-1], theme.background)


@THEMES
def test_text_is_readable(theme: Palette) -> None:
    assert contrast(theme.text, theme.background) >= 7
    assert min(contrast(theme.muted, theme.background), contrast(theme.accent, theme.background)) >= 4.5
    assert contrast(theme.hatch, theme.background) >= 2


@pytest.mark.parametrize(("name", "dark"), [("light", False), ("dark", True)])
def test_figures_lie_on_the_pages_own_background(name: str, dark: bool, repository: Path) -> None:
    config = tomllib.loads((repository / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    page = config["theme"][name]
    assert (palette(dark).background, palette(dark).text) == (page["backgroundColor"], page["textColor"])


def test_colours_between_stops_are_mixed() -> None:
    stops = LIGHT.sequential
    assert [LIGHT.colour_at(i / (len(stops) - 1)) for i in range(len(stops))] == list(stops)
    assert LIGHT.colour_at(-1) == stops[0] and LIGHT.colour_at(2) == stops[-1]
    halfway = channels(LIGHT.colour_at(0.5 / (len(stops) - 1)))
    middle = (np.array(channels(stops[0])) + channels(stops[1])) / 2
    np.testing.assert_allclose(halfway, middle, atol=0.5)


@pytest.mark.parametrize(("text", "shown"), SHOWN.items())
def test_labels_show_a_token_as_it_was_typed(text: str, shown: str) -> None:
    escaped = escape_label(text, limit=None)
    assert html.unescape(escaped) == shown
    assert not set("<>$") & set(escaped)


@given(st.text(st.characters(), max_size=40))
def test_a_label_holds_no_markup_and_can_be_written(text: str) -> None:
    escaped = escape_label(text)
    escaped.encode("utf-8")
    assert not set("<>$\n\r\t\0\u202e") & set(escaped)
    assert html.unescape(escaped).strip("\u2068\u2069") != ""


def test_long_labels_are_cut_with_an_ellipsis() -> None:
    assert escape_label("x" * 14) == "x" * 14
    assert escape_label("x" * 15) == "x" * 13 + "…"
    assert escape_label("x" * 15, limit=5) == "xxxx…"
    assert escape_label("&" * 20, limit=3) == "&amp;&amp;…"  # what is cut is the text, not its entities


def test_a_cut_takes_no_letter_or_emoji_apart() -> None:
    accented = "e\u0301" * 10
    assert escape_label(accented, limit=6) == "e\u0301" * 2 + "…"
    assert escape_label("👩\u200d🔬" * 6, limit=6) == "👩\u200d🔬…"
    assert escape_label("👍🏽" * 6, limit=4) == "👍🏽…"
    assert escape_label("e" + "\u0301" * 10, limit=4) == "e\u0301\u0301…"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_markdown_gets_one_code_span(text: str) -> None:
    span = escape_markdown(text)
    fence = span[: len(span) - len(span.lstrip("`"))]
    inside = span[len(fence) + 1 : -len(fence) - 1]
    assert span == f"{fence} {inside} {fence}" and inside == visible(text)
    assert fence not in inside and "\n" not in span


def test_widths_are_about_right_for_every_script() -> None:
    assert label_width("你好") == 2 and label_width("e\u0301") == label_width("e")
    assert label_width("iiii") < label_width("MMMM")
    assert 0.5 < label_width("deposited") / len("deposited") < 0.8
    assert label_width("\u2068שלום\u2069") == label_width("שלום") > 0
    assert unicodedata.category("\u2068") == "Cf"
