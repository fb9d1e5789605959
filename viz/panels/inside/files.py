"""The numbers of one head as CSV files."""

from __future__ import annotations

import csv
import io
from functools import partial

import streamlit as st

from viz.panels.inside.cells import CellOrigin
from viz.panels.inside.matrices import ShownMatrix, Stage
from viz.picture import csv_button


def table_csv(origin: CellOrigin) -> str:
    """The terms of a cell, in their own order, every digit kept."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(origin.table)
    writer.writerows(zip(*origin.table.values(), strict=True))
    return out.getvalue()


def shown_csv(shown: ShownMatrix) -> str:
    """A matrix with its labels: column numbers (from 1) and texts above, row numbers and texts to the left."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["", "", *range(1, len(shown.columns) + 1)])
    writer.writerow(["", shown.name, *shown.columns])
    for number, (label, row) in enumerate(zip(shown.rows, shown.values, strict=True), start=1):
        writer.writerow([number, label, *(float(value) for value in row)])
    return out.getvalue()


def downloads(stage: Stage) -> None:
    """A CSV file of each matrix of the stage."""
    with st.popover("Matrices as CSV", icon=":material/download:", type="tertiary"):
        for shown in stage.matrices:
            name = "-".join(shown.name.lower().replace("_", " ").split())
            csv = partial(shown_csv, shown)
            csv_button(f"{shown.name} as CSV", csv, f"regard-inside-{name}", key=f"inside-csv-{name}")
