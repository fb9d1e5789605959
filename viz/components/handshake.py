"""Who says what a component shows, when the person in front of the page and the page's script both may.

The page's side is shared/handshake.js.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeGuard, TypeVar

import streamlit as st

Value = TypeVar("Value")


@dataclass(frozen=True)
class Report(Generic[Value]):
    """The value that the component in the page shows, and the token of the wish that it obeyed before that.

    `number` tells two picks of the same value apart.
    """

    value: Value
    token: str
    number: int = 0


@dataclass(frozen=True)
class Agreement(Generic[Value]):
    """The script's memory of a component from one run to the next.

    `chosen` is what the component's function returned; `sent` the wish that the page got last, under a `token` that is
    new each time; `seen` the report that had come up to then; `subject` what the value belongs to.
    """

    chosen: Value
    sent: Value
    token: str
    seen: Report[Value] | None
    subject: str = ""


def settle(
    before: Agreement[Value] | None,
    wish: Value,
    report: Report[Value] | None,
    fit: Callable[[Value], Value],
    *,
    subject: str = "",
    late: bool = True,
) -> Agreement[Value]:
    """A person who has changed something since the last run wins; else the script's wish. `fit` keeps to what exists.

    The page gets a wish (a new token) only where it shows something else than what was chosen: what a person does is
    in the page already. Another `subject` starts with the script's wish. Unless `late`, a report does not count that
    was made before the page had the last wish.
    """
    if before is None or before.subject != subject:
        return _sent(fit(wish), report, subject)
    current = report is not None and report.token == before.token
    changed = report is not None and report != before.seen and (late or current)
    chosen = fit(report.value if report is not None and changed else wish)
    shown = report.value if report is not None and current else before.sent
    return replace(before, chosen=chosen, seen=report) if chosen == shown else _sent(chosen, report, subject)


def _sent(value: Value, report: Report[Value] | None, subject: str) -> Agreement[Value]:
    return Agreement(value, value, secrets.token_hex(4), report, subject)


def remembered(key: str, settled: Callable[[Agreement[Value] | None, Any], Agreement[Value]]) -> Agreement[Value]:
    """The agreement on the component with this key, kept in the session; `settled` makes it of the one before and of
    the component's state."""
    place = f"{key}/memory"
    agreement = settled(st.session_state.get(place), st.session_state.get(key))
    st.session_state[place] = agreement
    return agreement


def read_report(state: Any, name: str, read: Callable[[Mapping[str, Any]], Value | None]) -> Report[Value] | None:
    """The report under `name` in a component's state; None where there is none, or none that a component would make.

    `read` gives the value of what the page wrote, None where it makes no sense.
    """
    written = written_in(state, name)
    if written is None:
        return None
    value, token, number = read(written), written.get("token"), written.get("number", 0)
    return Report(value, token, number) if value is not None and isinstance(token, str) and is_whole(number) else None


def written_in(state: Any, name: str) -> Mapping[str, Any] | None:
    """The object that the page wrote into a component's state under `name`, if it is one."""
    written = state.get(name) if isinstance(state, Mapping) else None
    return written if isinstance(written, Mapping) else None


def is_whole(number: object) -> TypeGuard[int]:
    """Whether what came from the page is a whole number, which true and false are not."""
    return isinstance(number, int) and not isinstance(number, bool)
