"""Which step is shown, when the person in front of the page and the page's script may both say so."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Reported:
    """Where the component says it stands, and the token of what it had been told before that."""

    step: int
    token: str

    @classmethod
    def read(cls, state: Any) -> Reported | None:
        """From the component's state; None where it holds no step, or none that a component would report."""
        value = state.get("at") if isinstance(state, Mapping) else None
        if not isinstance(value, Mapping):
            return None
        step, token = value.get("step"), value.get("token")
        if not isinstance(step, int) or isinstance(step, bool) or not isinstance(token, str):
            return None
        return cls(step, token)


@dataclass(frozen=True)
class Memory:
    """What the script knows from one run to the next.

    `chosen` is the step that was returned; `told` the one that the page was last told to show, under a `token` that is
    new each time; `seen` what the component had reported up to then.
    """

    chosen: int
    told: int
    token: str
    seen: Reported | None


def settle(memory: Memory | None, wish: int, reported: Reported | None, count: int) -> Memory:
    """A person who has moved since the last run wins; else the script's wish, kept to the `count` steps there are.

    The page is told anew (a new token) only where it shows something else than what was chosen.
    """
    wish = fit(wish, count)
    if memory is None:
        return Memory(wish, wish, secrets.token_hex(4), reported)
    moved = reported is not None and reported != memory.seen
    chosen = fit(reported.step, count) if reported is not None and moved else wish
    shown = reported.step if reported is not None and reported.token == memory.token else memory.told
    if chosen == shown:
        return replace(memory, chosen=chosen, seen=reported)
    return Memory(chosen, chosen, secrets.token_hex(4), reported)


def fit(step: int, count: int) -> int:
    """The step, or the nearest one that there is."""
    return min(max(step, 0), count - 1)
