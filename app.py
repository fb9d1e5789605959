"""The front door: page set-up and navigation, nothing else. Start it with `make run`."""

import streamlit as st

st.set_page_config(page_title="Regard: watch a Transformer translate", page_icon="👁", layout="wide")
st.navigation([st.Page("viz/pages/attend.py", title="Attend", default=True)], position="hidden").run()
