"""Which map is looked at, and how: the part of a page's state that its link carries. No streamlit here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model_core.trace import SITES, Site, TranslationTrace

MEAN = "mean"


@dataclass(frozen=True)
class Selection:
    """A site, a layer (from 0) and a head (from 0; None is the mean over the heads)."""

    site: Site
    layer: int
    head: int | None

    def as_query(self) -> dict[str, str]:
        """As a link has it: layers and heads count from 1 there, as on the page."""
        return {
            "site": self.site,
            "layer": str(self.layer + 1),
            "head": MEAN if self.head is None else str(self.head + 1),
        }


def selection_from(query: Mapping[str, str], trace: TranslationTrace, default: Selection) -> Selection:
    """What a link selects; whatever it leaves out, misspells or this trace does not have is the default's."""
    named: dict[str, Site] = {site: site for site in SITES}
    site = named.get(query.get("site", ""), default.site)
    maps = trace.maps(site)
    layer = index_from(query.get("layer", ""), maps.layers)
    head = index_from(query.get("head", ""), maps.heads)
    if head is None and query.get("head") != MEAN and default.head is not None and default.head < maps.heads:
        head = default.head
    return Selection(site, min(default.layer, maps.layers - 1) if layer is None else layer, head)


def index_from(text: str, count: int) -> int | None:
    """A number counted from 1 as an index, if it lies within `count`."""
    plain = len(text) <= 6 and text.isascii() and text.isdigit()
    return int(text) - 1 if plain and 1 <= int(text) <= count else None
