"""Values with a spelling of their own in a link: heads, cells, pieces that a person chose. Needs no streamlit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from model_core.experiments.masks import MaskCell
from model_core.trace import SITES
from viz.link_kinds import Kind, Position

ALL, NONE = "all", "none"
_MOST_HEADS = 64
MOST_IDS = 512  # of a link; no translation is as long
_FORCED = re.compile(r"\d{1,6}f?(?:-\d{1,6}f?)*", re.ASCII)
_IDS = re.compile(r"\d{1,6}(?:-\d{1,6})*", re.ASCII)
_LONGEST_CELLS = 4000  # characters
_POSITION = Position()


@dataclass(frozen=True)
class HeadSet:
    """Heads of a layer that are switched on: all of them, or those with these indices (from 0, rising)."""

    indices: tuple[int, ...] = ()
    everything: bool = False

    @classmethod
    def of(cls, on: Sequence[int], heads: int) -> HeadSet:
        """The set of the heads `on` in a layer of so many heads."""
        return cls(everything=True) if len(on) == heads else cls(tuple(on))

    def among(self, heads: int) -> tuple[int, ...] | None:
        """Those that a layer of so many heads has; None where heads are named and it has none of them."""
        if self.everything:
            return tuple(range(heads))
        there = tuple(index for index in self.indices if index < heads)
        return None if self.indices and not there else there


class Heads(Kind[HeadSet]):
    """ "all", "none" or "1,3"."""

    def parse(self, text: str) -> HeadSet | None:
        if text in (ALL, NONE):
            return HeadSet(everything=text == ALL)
        parsed = map(_POSITION.parse, text.split(",")[:_MOST_HEADS])
        indices = sorted({index for index in parsed if index is not None})
        return HeadSet(tuple(indices)) if indices else None

    def spell(self, value: Any) -> list[str]:
        return [ALL if value.everything else ",".join(str(index + 1) for index in value.indices) or NONE]


class Cell(Kind[tuple[int, int]]):
    """A row and a column (from 0): "3.1" is the third row's first cell."""

    def parse(self, text: str) -> tuple[int, int] | None:
        row, _, column = text.partition(".")
        indices = _POSITION.parse(row), _POSITION.parse(column)
        return None if indices[0] is None or indices[1] is None else (indices[0], indices[1])

    def spell(self, value: Any) -> list[str]:
        return [f"{value[0] + 1}.{value[1] + 1}"]


@dataclass(frozen=True)
class TurnedCells:
    """Cells of masks that a link names, and how many of its parts name none."""

    cells: frozenset[MaskCell] = frozenset()
    unreadable: int = 0


class Cells(Kind[TurnedCells]):
    """ "cross-3-2" is query 3, key 2 in every layer, "cross-3-2-4" in layer 4 only, "cross-3-2-4-1" in that layer's
    head 1 only; cells are joined by dots, in one order."""

    def parse(self, text: str) -> TurnedCells | None:
        parts = text[:_LONGEST_CELLS].split(".") if text else []
        cells = [_parse_cell(part) for part in parts]
        unreadable = cells.count(None) + (len(text) > _LONGEST_CELLS)
        return TurnedCells(frozenset(cell for cell in cells if cell is not None), unreadable)

    def spell(self, value: Any) -> list[str]:
        return [spell_cells(value.cells)]


def spell_cells(cells: Iterable[MaskCell]) -> str:
    """As the link has them, in one order."""
    return ".".join(sorted(map(spell_cell, cells)))


def spell_cell(cell: MaskCell) -> str:
    """As the link has one."""
    where = [index for index in (cell.layer, cell.head) if index is not None]
    return "-".join([cell.site, *(str(index + 1) for index in (cell.query, cell.key, *where))])


def _parse_cell(part: str) -> MaskCell | None:
    name, *numbers = part.split("-")
    indices = [_POSITION.parse(number) for number in numbers]
    site = next((site for site in SITES if site == name), None)
    if site is None or not 2 <= len(indices) <= 4 or None in indices:
        return None
    return MaskCell(site, *indices)  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True)
class ForcedStart:
    """How a translation has to begin: `ids`, of which those at the places `marks` (from 0, ascending, the last one
    among them) were chosen by a person, and the others written by the model before that."""

    ids: tuple[int, ...] = ()
    marks: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.ids)

    def then(self, written: Sequence[int], step: int, id_: int) -> ForcedStart:
        """One more forced piece: `id_` at `step`, after the pieces `written` that stand before it now."""
        return ForcedStart((*written[:step], id_), (*(mark for mark in self.marks if mark < step), step))

    def undone(self) -> ForcedStart:
        """As it was before the last piece was forced."""
        marks = self.marks[:-1]
        return ForcedStart(self.ids[: marks[-1] + 1], marks) if marks else ForcedStart()


class ForcedPieces(Kind[ForcedStart]):
    """ "12-55f-7-91f": ids with an f behind those that a person chose. Pieces behind the last of these are the model's
    own and left out."""

    def parse(self, text: str) -> ForcedStart | None:
        if not text:
            return ForcedStart()
        if not _FORCED.fullmatch(text) or text.count("-") >= MOST_IDS:
            return None
        parts = text.split("-")
        marks = tuple(place for place, part in enumerate(parts) if part.endswith("f"))
        if not marks:
            return None
        return ForcedStart(tuple(int(part.rstrip("f")) for part in parts[: marks[-1] + 1]), marks)

    def spell(self, value: Any) -> list[str]:
        return ["-".join(f"{id_}f" if place in value.marks else str(id_) for place, id_ in enumerate(value.ids))]


class Ids(Kind[tuple[int, ...]]):
    """Ids of pieces: "12-55-7"."""

    def parse(self, text: str) -> tuple[int, ...] | None:
        if not text:
            return ()
        if not _IDS.fullmatch(text) or text.count("-") >= MOST_IDS:
            return None
        return tuple(map(int, text.split("-")))

    def spell(self, value: Any) -> list[str]:
        return ["-".join(map(str, value))]
