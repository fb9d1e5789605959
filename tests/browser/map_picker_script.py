"""The Streamlit script that test_map_picker.py looks at: a picker of four traces, in a fragment."""

import streamlit as st

from tests.small_traces import small_trace
from viz.components.map_picker import Choice, map_picker, pack_maps

LONG = ["<s>", *(f"piece{i}" for i in range(64)), "</s>"]
NASTY = ("<b>bold</b>", "<img src=x onerror=alert(1)>", "&amp;", "$x^2$", "**", "שלום", "你好")
TRACES = {
    "small": small_trace,
    "one layer": lambda: small_trace(decoder=(1, 2), seed=1),
    "nasty": lambda: small_trace(source=NASTY),
    "long": lambda: small_trace(LONG, LONG[:-1], encoder=(6, 8), decoder=(6, 8)),
}


@st.cache_data
def packed(name: str) -> bytes:
    """The maps of one of TRACES."""
    return pack_maps(TRACES[name]())


st.session_state.setdefault("choice", Choice("cross", 1, 2))
st.session_state.setdefault("page runs", 0)
st.session_state["page runs"] += 1
name = st.radio("trace", list(TRACES))
shown = st.toggle("shown", True)


@st.fragment
def panel() -> None:
    """The picker, a button that asks for another map, and what is chosen."""
    if st.button("Ask for encoder layer 1, mean"):
        st.session_state.choice = Choice("encoder_self", 0, None)
    if shown:
        st.session_state.choice = map_picker(packed(name), **st.session_state.choice._asdict(), key="maps")
    choice = st.session_state.choice
    st.text(f"{choice.site} {choice.layer} {choice.head}; page runs: {st.session_state['page runs']}")


panel()
