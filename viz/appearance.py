"""How the page looks where the person sits."""

from __future__ import annotations

import streamlit as st


def is_dark() -> bool:
    """Whether the page is dark, so that figures are drawn for it."""
    return st.context.theme.type == "dark"
