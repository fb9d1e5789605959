"""A page's own controls that a button may change as well: the link is the truth, and what is the default isn't in it.

A widget that is given a default value must not be written to, so these are given none: their value is set from the
link before they are drawn, and what a person chooses goes into the link.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import streamlit as st

from viz.shared import PAGE

T = TypeVar("T")
_PAGES = "pages-of-linked-widgets"
_DIGITS = 9  # of a number in a link
SWITCH: Mapping[str, bool] = {"true": True, "false": False}


def linked(key: str, options: Mapping[str, T], default: T) -> tuple[T, Callable[[], None]]:
    """What the link says for the widget `key`, or the default where it names none of the `options`, and what the widget
    has to call `on_change`. `options` are the widget's values under their names in the link."""
    now = options.get(st.query_params.get(key, ""), default)
    _settle(key, now)

    def chosen() -> None:
        value = st.session_state[key]
        unlink(key)
        if value != default:
            st.query_params[key] = next(name for name, option in options.items() if option == value)

    return now, chosen


def _settle(key: str, value: object) -> None:
    """Gives a widget its value.

    Written only where it differs, so that no key press is taken back; but always when another page had a widget of this
    name: Streamlit keeps that one's value, and the new one would not be told of it.
    """
    pages: dict[str, object] = st.session_state.setdefault(_PAGES, {})
    page = st.session_state.get(PAGE)
    if pages.get(key) != page or st.session_state.get(key) != value:
        st.session_state[key] = value
    pages[key] = page


def linked_number(
    label: str, low: int, high: int, default: int, *, key: str, width: int, help: str | None = None
) -> int:
    """A box for a whole number from `low` to `high`, at least 0, that stands in the link unless it is the default.

    What the link says may be anything; what is no such number is the default. Streamlit's own binding of a number box
    turns it into an int before it looks at it, and "1e400" is a float without an int.
    """
    asked = st.query_params.get(key, "")
    plain = len(asked) <= _DIGITS and asked.isascii() and asked.isdigit()
    now = int(asked) if plain and low <= int(asked) <= high else default
    _settle(key, now)
    st.number_input(
        label,
        low,
        high,
        key=key,
        width=width,
        help=help,
        on_change=lambda: link_number(key, st.session_state[key], default),
    )
    return now


def link_number(key: str, value: int, default: int) -> None:
    """Writes the number of a box into the link."""
    unlink(key)
    if value != default:
        st.query_params[key] = str(value)


def unlink(*keys: str) -> None:
    """Back to the defaults."""
    for key in keys:
        st.query_params.pop(key, None)
