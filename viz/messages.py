"""Messages in which text that a person typed may stand: shown as it is, never read as Markdown."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from model_core.text.pieces import byte_of
from model_core.trace import Tokens
from viz.wording import counted

Kind = Literal["note", "progress", "warning", "error"]
_ICONS: dict[Kind, str] = {
    "note": ":material/info:",
    "progress": ":material/hourglass_top:",
    "warning": ":material/warning:",
    "error": ":material/error:",
}


def tell(message: str, kind: Kind = "note") -> None:
    """A framed message, exactly as it is: `st.error` and its like would read Markdown in it, links and images."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(_ICONS[kind], width="content")
        st.text(message)


def tell_removed(count: int, where: str = "what you typed") -> None:
    """That so many control characters had to be removed from `where`; nothing if there were none."""
    if count:
        st.caption(f":material/info: {counted(count, 'control character')} in {where} had to be removed.")


def tell_bytes(tokens: Tokens) -> None:
    """That some pieces are single bytes, with which the model can do little; nothing if none is."""
    count = sum(byte_of(token.piece) is not None for token in tokens)
    if count:
        st.caption(
            f":material/info: {counted(count, 'source piece')} {'is a byte' if count == 1 else 'are bytes'} of "
            "characters that the vocabulary does not have: the model has hardly seen them, so expect little of what it "
            "makes of them."
        )


def tell_cut_off(what: str = "The translation") -> None:
    """That the search met its limit before the translation ended."""
    tell(f"{what} reached its length limit before it ended; its last step, </s>, was added.", "warning")
