"""A Plotly figure on a page, and the buttons that download it and its numbers."""

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


def csv_button(label: str, csv: Callable[[], str], name: str, *, key: str, alone: bool = False) -> None:
    """A button that downloads a table, made when it is clicked; `name` is the file's without its ending.

    The mark at its beginning tells spreadsheets that it is UTF-8. `alone`: outside a menu, as a link with an icon.
    """
    st.download_button(
        label,
        lambda: csv().encode("utf-8-sig"),
        f"{name}.csv",
        "text/csv",
        on_click="ignore",
        type="tertiary" if alone else "secondary",
        icon=":material/download:" if alone else None,
        key=key,
    )


def html_button(label: str, figure: go.Figure, name: str, *, title: str, key: str) -> None:
    """A button that downloads the figure as an HTML page, made when it is clicked; see `csv_button`."""
    st.download_button(
        label,
        lambda: standalone_html(figure, title).encode(),
        f"{name}.html",
        "text/html",
        on_click="ignore",
        key=key,
    )


def show_figure(
    figure: go.Figure,
    *,
    name: str,
    key: str,
    alt: str,
    csv: Callable[[], str] | None = None,
    title: str | None = None,
) -> None:
    """Draws the figure, and under it a small menu: CSV of its numbers, HTML, and the format that the camera saves.

    `name` is the files' name without ending, `alt` says the figure's main number to those who can't see it, `csv` is
    called when its button is clicked, `title` heads the HTML page (`alt` if there is none).
    """
    picture = st.session_state.get(f"{key}-picture") or "PNG"
    st.plotly_chart(figure, key=key, theme=None, alt=alt, config=chart_config(name, picture))
    menu = st.container(horizontal=True, horizontal_alignment="right", key=f"picture-menu-{key}")
    with menu, st.popover("Download", type="tertiary"):
        if csv is not None:
            csv_button("The numbers as CSV", csv, name, key=f"{key}-csv")
        html_button("The figure as HTML", figure, name, title=title or alt, key=f"{key}-html")
        st.segmented_control(
            "The camera in the figure saves", get_args(Format), default="PNG", required=True, key=f"{key}-picture"
        )
