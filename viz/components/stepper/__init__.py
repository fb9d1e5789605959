"""A translation step by step: what is written, what may come next, what is looked at, what the cache holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import streamlit as st
from streamlit.components.v2 import component

from viz.components.memory import Memory
from viz.components.source import script, style
from viz.components.stepper.choice import Reported, settle
from viz.components.stepper.pack import CacheShape, Draw, pack_steps, packed_count, shown_pieces
from viz.theme import DARK, LIGHT, Palette

__all__ = ["CacheShape", "Draw", "Stepped", "pack_steps", "shown_pieces", "stepper"]

_COMPONENT = component(
    "regard_stepper",
    js=script("stepper", "next_token.js", "looked_at.js", "stepper.js", saves=True),
    css=style("stepper"),
)


class Stepped(NamedTuple):
    """The step that is shown (from 0), and the id that a person has just forced there, if any."""

    step: int
    forced: tuple[int, int] | None


def stepper(packed: bytes, *, step: int, name: str, key: str) -> Stepped:
    """Shows the steps of `packed` (from `pack_steps`) and returns where a person stands.

    All steps are in the page: moving needs no script. Python hears of a step once it has settled, and of an
    alternative that a person forces, as (step, id), in the one run that follows. Pass the step that was returned, or
    another one to make the component follow. `name` begins the names of saved pictures. Put the call into a
    `st.fragment`.

    For tests: `data-testid` is "words" for the pieces, "bar" for a row of the next-token picture (with `data-id` and
    `data-probability`), "looked-at" for a source token (with `data-weight`), "cache" for the cache's numbers.

    Raises:
        ValueError: `packed` was not made by pack_steps.
    """
    count = packed_count(packed)
    remembered: Memory[int] | None = st.session_state.get(f"{key}/memory")
    memory = settle(remembered, step, Reported.read(st.session_state.get(key)), count)
    st.session_state[f"{key}/memory"] = memory
    told = {"key": key, "token": memory.token, "step": memory.told, "name": name, "colours": _COLOURS}
    result: Any = _COMPONENT(
        key=key,
        data=json.dumps(told).encode() + b"\n" + packed,
        on_force_change=lambda: None,
        on_at_change=lambda: None,
    )
    return Stepped(memory.chosen, _forced(getattr(result, "force", None), count))


def _forced(value: Any, count: int) -> tuple[int, int] | None:
    """(step, id) from what the component triggered; None where it triggered nothing, or nothing that it would."""
    if not isinstance(value, Mapping):
        return None
    step, id_ = value.get("step"), value.get("id")
    if not isinstance(step, int) or not isinstance(id_, int) or not 0 <= step < count:
        return None
    return step, id_


def _colours(palette: Palette) -> dict[str, Any]:
    return {
        "scale": palette.sequential,
        "bar": palette.series[0],
        "accent": palette.accent,
        "muted": palette.muted,
        "hatch": palette.hatch,
    }


_COLOURS = {"light": _colours(LIGHT), "dark": _colours(DARK)}
