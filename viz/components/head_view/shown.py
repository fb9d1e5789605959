"""What the head view shows, when the person in front of the page and the page's script may both say so."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

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


@dataclass(frozen=True)
class Memory:
    """What the script knows of a view from one run to the next.

    `view` names what is shown (trace and map); `told` is what the page was last told to show, under a `token` that is
    new each time; `shown` what it shows now; `reported` what it said last.
    """

    view: str
    told: Shown
    token: str
    shown: Shown
    reported: Shown | None = None


def settle(
    memory: Memory | None, view: str, asked: Shown, report: object, sizes: tuple[int, int, int], alike: bool
) -> Memory:
    """Who wins: another view starts with what is asked; else a person who has just changed something; else a script
    that asks for something else than what is shown. `sizes` are heads, queries and keys.

    The page is told (a new token) only where it shows something else already: what a person does is in the page.
    """
    asked = fit(asked, sizes, alike)
    if memory is None or memory.view != view:
        return Memory(view, asked, secrets.token_hex(4), asked)
    token, reported = read(report)
    if reported is not None and token == memory.token and reported != memory.reported:
        return replace(memory, shown=fit(reported, sizes, alike), reported=reported)
    if asked != memory.shown:
        return Memory(view, asked, secrets.token_hex(4), asked)
    return memory


def read(report: object) -> tuple[str, Shown | None]:
    """The token and the content of what the page reports; None where it is nothing that the component would say."""
    value: Any = report.get("shown") if isinstance(report, Mapping) else None
    if not isinstance(value, Mapping):
        return "", None
    token, heads, mass = value.get("token"), value.get("heads"), value.get("mass")
    query, key, pin = value.get("query"), value.get("key"), value.get("pin")
    if not isinstance(token, str) or not isinstance(heads, list | tuple) or not isinstance(mass, int):
        return "", None
    whole = all(isinstance(head, int) for head in heads)
    whole = whole and all(at is None or isinstance(at, int) for at in (query, key))
    return (token, Shown(tuple(heads), mass, query, key, pin)) if whole else ("", None)


def fit(shown: Shown, sizes: tuple[int, int, int], alike: bool) -> Shown:
    """What of it exists in a view of this size. Where both sides are one sentence (`alike`), a mark stands on both."""
    heads, queries, keys = sizes
    marks = [
        at if at is not None and 0 <= at < size else None for at, size in ((shown.query, queries), (shown.key, keys))
    ]
    if alike:
        marks = [marks[0] if marks[0] is not None else marks[1]] * 2
    pin = shown.pin if shown.pin in get_args(Side) and marks[get_args(Side).index(shown.pin)] is not None else None
    on = tuple(sorted({head for head in shown.heads if 0 <= head < heads}))
    return Shown(on, min(max(shown.mass, 5), 100), marks[0], marks[1], pin)
