"""Which map is chosen, when the person in front of the page and the page's script may both say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from model_core.trace import SITES, Site
from viz.components import memory
from viz.components.map_picker.pack import Shape


class Choice(NamedTuple):
    """One map. Layers and heads count from 0; head None is the mean over the heads."""

    site: Site
    layer: int
    head: int | None


@dataclass(frozen=True)
class Picked(memory.Reported[Choice]):
    """What the component in the page reports: a choice."""

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


def settle(
    before: memory.Memory[Choice] | None,
    site: Site,
    layer: int | None,
    head: int | None,
    picked: Picked | None,
    shapes: Mapping[Site, Shape],
) -> memory.Memory[Choice]:
    """Who wins: see `viz.components.memory`. `layer` None is no wish: the one chosen before, at first the last."""
    if layer is None:
        layer = before.chosen.layer if before else shapes[site][0] - 1
    return memory.settle(before, Choice(site, layer, head), picked, lambda choice: fit(choice, shapes))


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
