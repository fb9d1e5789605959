"""Which map is looked at: a site, a layer and a head, as far as a trace has them. Needs no streamlit."""

from __future__ import annotations

from dataclasses import dataclass

from model_core.trace import Site, TranslationTrace
from viz.link import HEAD, LAYER, MEAN, SITE, LinkChange, Mean
from viz.link_kinds import within


@dataclass(frozen=True)
class Selection:
    """A site, a layer (from 0) and a head (from 0; None is the mean over the heads)."""

    site: Site
    layer: int
    head: int | None

    @property
    def head_text(self) -> str:
        """The head as links and names of files have it: counted from 1, or "mean"."""
        return MEAN if self.head is None else str(self.head + 1)

    def changes(self) -> tuple[LinkChange, LinkChange, LinkChange]:
        """This selection in a link."""
        head = MEAN if self.head is None else self.head
        return SITE.change(self.site), LAYER.change(self.layer), HEAD.change(head)


def selection_of(
    site: Site | None, layer: int | None, head: int | Mean | None, trace: TranslationTrace, default: Selection
) -> Selection:
    """The selection of a link; a part that it leaves out or that this trace does not have is the default's."""
    site = default.site if site is None else site
    maps = trace.maps(site)
    layer = within(layer, maps.layers)
    if head == MEAN:
        chosen = None
    else:
        chosen = within(head, maps.heads)
        chosen = within(default.head, maps.heads) if chosen is None else chosen
    return Selection(site, min(default.layer, maps.layers - 1) if layer is None else layer, chosen)
