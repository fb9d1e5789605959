"""What all pages share: sentence, map, token and step. It stands in the link, and comes along to the next page.

The link is the truth where it says something; what it leaves out is remembered from the page before. Going to another
page empties the link (Streamlit does), and `restore` writes it anew there, so that every page can be sent to somebody.
"""

from __future__ import annotations

import streamlit as st

NAMES = ("checkpoint", "text", "letters", "site", "layer", "head", "token", "step")
_MEMORY = "shared-by-all-pages"
PAGE = "page-shown"  # in the session's state: the title of the page that is shown


def shared(name: str, default: str = "") -> str:
    """What the link says, else what was chosen on an earlier page, else the default. It may be anything: check it."""
    if name in st.query_params:
        return st.query_params[name]
    return st.session_state.get(_MEMORY, {}).get(name, default)


def share(**values: str | None) -> None:
    """Writes into the link, and remembers for the other pages; None takes out."""
    memory: dict[str, str] = st.session_state.setdefault(_MEMORY, {})
    for name, value in values.items():
        if name not in NAMES:
            raise ValueError(f"{name!r} is not shared by all pages; shared are {', '.join(NAMES)}.")
        if value is None:
            memory.pop(name, None)
            st.query_params.pop(name, None)
            continue
        memory[name] = value
        if st.query_params.get(name) != value:  # writing reruns nothing, but tells the browser
            st.query_params[name] = value


def restore() -> None:
    """At the start of a page: what an earlier page shared goes into the link, what the link says is remembered."""
    share(**{name: found for name in NAMES if (found := shared(name))})
