"""Who says what a component shows, when the person in front of the page and the page's script both may."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Reported(Generic[T]):
    """What the component in the page says that it shows, and the token of what it had been told before that.

    `number` tells two picks of the same value apart.
    """

    value: T
    token: str
    number: int = 0


@dataclass(frozen=True)
class Memory(Generic[T]):
    """What the script knows of a component from one run to the next.

    `chosen` is what the component's function returned; `told` what the page was last told to show, under a `token`
    that is new each time; `seen` what the component had reported up to then.
    """

    chosen: T
    told: T
    token: str
    seen: Reported[T] | None


def settle(memory: Memory[T] | None, wish: T, reported: Reported[T] | None, fit: Callable[[T], T]) -> Memory[T]:
    """A person who has changed something since the last run wins; else the script's wish. `fit` keeps to what exists.

    The page is told anew (a new token) only where it shows something else than what was chosen: what a person does is
    in the page already.
    """
    if memory is None:
        return _told(fit(wish), reported)
    new = reported is not None and reported != memory.seen
    chosen = fit(reported.value if reported is not None and new else wish)
    shown = reported.value if reported is not None and reported.token == memory.token else memory.told
    return replace(memory, chosen=chosen, seen=reported) if chosen == shown else _told(chosen, reported)


def _told(value: T, reported: Reported[T] | None) -> Memory[T]:
    return Memory(value, value, secrets.token_hex(4), reported)
