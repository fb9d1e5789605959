"""The front door: page set-up and navigation, nothing else. Start it with `make run`."""

from pathlib import Path

import streamlit as st

from viz.navigation import ENTRIES

st.set_page_config(page_title="Regard: watch a Transformer translate", page_icon="👁", layout="wide")
st.html(Path(__file__).parent / "viz" / "page.css")
pages = [
    st.Page(entry.script, title=f"{entry.title} · Regard", default=entry is ENTRIES[0])
    for entry in ENTRIES
    if Path(entry.script).exists()
]
st.navigation(pages, position="hidden").run()
