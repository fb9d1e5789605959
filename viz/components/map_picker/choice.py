"""Which map is chosen, when the person in front of the page and the page's script may both say so."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from model_core.trace import SITES, Site
from viz.components.map_picker.pack import Shape


class Choice(NamedTuple):
    """One map. Layers and heads count from 0; head None is the mean over the heads."""

    site: Site
    layer: int
    head: int | None


@dataclass(frozen=True)
class Picked:
    """What the component in the page reports: a choice, and the token of what it had been told before that."""

    choice: Choice
    token: str

    @classmethod
    def read(cls, state: Any) -> Picked | None:
        """From the component's state; None where it holds no choice, or none that a component would make."""
        value = state.get("choice") if isinstance(state, Mapping) else None
        if not isinstance(value, Mapping):
            return None
        site, layer, head, token = (value.get(name) for name in ("site", "layer", "head", "token"))
        if site not in SITES or not isinstance(token, str) or not isinstance(layer, int):
            return None
        return cls(Choice(site, layer, head), token) if head is None or isinstance(head, int) else None


@dataclass(frozen=True)
class Memory:
    """What the script knows of a component from one run to the next.

    `chosen` is what map_picker returned; `told` what the page was last told to show, under a `token` that is new each
    time; `seen` what the component reported up to then.
    """

    chosen: Choice
    told: Choice
    token: str
    seen: Picked | None


def settle(
    memory: Memory | None,
    site: Site,
    layer: int | None,
    head: int | None,
    picked: Picked | None,
    shapes: Mapping[Site, Shape],
) -> Memory:
    """Who wins: a person who picked since the last run; else a script that asks for another map than it was given.

    The page is told (a new token) only where it shows something else than what was chosen: what a person picks is in
    the page already. `layer` None is no wish: the layer chosen before, at first the last one.
    """
    if layer is None:
        layer = memory.chosen.layer if memory else shapes[site][0] - 1
    wish = fit(Choice(site, layer, head), shapes)
    if memory is None:
        return Memory(wish, wish, secrets.token_hex(4), picked)
    new = picked is not None and picked != memory.seen
    chosen = fit(picked.choice, shapes) if picked is not None and new else wish
    shown = picked.choice if picked is not None and picked.token == memory.token else memory.told
    if chosen == shown:
        return replace(memory, chosen=chosen, seen=picked)
    return Memory(chosen, chosen, secrets.token_hex(4), picked)


def fit(choice: Choice, shapes: Mapping[Site, Shape]) -> Choice:
    """The choice where it exists; a layer past the last becomes the last, a head that is not there the mean.

    Raises:
        ValueError: there is no such site.
    """
    if choice.site not in shapes:
        raise ValueError(f"There is no site {choice.site!r}; the sites are {', '.join(shapes)}.")
    layers, heads = shapes[choice.site][:2]
    head = choice.head if choice.head is not None and 0 <= choice.head < heads else None
    return Choice(choice.site, min(max(choice.layer, 0), layers - 1), head)
