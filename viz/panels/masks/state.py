"""What a person changed about the masks: read from the page's link, checked against the sentence, written back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import streamlit as st

from model_core.experiments.masks import MaskCell, MaskError, MaskSetting, Padded, check_setting
from model_core.trace import SITES, Site, Tokens, TranslationTrace
from viz.panels.masks.link import read_cells, spell
from viz.selection import Selection
from viz.shared import share, shared

Reach = Literal["this head", "this layer", "all layers"]
REFUSED = "masks-refused"


@dataclass(frozen=True)
class Subject:
    """The sentence of the batch that is looked at: its trace, its padded source, the tokens with <pad>."""

    trace: TranslationTrace
    source: Padded
    keys: Tokens  # the source's tokens, padding included

    @property
    def target(self) -> tuple[int, ...]:
        """The ids that the decoder's rows predict."""
        return tuple(token.id for token in self.trace.predicted_tokens)

    def tokens(self, site: Site) -> tuple[Tokens, Tokens]:
        """Queries and keys of a site."""
        read = self.trace.decoder_input_tokens
        return (
            self.keys if site == "encoder_self" else read,
            read if site == "decoder_self" else self.keys,
        )

    def check(self, setting: MaskSetting) -> None:
        """Raises MaskError where the setting can't be used with this sentence."""
        layers, heads = self.trace.cross.layers, self.trace.cross.heads
        check_setting(setting, self.source, len(self.target), layers, heads)

    def refused(self, setting: MaskSetting) -> str | None:
        """Why the setting can't be used, if so."""
        try:
            self.check(setting)
        except MaskError as error:
            return str(error)
        return None


def show_turned_cell() -> None:
    """A link that turns a cell and names no site opens with the site of that cell, and likewise with its row."""
    cells = [cell for name in ("off", "on") for cell in read_cells(st.query_params.get(name, ""))[0]]
    if not cells or shared("site") in SITES:
        return
    first = min(cells, key=lambda cell: spell([cell]))
    share(site=first.site)
    if not shared("step") and first.site != "encoder_self":
        share(step=str(first.query + 1))


def cell_at(selection: Selection, query: int, key: int, reach: Reach) -> MaskCell:
    """The cell of the chosen map, as far as `reach` says."""
    layer = None if reach == "all layers" else selection.layer
    return MaskCell(selection.site, query, key, layer, selection.head if reach == "this head" else None)


def read_setting(subject: Subject, padding: bool, causal: bool) -> tuple[MaskSetting, int]:
    """The two rules with the cells that the link turns, and how many of these had to be left out: misspelt, or not to
    be had."""
    setting = MaskSetting(padding, causal)
    forbidden, wrong = read_cells(st.query_params.get("off", ""))
    permitted, misspelt = read_cells(st.query_params.get("on", ""))
    wrong += misspelt
    everything = replace(setting, permitted=permitted, forbidden=forbidden)
    if subject.refused(everything) is None:
        return everything, wrong
    for name, cells in (("permitted", permitted), ("forbidden", forbidden)):
        for cell in sorted(cells, key=lambda cell: spell([cell])):
            wider = replace(setting, **{name: getattr(setting, name) | {cell}})
            usable = subject.refused(wider) is None
            setting, wrong = (wider, wrong) if usable else (setting, wrong + 1)
    return setting, wrong
