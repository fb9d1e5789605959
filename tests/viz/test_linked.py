"""The page's link: read first, then memory; written at once; followed by widgets."""

from __future__ import annotations

import pytest
from streamlit.runtime.state.query_params import QueryParams
from streamlit.testing.v1 import AppTest

from viz.link import LAYER, STRATEGY, TEXT
from viz.linked import write


def script() -> None:
    import streamlit as st

    from viz import link, linked

    linked.restore("decode")
    for change in st.session_state.get("do", ()):
        linked.write(change)
    st.text(f"text={linked.read(link.TEXT)} layer={linked.read(link.LAYER)}")


def shown(app: AppTest) -> str:
    assert not app.exception
    return app.text[0].value


def test_the_link_is_the_truth_and_memory_fills_what_it_leaves_out() -> None:
    app = AppTest.from_function(script)
    app.query_params["text"] = "Hello"
    assert shown(app.run()) == "text=Hello layer=None"
    app.session_state["do"] = [LAYER.change(2)]
    app.run()
    assert (shown(app), app.query_params["layer"]) == ("text=Hello layer=2", "3")
    del app.session_state["do"]
    app.query_params.clear()  # as when a person goes to another page
    assert shown(app.run()) == "text=Hello layer=2"
    assert dict(app.query_params) == {"text": "Hello", "layer": "3"}
    app.query_params["layer"] = "5"
    assert shown(app.run()) == "text=Hello layer=4"


def test_what_is_taken_out_is_forgotten() -> None:
    app = AppTest.from_function(script)
    app.query_params["text"] = "Hello"
    app.run()
    app.session_state["do"] = [TEXT.change(None)]
    assert shown(app.run()) == "text=None layer=None"
    assert "text" not in app.query_params


def test_what_its_widget_writes_is_written_by_nothing_else() -> None:
    with pytest.raises(ValueError, match=r"strategy: bound to a widget"):
        write(STRATEGY.change("greedy"))


def choosing() -> None:
    import streamlit as st

    from viz import link, linked

    if st.button("choose"):
        forced = link.ForcedStart((5,), (0,))
        linked.write(link.STEP.change(1), link.STEP.change(2), link.FORCE.change(forced), link.HYPOTHESIS.change(()))
    if st.button("again"):
        linked.write(link.STEP.change(7), link.STEP.change(2))


def test_one_choice_is_one_message_to_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each message that changes the link is an entry of its history."""
    sent: list[str] = []
    send = QueryParams._send_query_param_msg  # pyright: ignore[reportPrivateUsage]

    def counted(self: QueryParams) -> None:
        sent.append(str(self))
        send(self)

    monkeypatch.setattr(QueryParams, "_send_query_param_msg", counted)
    app = AppTest.from_function(choosing)
    app.query_params["hypothesis"] = "3-4"
    app.query_params["utm"] = "x"
    app.run()
    app.button[0].click().run()
    assert not app.exception and len(sent) == 1
    assert dict(app.query_params) == {"utm": "x", "step": "3", "force": "5f"}, "the last of two changes of a key counts"
    app.button[0].click().run()
    app.button[1].click().run()
    assert len(sent) == 1, "what stands there already is not written again"


def widgets() -> None:
    import streamlit as st

    from viz import link, linked

    bases = (10, 100, 5000)
    base, chosen = linked.follow_link(link.BASE, default=5000, options=bases)
    st.select_slider("Base", bases, key="base", on_change=chosen)
    padding = linked.toggle("Padding", link.PADDING)
    scale = linked.choice("Colour", link.SCALE)
    row = linked.choice("Row", link.ROW)
    layers = linked.dropdown("Layers", link.LAYERS, width=95)
    st.button("reset", on_click=linked.clear, args=(link.BASE, link.PADDING, link.LAYERS))
    st.text(f"{base} {padding} {scale} {row} {layers}")


def test_widgets_follow_the_link_and_write_it() -> None:
    app = AppTest.from_function(widgets).run()
    assert shown(app) == "5000 True linear first 2" and not dict(app.query_params)
    app.select_slider(key="base").set_value(100)
    app.toggle(key="padding").set_value(False)
    app.selectbox(key="layers").set_value(3).run()
    assert shown(app) == "100 False linear first 3"
    assert dict(app.query_params) == {"base": "100", "padding": "false", "layers": "3"}
    app.query_params["base"] = "77"  # the page does not offer it
    app.query_params["row"] = "second"
    assert shown(app.run()) == "5000 False linear second 3"
    app.button[0].click().run()
    assert shown(app) == "5000 True linear second 2" and dict(app.query_params) == {"row": "second"}


def test_a_bound_widget_reads_the_link() -> None:
    app = AppTest.from_function(widgets)
    app.query_params["scale"] = "root"
    assert shown(app.run()) == "5000 True root first 2"
