"""The changes to the masks: read from the page's link, checked against the sentence, written back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from model_core.config import ModelConfig
from model_core.experiments.masks import MaskCell, MaskError, MaskSetting, Padded, check_setting
from model_core.trace import Site, Tokens, TranslationTrace
from viz.link import OFF, ON, SITE, STEP, Reach
from viz.link_values import spell_cell
from viz.linked import is_given, read, write
from viz.selection import Selection

REFUSED = "masks-refused"


@dataclass(frozen=True)
class Subject:
    """The sentence of the batch that is looked at: its trace, its padded source, the tokens with <pad>, and the model's
    settings."""

    trace: TranslationTrace
    source: Padded
    keys: Tokens  # the source's tokens, padding included
    config: ModelConfig

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
        check_setting(setting, self.source, len(self.target), self.config)

    def refused(self, setting: MaskSetting) -> str | None:
        """Why the setting can't be used, if so."""
        try:
            self.check(setting)
        except MaskError as error:
            return str(error)
        return None


def show_turned_cell() -> None:
    """A link that turns a cell and names no site opens with the site of that cell, and likewise with its row."""
    cells = read(OFF).cells | read(ON).cells
    if not cells or read(SITE) is not None:
        return
    first = min(cells, key=spell_cell)
    row = () if is_given(STEP) or first.site == "encoder_self" else (STEP.change(first.query),)
    write(SITE.change(first.site), *row)


def cell_at(selection: Selection, query: int, key: int, reach: Reach) -> MaskCell:
    """The cell of the chosen map, as far as `reach` says."""
    layer = None if reach == "all layers" else selection.layer
    return MaskCell(selection.site, query, key, layer, selection.head if reach == "this head" else None)


def read_setting(subject: Subject, padding: bool, causal: bool) -> tuple[MaskSetting, int]:
    """The two rules with the cells that the link turns, and how many of these had to be left out: misspelt, or not to
    be had."""
    setting = MaskSetting(padding, causal)
    off, on = read(OFF), read(ON)
    wrong = off.unreadable + on.unreadable
    everything = replace(setting, permitted=on.cells, forbidden=off.cells)
    if subject.refused(everything) is None:
        return everything, wrong
    for name, cells in (("permitted", on.cells), ("forbidden", off.cells)):
        for cell in sorted(cells, key=spell_cell):
            wider = replace(setting, **{name: getattr(setting, name) | {cell}})
            usable = subject.refused(wider) is None
            setting, wrong = (wider, wrong) if usable else (setting, wrong + 1)
    return setting, wrong
