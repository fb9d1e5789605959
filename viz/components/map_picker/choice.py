"""Which map is chosen, when the person in front of the page and the page's script may both say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from model_core.trace import SITES, Site
from viz.components.handshake import Agreement, Report, is_whole, read_report, settle
from viz.components.map_picker.pack import Shape


class Choice(NamedTuple):
    """One map. Layers and heads count from 0; head None is the mean over the heads."""

    site: Site
    layer: int
    head: int | None


def read_choice(state: Any) -> Report[Choice] | None:
    """From the component's state; None where it holds no choice, or none that a component would make."""
    return read_report(state, "choice", _choice_of)


def _choice_of(written: Mapping[str, Any]) -> Choice | None:
    site, layer, head = (written.get(name) for name in Choice._fields)
    if site not in SITES or not is_whole(layer):
        return None
    return Choice(site, layer, head) if head is None or is_whole(head) else None


def settle_choice(
    before: Agreement[Choice] | None,
    site: Site,
    layer: int | None,
    head: int | None,
    report: Report[Choice] | None,
    shapes: Mapping[Site, Shape],
) -> Agreement[Choice]:
    """Who wins: see `settle`. `layer` None is no wish: the one chosen before, at first the last."""
    if layer is None:
        layer = before.chosen.layer if before else shapes[site][0] - 1
    return settle(before, Choice(site, layer, head), report, lambda choice: fit_choice(choice, shapes))


def fit_choice(choice: Choice, shapes: Mapping[Site, Shape]) -> Choice:
    """The choice where it exists; a layer past the last becomes the last, a head that is not there the mean.

    Raises:
        ValueError: there is no such site.
    """
    if choice.site not in shapes:
        raise ValueError(f"There is no site {choice.site!r}; the sites are {', '.join(shapes)}.")
    layers, heads = shapes[choice.site][:2]
    head = choice.head if choice.head is not None and 0 <= choice.head < heads else None
    return Choice(choice.site, min(max(choice.layer, 0), layers - 1), head)
