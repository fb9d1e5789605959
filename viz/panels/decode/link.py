"""What the Decode page's link says of pieces that a person chose: a forced beginning, a hypothesis. No streamlit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST_IDS = 512  # of a link; no translation is as long
_FORCED = re.compile(r"\d{1,6}f?(?:-\d{1,6}f?)*", re.ASCII)
_IDS = re.compile(r"\d{1,6}(?:-\d{1,6})*", re.ASCII)


@dataclass(frozen=True)
class Forced:
    """How a translation has to begin: `ids`, of which those at the places `marks` (from 0, ascending, the last one
    among them) were chosen by a person, and the others written by the model before that.

    In a link: "12-55f-7-91f", ids with an f behind those that a person chose.
    """

    ids: tuple[int, ...] = ()
    marks: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.ids)

    def as_query(self) -> str:
        return "-".join(f"{id_}f" if place in self.marks else str(id_) for place, id_ in enumerate(self.ids))

    def then(self, written: Sequence[int], step: int, id_: int) -> Forced:
        """One more forced piece: `id_` at `step`, after the pieces `written` that stand before it now."""
        return Forced((*written[:step], id_), (*(mark for mark in self.marks if mark < step), step))

    def undone(self) -> Forced:
        """As it was before the last piece was forced."""
        marks = self.marks[:-1]
        return Forced(self.ids[: marks[-1] + 1], marks) if marks else Forced()


def forced_from(text: str) -> Forced | None:
    """What a link says; None where it can't be read. Pieces behind the last that a person chose are the model's own."""
    if not text:
        return Forced()
    if not _FORCED.fullmatch(text) or text.count("-") >= MOST_IDS:
        return None
    parts = text.split("-")
    marks = tuple(place for place, part in enumerate(parts) if part.endswith("f"))
    if not marks:
        return None
    return Forced(tuple(int(part.rstrip("f")) for part in parts[: marks[-1] + 1]), marks)


def ids_as_query(ids: Sequence[int]) -> str:
    """Ids as a link has them: "12-55-7"."""
    return "-".join(map(str, ids))


def ids_from(text: str) -> tuple[int, ...] | None:
    """Ids from a link; None where there are none, or where it can't be read."""
    if not _IDS.fullmatch(text) or text.count("-") >= MOST_IDS:
        return None
    return tuple(map(int, text.split("-")))
