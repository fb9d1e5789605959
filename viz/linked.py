"""The link of the page that is shown: read, written, and drawn as widgets. Only this module touches `st.query_params`.

The link is the truth where it says something. What belongs to every page, and what a key says is remembered, is kept
for the next visit: going to another page empties the link (Streamlit does), and `restore` writes it anew.

A key is either `bound`, so that Streamlit reads and writes it with its widget, or else it follows the link at every
run, so that buttons and clicks elsewhere may change it as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

import streamlit as st

from viz.link import Key, LinkChange, Page, keys_of
from viz.link_kinds import Decimal, Whole

T = TypeVar("T")
_MEMORY = "remembered-link"
_PAGES = "pages-of-linked-widgets"
PAGE = "page-shown"  # in the session's state: the name of the page that is shown


def read(key: Key[T]) -> T:
    """The value in the link, else the one remembered, else the key's default."""
    return key.value(_texts(key))


def is_given(key: Key[Any]) -> bool:
    """Whether the link, or memory, says anything under this name, be it readable or not."""
    return bool(_texts(key))


def is_unreadable(key: Key[Any]) -> bool:
    """Whether the link says something under this name that can't be read."""
    texts = _texts(key)
    return bool(texts) and key.kind.read(texts) is None


def says_otherwise(*changes: LinkChange) -> bool:
    """Whether the link has one of these keys with another text."""
    return any(linked and tuple(linked) != change.texts for change in changes if (linked := _linked(change.key)))


def write(*changes: LinkChange) -> None:
    """Writes into the link, all at once: one choice is one entry of the browser's history.

    Raises:
        ValueError: a key is bound to its widget.
    """
    bound = [change.key.name for change in changes if change.key.bound]
    if bound:
        raise ValueError(f"{', '.join(bound)}: bound to a widget, which alone may change it.")
    new = {}
    for change in {change.key: change for change in changes}.values():  # the last one of a key
        _remember(change.key, change.texts)
        if tuple(_linked(change.key)) != change.texts:
            new[change.key.name] = change.texts[0] if len(change.texts) == 1 else list(change.texts)
    if new:  # writing reruns nothing, but tells the browser; a list without texts takes the name out
        st.query_params.update(new)


def clear(*keys: Key[Any]) -> None:
    """Back to the defaults."""
    write(*(LinkChange(key, ()) for key in keys))


def restore(page: Page) -> None:
    """At the start of a page: what is remembered goes into the link, what the link says is remembered."""
    write(*(LinkChange(key, tuple(_texts(key))) for key in keys_of(page) if key.remembered))


def _linked(key: Key[Any]) -> list[str]:
    return st.query_params.get_all(key.name)


def _texts(key: Key[Any]) -> Sequence[str]:
    return _linked(key) or st.session_state.get(_MEMORY, {}).get(_place(key), ())


def _remember(key: Key[Any], texts: tuple[str, ...]) -> None:
    if key.remembered:
        memory = st.session_state.setdefault(_MEMORY, {})
        memory[_place(key)] = texts


def _place(key: Key[Any]) -> tuple[str | None, str]:
    return key.page, key.name


def follow_link(
    key: Key[T], *, default: T | None = None, options: Collection[T] | None = None
) -> tuple[T, Callable[[], None]]:
    """For a widget of that name which is given no default: what the link says, and what it has to call `on_change`.

    `default` is the widget's own where the key has none; `options` are those of all values that it offers now.
    """
    plain = key.default if default is None else default
    now = read(key)
    if now is None or (options is not None and now not in options):
        now = plain
    set_widget(key.name, now)
    return now, lambda: write(key.change(st.session_state[key.name], default))


def set_widget(name: str, value: object) -> None:
    """Gives a widget its value.

    Written only where it differs, so that no key press is taken back; but always when another page had a widget of this
    name: Streamlit keeps that one's value, and the new one would not be told of it.
    """
    pages: dict[str, object] = st.session_state.setdefault(_PAGES, {})
    page = st.session_state.get(PAGE)
    if pages.get(name) != page or st.session_state.get(name) != value:
        st.session_state[name] = value
    pages[name] = page


def _bound(key: Key[Any]) -> dict[str, Any]:
    if not key.bound:
        raise ValueError(f"{key.name} is not bound to its widget: it follows the link.")
    return {"key": key.name, "bind": "query-params"}


def choice(label: str, key: Key[T], *, help: str | None = None, hide_label: bool = False) -> T:
    """One of a key's options, side by side."""
    visibility = "collapsed" if hide_label else "visible"
    options = key.options
    shown = {"required": True, "help": help, "label_visibility": visibility}
    if key.bound:
        chosen = st.segmented_control(label, options, default=key.default, **_bound(key), **shown)
        return key.default if chosen is None else chosen
    now, chosen = follow_link(key)
    st.segmented_control(label, options, key=key.name, on_change=chosen, **shown)
    return now


def dropdown(label: str, key: Key[T], *, help: str | None = None, width: int) -> T:
    """One of a key's options, which follows the link."""
    now, chosen = follow_link(key)
    st.selectbox(label, key.options, key=key.name, on_change=chosen, help=help, width=width)
    return now


def toggle(label: str, key: Key[bool], *, help: str | None = None, disabled: bool = False) -> bool:
    """On or off."""
    if key.bound:
        return st.toggle(label, key.default, help=help, disabled=disabled, **_bound(key))
    now, chosen = follow_link(key)
    st.toggle(label, key=key.name, on_change=chosen, help=help, disabled=disabled)
    return now


def number(label: str, key: Key[int], *, width: int, help: str | None = None) -> int:
    """A box for a whole number. It follows the link: Streamlit's own binding of such a box turns the text into an int
    before it looks at it, and "1e400" is a float without an int."""
    assert isinstance(key.kind, Whole)
    now, chosen = follow_link(key)
    low, high = key.kind.low, key.kind.high
    st.number_input(label, low, high, key=key.name, width=width, help=help, on_change=chosen)
    return now


def decimal(label: str, key: Key[float], *, step: float, width: int, help: str | None = None) -> float:
    """A bound box for a number with decimals."""
    assert isinstance(key.kind, Decimal)
    low, high = key.kind.low, key.kind.high
    return st.number_input(label, low, high, key.default, step, width=width, help=help, **_bound(key))


def slider(label: str, key: Key[int]) -> int:
    """A bound slider over all values of a key."""
    assert isinstance(key.kind, Whole)
    return st.slider(label, key.kind.low, key.kind.high, key.default, **_bound(key))


def text_box(label: str, key: Key[str] | Key[str | None], *, default: str = "", placeholder: str) -> str:
    """A bound box for a text."""
    return st.text_input(label, default, placeholder=placeholder, **_bound(key)) or ""
