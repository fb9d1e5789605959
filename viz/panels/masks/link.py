"""Cells of masks as a link spells them: "cross-3-2" is query 3, key 2 in every layer, "cross-3-2-4" in layer 4 only,
"cross-3-2-4-1" in that layer's head 1 only; cells are joined by dots. No streamlit here."""

from __future__ import annotations

from collections.abc import Iterable

from model_core.experiments.masks import MaskCell
from model_core.trace import SITES
from viz.selection import index_from

_MOST = 1_000_000  # what fits a sentence is checked elsewhere
_LONGEST_LINK = 4000


def spell(cells: Iterable[MaskCell]) -> str:
    """As the link has it, in one order."""
    return ".".join(sorted(_spell(cell) for cell in cells))


def _spell(cell: MaskCell) -> str:
    where = [index for index in (cell.layer, cell.head) if index is not None]
    return "-".join([cell.site, *(str(index + 1) for index in (cell.query, cell.key, *where))])


def read_cells(link: str) -> tuple[frozenset[MaskCell], int]:
    """The cells that a link names, and how many of its parts name none."""
    found, wrong = set(), 0
    for part in link[:_LONGEST_LINK].split(".") if link else ():
        cell = _read(part)
        found |= {cell} if cell else set()
        wrong += cell is None
    return frozenset(found), wrong + (len(link) > _LONGEST_LINK)


def _read(part: str) -> MaskCell | None:
    name, *numbers = part.split("-")
    indices = [index_from(number, _MOST) for number in numbers]
    site = next((site for site in SITES if site == name), None)
    if site is None or not 2 <= len(indices) <= 4 or None in indices:
        return None
    return MaskCell(site, *indices)  # pyright: ignore[reportArgumentType]
