"""Heads, lines and tokens that the head view shows, as the person in front of the page or the page's script wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from viz.components.handshake import Agreement, Report, is_whole, read_report, settle

Side = Literal["query", "key"]


@dataclass(frozen=True)
class Shown:
    """The heads that are switched on (from 0, rising), the percentage of each row's weight that the lines drawn hold,
    the marked token of either side (from 0), and the side whose token is pinned: only its lines are drawn."""

    heads: tuple[int, ...]
    mass: int = 90
    query: int | None = None
    key: int | None = None
    pin: Side | None = None


def settle_shown(
    before: Agreement[Shown] | None,
    view: str,
    wish: Shown,
    report: Report[Shown] | None,
    sizes: tuple[int, int, int],
    alike: bool,
) -> Agreement[Shown]:
    """Who wins: see `settle`. Another `view` (trace and map) starts with the script's wish; `sizes` are heads, queries
    and keys."""
    return settle(before, wish, report, lambda shown: fit_shown(shown, sizes, alike), subject=view, late=False)


def read_shown(state: Any) -> Report[Shown] | None:
    """From the component's state; None where it holds nothing that the component would report."""
    return read_report(state, "shown", _shown_of)


def _shown_of(written: Mapping[str, Any]) -> Shown | None:
    heads, mass, query, key, pin = (written.get(name) for name in ("heads", "mass", "query", "key", "pin"))
    if not isinstance(heads, list | tuple) or not is_whole(mass):
        return None
    whole = all(map(is_whole, heads)) and all(mark is None or is_whole(mark) for mark in (query, key))
    return Shown(tuple(heads), mass, query, key, pin) if whole else None


def fit_shown(shown: Shown, sizes: tuple[int, int, int], alike: bool) -> Shown:
    """The part of it that exists in a view of this size. Where both sides are one sentence (`alike`), a mark stands on
    both."""
    heads, queries, keys = sizes
    marks = [
        at if at is not None and 0 <= at < size else None for at, size in ((shown.query, queries), (shown.key, keys))
    ]
    if alike:
        marks = [marks[0] if marks[0] is not None else marks[1]] * 2
    pin = shown.pin if shown.pin in get_args(Side) and marks[get_args(Side).index(shown.pin)] is not None else None
    on = tuple(sorted({head for head in shown.heads if 0 <= head < heads}))
    return Shown(on, min(max(shown.mass, 5), 100), marks[0], marks[1], pin)
