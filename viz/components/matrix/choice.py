"""Which cell is chosen, when the person in front of the page and the page's script may both say so."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

Cell = tuple[int, int]


@dataclass(frozen=True)
class Picked:
    """What the component in the page reports: a cell, the token of what it had been told before, the pick's number."""

    cell: Cell
    token: str
    number: int

    @classmethod
    def read(cls, state: Any) -> Picked | None:
        """From the component's state; None where it holds no cell, or none that a component would make."""
        value = state.get("cell") if isinstance(state, Mapping) else None
        if not isinstance(value, Mapping):
            return None
        row, column, token, number = (value.get(name) for name in ("row", "column", "token", "number"))
        if not (isinstance(row, int) and isinstance(column, int) and isinstance(number, int)):
            return None
        return cls((row, column), token, number) if isinstance(token, str) else None


@dataclass(frozen=True)
class Memory:
    """What the script knows of a matrix from one run to the next.

    `chosen` is what matrix() returned; `told` what the page was last told to show, under a `token` that is new each
    time; `seen` what the component reported up to then.
    """

    chosen: Cell | None
    told: Cell | None
    token: str
    seen: Picked | None


def settle(memory: Memory | None, wish: Cell | None, picked: Picked | None, shape: tuple[int, int]) -> Memory:
    """Who wins: a person who picked since the last run; else the script's wish; else what was chosen before.

    A cell that a matrix of this `shape` does not have is none. The page is told (a new token) only where it shows
    something else than what was chosen: what a person picks is in the page already.
    """
    if memory is None:
        cell = _fit(wish, shape)
        return Memory(cell, cell, secrets.token_hex(4), picked)
    new = picked is not None and picked != memory.seen
    chosen = _fit(picked.cell if picked is not None and new else wish or memory.chosen, shape)
    shown = picked.cell if picked is not None and picked.token == memory.token else memory.told
    if chosen == shown:
        return replace(memory, chosen=chosen, seen=picked)
    return Memory(chosen, chosen, secrets.token_hex(4), picked)


def _fit(cell: Cell | None, shape: tuple[int, int]) -> Cell | None:
    inside = cell is not None and 0 <= cell[0] < shape[0] and 0 <= cell[1] < shape[1]
    return (cell[0], cell[1]) if cell is not None and inside else None
