"""The front door: page set-up and navigation, nothing else. Start it with `make run`."""

from pathlib import Path

import streamlit as st

st.set_page_config(page_title="Regard: watch a Transformer translate", page_icon="👁", layout="wide")
st.html(Path(__file__).parent / "viz" / "page.css")
st.navigation([st.Page("viz/pages/attend.py", title="Attend", default=True)], position="hidden").run()
