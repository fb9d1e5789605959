"""One head, stage by stage: a stepper, the matrices of the stage, and the origin of a chosen cell."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from model_core.experiments.anatomy import HeadAnatomy, dissect
from model_core.trace import TranslationTrace
from model_core.translator import Translator
from viz.appearance import is_dark
from viz.components.matrix import Cell, matrix
from viz.figures.products import product_bars
from viz.link import CELL, PROJECTION, STAGE, Projection
from viz.link_kinds import within
from viz.linked import choice, read, write
from viz.panels.inside.cells import CellOrigin
from viz.panels.inside.files import downloads, table_csv
from viz.panels.inside.labels import Labels
from viz.panels.inside.matrices import ShownMatrix, Stage
from viz.panels.inside.stages import STAGES, stage_at
from viz.picture import show_figure
from viz.selection import Selection
from viz.wording import counted, significant

_NAMES = [f"{number} {name}" for number, name in enumerate(STAGES, start=1)]
_WIDEST = 90  # columns of a matrix that is given no more room than this
_NARROWEST = 24
_OPERATOR, _LETTER = 0.04, 0.006  # of the width: the least, and for each letter, so that "softmax" stays in one line


@st.cache_resource(max_entries=32, show_spinner=False)
def head_anatomy(
    checkpoint: str, text: str, selection: Selection, _translator: Translator, _trace: TranslationTrace
) -> HeadAnatomy:
    """The chosen head's numbers, kept for the next look: about 1 MB each for a sentence of usual length."""
    model = _translator.checkpoint.model
    return dissect(model, _trace, selection.site, selection.layer, selection.head or 0)


def go_to(stage: int) -> None:
    """Writes the stage into the link; the first and the last stage are the ends."""
    write(STAGE.change(min(max(stage, 0), len(STAGES) - 1)))


def stage_stepper() -> int:
    """Back, next (arrow keys work too) and a button a stage; returns the stage, from 0."""
    stage = read(STAGE)
    st.session_state["inside-stage"] = _NAMES[stage]

    def chosen() -> None:
        go_to(_NAMES.index(st.session_state.get("inside-stage") or _NAMES[stage]))

    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="inside-stepper"):
        st.button(
            "Back", icon=":material/arrow_back:", on_click=go_to, args=(stage - 1,), key="inside-back",
            disabled=stage == 0, shortcut="Left",
        )  # fmt: skip
        st.button(
            "Next", icon=":material/arrow_forward:", on_click=go_to, args=(stage + 1,), key="inside-next",
            disabled=stage == len(STAGES) - 1, shortcut="Right", type="primary",
        )  # fmt: skip
        st.pills(
            "Stage",
            _NAMES,
            key="inside-stage",
            on_change=chosen,
            required=True,
            label_visibility="collapsed",
            wrap=True,
        )
    return stage


def choose_projection() -> Projection:
    """Which of Q, K and V is made."""
    return choice("Shows how", PROJECTION)


def chosen_cell(shown: ShownMatrix) -> Cell:
    """The cell that the link names if the matrix has it; else the most telling one: a masked score, else the one
    farthest from 0, of the framed columns if some are."""
    rows, columns = shown.values.shape
    cell = read(CELL)
    if cell is not None and within(cell[0], rows) is not None and within(cell[1], columns) is not None:
        return cell
    strength = np.where(np.isfinite(shown.values), np.abs(shown.values), np.inf)
    if shown.masked is not None and not shown.diverging:  # a row of weights with one key is always 1
        strength[(~shown.masked).sum(axis=1) < min(2, columns)] = 0.0
    if shown.framed is not None:
        strength[:, : shown.framed[0]] = strength[:, shown.framed[1] :] = -1.0
    place = np.unravel_index(int(strength.argmax()), shown.values.shape)
    return int(place[0]), int(place[1])


def _pick(row: int, column: int) -> None:
    write(CELL.change((row, column)))


def show_matrix(shown: ShownMatrix, key: str, cell: Cell | None, result: bool) -> None:
    """One matrix under its name and shape; of a result a cell can be chosen, of an operand the framed part made it."""
    rows, columns = shown.values.shape
    st.markdown(f"${shown.tex}$ **{rows} × {columns}** :small[{shown.note}]")
    matrix(
        shown.values,
        shown.rows,
        shown.columns,
        key=key,
        name=shown.name,
        masked=shown.masked,
        diverging=shown.diverging,
        limits=shown.limits,
        selected=cell if result else None,
        row=cell[0] if cell and shown.by_row else None,
        column=cell[1] if cell and shown.by_column else shown.framed,
        on_pick=_pick if result else None,
    )


def show_matrices(stage: Stage, key: str, cell: Cell | None) -> None:
    """All matrices of a stage with their operators, from left to right, or below each other where they are wide."""
    rooms = [
        min(max(part.values.shape[1], _NARROWEST), _WIDEST) if isinstance(part, ShownMatrix) else 0
        for part in stage.parts
    ]
    operators = [_OPERATOR + _LETTER * len(part) if isinstance(part, str) else 0.0 for part in stage.parts]
    widths = [room or share * sum(rooms) for room, share in zip(rooms, operators, strict=True)]
    places = [st.container() for _ in stage.parts] if stage.stacked else st.columns(widths, vertical_alignment="center")
    for number, (place, part) in enumerate(zip(places, stage.parts, strict=True)):
        with place:
            if isinstance(part, str):
                st.markdown(f"**{part}**", text_alignment="left" if stage.stacked else "center")
            else:
                result = part is stage.result and stage.origin is not None
                show_matrix(part, f"{key}-{number}-{part.name}", cell, result)


def show_origin(stage: Stage, origin: CellOrigin, cell: Cell) -> None:
    """How the chosen cell came about: equations, and for a sum its terms as bars and as a table."""
    result = stage.result
    row, column = cell
    st.subheader("How this cell came about", anchor=False)
    st.text(f"{result.name}, row {row + 1} ({result.rows[row]}), column {column + 1}{_named(result.columns, column)}")
    st.text("\n".join(origin.lines))
    if origin.bars is None:
        st.caption("Choose another cell of the last matrix above, by a click or with arrow keys and Enter.")
        return
    largest = int(np.abs(origin.bars).argmax())
    alt = f"{counted(len(origin.bars), 'bar')}, {origin.bars_are}; the largest is "
    alt += f"{significant(origin.bars[largest], 4)}, at {origin.terms_are} {origin.labels[largest]}. They sum to "
    alt += f"{significant(origin.bars.sum())}."
    dark = is_dark()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        figure = product_bars(
            origin.bars, origin.labels, values_are=origin.bars_are, terms_are=origin.terms_are, marked=origin.marked,
            dark=dark,
        )  # fmt: skip
        show_figure(figure, name="regard-inside-cell", key="inside-bars", alt=alt, csv=partial(table_csv, origin))
    with right:
        order = np.argsort(-np.abs(origin.bars), kind="stable")
        table = {name: [column[i] for i in order] for name, column in origin.table.items()}
        st.dataframe(table, hide_index=True, height=290, key="inside-terms")
        st.caption("Sorted by size. Choose another cell of the last matrix above, by a click or with the keyboard.")


def _named(labels: tuple[str, ...], index: int) -> str:
    return "" if labels[index] == str(index + 1) else f" ({labels[index]})"


def stage_panel(anatomy: HeadAnatomy, labels: Labels) -> None:
    """The stepper and the stage that it stands on."""
    index = stage_stepper()
    projection = choose_projection() if STAGES[index] == "Q, K, V" else "Q"
    stage = stage_at(index, anatomy, labels, projection)
    st.markdown(f"**{index + 1} of {len(STAGES)}.** {stage.sentence}")
    cell = chosen_cell(stage.result) if stage.origin else None
    show_matrices(stage, f"inside-{index}-{projection}", cell)
    downloads(stage)
    if cell is not None and stage.origin is not None:
        show_origin(stage, stage.origin(*cell), cell)
