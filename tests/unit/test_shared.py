"""What all pages share, without a browser: the link first, then what was remembered."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


def script() -> None:
    import streamlit as st

    from viz.shared import restore, share, shared

    restore()
    if st.session_state.get("do"):
        share(**st.session_state["do"])
    st.text(f"text={shared('text', 'none')} layer={shared('layer', 'none')}")


def shown(app: AppTest) -> str:
    assert not app.exception
    return app.text[0].value


def test_the_link_is_the_truth_and_memory_fills_what_it_leaves_out() -> None:
    app = AppTest.from_function(script)
    app.query_params["text"] = "Hello"
    assert shown(app.run()) == "text=Hello layer=none"
    app.session_state["do"] = {"layer": "3"}
    app.run()
    assert (shown(app), app.query_params["layer"]) == ("text=Hello layer=3", "3")
    del app.session_state["do"]
    app.query_params.clear()  # as when a person goes to another page
    assert shown(app.run()) == "text=Hello layer=3"
    assert dict(app.query_params) == {"text": "Hello", "layer": "3"}
    app.query_params["layer"] = "5"
    assert shown(app.run()) == "text=Hello layer=5"


def test_what_is_taken_out_is_forgotten() -> None:
    app = AppTest.from_function(script)
    app.query_params["text"] = "Hello"
    app.run()
    app.session_state["do"] = {"text": None}
    assert shown(app.run()) == "text=none layer=none"
    assert "text" not in app.query_params


def test_only_what_is_shared_by_all_pages_is_kept_here() -> None:
    app = AppTest.from_function(script)
    app.session_state["do"] = {"threshold": "3"}
    app.run()
    assert len(app.exception) == 1


@pytest.mark.parametrize("asked", ["0", "6", "-1", "two", "³", "1e1", ""])
def test_a_position_that_is_not_there_is_none(asked: str) -> None:
    from viz.selection import index_from

    assert index_from(asked, 5) is None
    assert index_from("5", 5) == 4
