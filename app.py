"""The front door: page set-up and navigation, nothing else. Start it with `make run`, or `regard app`."""

from pathlib import Path

import streamlit as st

from viz import navigation

st.set_page_config(page_title="Regard: watch a Transformer translate", page_icon="👁", layout="wide")
st.html(Path(navigation.__file__).parent / "page.css")
pages = [
    st.Page(entry.script, title=f"{entry.title} · Regard", default=entry is navigation.ENTRIES[0])
    for entry in navigation.ENTRIES
    if Path(entry.script).exists()
]
st.navigation(pages, position="hidden").run()
