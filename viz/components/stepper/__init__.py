"""A translation step by step: pieces written so far, the next one's distribution, attention, content of the cache."""

from __future__ import annotations

from typing import Any, NamedTuple

from streamlit.components.v2 import component

from viz.components.colours import of_both_themes
from viz.components.handshake import is_whole, remembered, written_in
from viz.components.packing import packed as with_header
from viz.components.source import script, style
from viz.components.stepper.choice import read_step, settle_step
from viz.components.stepper.pack import CacheShape, Draw, pack_steps, packed_count, shown_pieces
from viz.theme import Palette

__all__ = ["CacheShape", "Draw", "Stepped", "pack_steps", "shown_pieces", "stepper"]

_COMPONENT = component(
    "regard_stepper",
    js=script("stepper", "next_token.js", "looked_at.js", "stepper.js"),
    css=style("stepper", "buttons", "chips"),
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
    agreement = remembered(key, lambda before, state: settle_step(before, step, read_step(state), count))
    header = {"key": key, "token": agreement.token, "step": agreement.sent, "name": name, "colours": _COLOURS}
    result: Any = _COMPONENT(
        key=key, data=with_header(header, packed), on_force_change=lambda: None, on_at_change=lambda: None
    )
    return Stepped(agreement.chosen, _forced(result, count))


def _forced(result: Any, count: int) -> tuple[int, int] | None:
    """(step, id) from what the component triggered; None where it triggered nothing, or nothing that it would."""
    written = written_in(result, "force") or {}
    step, id_ = written.get("step"), written.get("id")
    return (step, id_) if is_whole(step) and is_whole(id_) and 0 <= step < count else None


def _colours(palette: Palette) -> dict[str, Any]:
    return {
        "scale": palette.sequential,
        "bar": palette.series[0],
        "accent": palette.accent,
        "muted": palette.muted,
        "hatch": palette.hatch,
    }


_COLOURS = of_both_themes(_colours)
