"""A Plotly figure on a page, with all the ways to take it home."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import plotly.graph_objects as go
import streamlit as st

from viz.figures.export import standalone_html

Format = Literal["PNG", "SVG"]


def chart_config(file_name: str, picture: str) -> dict[str, object]:
    """Plotly's settings: no logo, no formulas in labels, and a camera that saves `picture` ("PNG" or "SVG")."""
    options = {"format": picture.lower(), "filename": file_name, "scale": 2}
    return {"displaylogo": False, "typesetMath": False, "toImageButtonOptions": options}


def show_figure(
    figure: go.Figure,
    *,
    name: str,
    key: str,
    alt: str,
    csv: Callable[[], str] | None = None,
    title: str | None = None,
) -> None:
    """Draws the figure, and under it a small menu: CSV of its numbers, HTML, and what the camera button saves.

    `name` is the files' name without ending, `alt` says the figure's main number to those who can't see it, `csv` is
    called when the file is asked for, `title` heads the HTML page (`alt` if there is none).
    """
    picture = st.session_state.get(f"{key}-picture") or "PNG"
    st.plotly_chart(figure, key=key, theme=None, alt=alt, config=chart_config(name, picture))
    menu = st.container(horizontal=True, horizontal_alignment="right", key=f"picture-menu-{key}")
    with menu, st.popover("Download", type="tertiary"):
        if csv is not None:
            st.download_button(
                "The numbers as CSV",
                lambda: csv().encode("utf-8-sig"),
                f"{name}.csv",
                "text/csv",
                on_click="ignore",
                key=f"{key}-csv",
            )
        st.download_button(
            "The figure as HTML",
            lambda: standalone_html(figure, title or alt).encode(),
            f"{name}.html",
            "text/html",
            on_click="ignore",
            key=f"{key}-html",
        )
        st.segmented_control(
            "The camera in the figure saves", get_args(Format), default="PNG", required=True, key=f"{key}-picture"
        )
