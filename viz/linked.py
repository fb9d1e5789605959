"""A page's own controls that a button may change as well: the link is the truth, and what is the default isn't in it.

A widget that is given a default value must not be written to, so these are given none: their value is set from the
link before they are drawn, and what a person chooses goes into the link.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import streamlit as st

T = TypeVar("T")
SWITCH: Mapping[str, bool] = {"true": True, "false": False}


def linked(key: str, options: Mapping[str, T], default: T) -> tuple[T, Callable[[], None]]:
    """What the link says for the widget `key`, or the default where it names none of the `options`, and what the widget
    has to call `on_change`. `options` are the widget's values under their names in the link."""
    now = options.get(st.query_params.get(key, ""), default)
    if st.session_state.get(key) != now:  # written only where it differs, so that no key press is taken back
        st.session_state[key] = now

    def chosen() -> None:
        value = st.session_state[key]
        unlink(key)
        if value != default:
            st.query_params[key] = next(name for name, option in options.items() if option == value)

    return now, chosen


def unlink(*keys: str) -> None:
    """Back to the defaults."""
    for key in keys:
        st.query_params.pop(key, None)
