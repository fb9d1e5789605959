"""The Streamlit script that test_matrix.py looks at: matrices of many shapes, one of them a switch."""

from __future__ import annotations

import numpy as np
import streamlit as st

from viz.components.matrix import matrix

NASTY = ("<b>bold</b>", "<img src=x onerror=alert(1)>", "&amp;", "$x^2$", "שלום", "你好", "a")


def numbers(rows: int, columns: int) -> np.ndarray:
    """Random values whose every number tells its place apart."""
    return np.random.default_rng(rows * columns).normal(size=(rows, columns)).astype(np.float32)


st.session_state.setdefault("picks", [])
scores = numbers(5, 7)
scores[0, 3:] = -np.inf
chosen = matrix(
    scores,
    NASTY[:5],
    NASTY,
    key="scores",
    name="Scores",
    diverging=True,
    selected=(2, 1) if st.button("Ask for row 3, column 2") else None,
    corner="query ↓  key →",
    on_pick=lambda row, column: st.session_state.picks.append((row, column)),
)
st.text(f"chosen {chosen}; picks {st.session_state.picks}")
matrix(
    numbers(9, 256),
    [f"piece{i}" for i in range(9)],
    [f"{i + 1}" for i in range(256)],
    key="wide",
    name="X",
    diverging=True,
)
one, two, three = st.columns(3)
with one:
    matrix(numbers(1, 32), None, None, key="row", name="A row", limits=(-2, 2), diverging=True)
with two:
    matrix(abs(numbers(11, 1)), [f"word{i}" for i in range(11)], ["sum"], key="column", name="A column")
with three:
    matrix(numbers(256, 32), None, None, key="tall", name="W_Q", diverging=True)
