"""The masks of one sentence as a person may change them: the two rules switched off, single cells turned.

Shapes: L layer, H head, Q query, K key, S source (padding included).
Masks are boolean, True = may attend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from model_core.config import PAD_ID, ModelConfig
from model_core.interventions import Intervention, site_of, site_points
from model_core.model.masks import causal_mask
from model_core.sites import SITES, Site

MAX_CELLS = 64


class MaskError(ValueError):
    """A mask that no attention can use. Its message is a sentence for the person who changed it."""


def check_site(site: str) -> None:
    """Raises MaskError where attention has no such site."""
    if site not in SITES:
        raise MaskError(f"There is no site {site!r}; the sites are {', '.join(SITES)}.")


@dataclass(frozen=True)
class MaskCell:
    """One cell of a site's masks. Everything counts from 0; `head` None means every one, `layer` None all layers.

    Raises:
        MaskError: there is no such site, or a head is named without its layer.
    """

    site: Site
    query: int
    key: int
    layer: int | None = None
    head: int | None = None

    def __post_init__(self) -> None:
        check_site(self.site)
        if self.layer is None and self.head is not None:
            raise MaskError(
                f"A cell in head {self.head + 1} of no layer lies nowhere: name its layer, or no head, which means all."
            )

    @property
    def width(self) -> int:
        """How many masks it lies in, as a rank: 2 in those of all layers, 1 of one layer, 0 of one head."""
        return 2 if self.layer is None else 1 if self.head is None else 0

    def covers(self, other: MaskCell) -> bool:
        """Whether every mask that `other` lies in is one that this cell lies in."""
        same = (self.site, self.query, self.key) == (other.site, other.query, other.key)
        return same and self.layer in (None, other.layer) and self.head in (None, other.head)

    def is_in(self, site: Site, layer: int) -> bool:
        """Whether it lies in a mask of that layer."""
        return self.site == site and self.layer in (None, layer)


@dataclass(frozen=True)
class MaskSetting:
    """The masks of one sentence: the two rules, then single cells that are permitted or forbidden against them.

    `padding` and `causal` True are the masks that the model was trained with. Of two cells at one place the narrower
    one counts: a head's against its layer's, a layer's against that of all layers.
    """

    padding: bool = True
    causal: bool = True
    permitted: frozenset[MaskCell] = frozenset()
    forbidden: frozenset[MaskCell] = frozenset()

    @property
    def usual(self) -> bool:
        """Nothing was changed."""
        return self == MaskSetting()

    def turned(self) -> list[tuple[MaskCell, bool]]:
        """The single cells, each with its new value (True: may attend), in the order in which to apply them."""
        cells = [(cell, True) for cell in self.permitted] + [(cell, False) for cell in self.forbidden]
        return sorted(cells, key=lambda turned: (-turned[0].width, -turned[1]))


@dataclass(frozen=True)
class Padded:
    """A source `<s> pieces </s>` and the length of the batch that it is padded to.

    Raises:
        MaskError: the source is longer than that.
    """

    ids: tuple[int, ...]
    length: int

    def __post_init__(self) -> None:
        if self.length < len(self.ids):
            raise MaskError(
                f"A source of {len(self.ids)} ids can't be padded to {self.length}: give a length of {len(self.ids)} "
                "or more."
            )

    @property
    def padding(self) -> int:
        """The number of <pad> that follow the ids."""
        return self.length - len(self.ids)

    @property
    def padded_ids(self) -> tuple[int, ...]:
        """The ids with their <pad>."""
        return (*self.ids, *[PAD_ID] * self.padding)


class ChangedMasks(Intervention):
    """Puts a setting's masks in the place of the model's own, for one padded source."""

    def __init__(self, setting: MaskSetting, source: Padded) -> None:
        super().__init__()
        self.setting, self.source = setting, source

    def points(self, config: ModelConfig) -> Sequence[str]:
        """The masks of all sites and layers."""
        return [point for site in SITES for point in site_points(config, site, "mask")]

    def change(self, point: str, value: Tensor, start: int) -> Tensor:
        """`value` is the model's mask, `[B, H, Q, K]`."""
        heads, queries, keys = value.shape[-3:]
        mask = self.allowed(*site_of(point), heads, queries, keys, start)
        return mask.to(value.device).expand(value.shape)

    def allowed(self, site: Site, layer: int, heads: int, queries: int, keys: int, start: int = 0) -> Tensor:
        """The mask of a layer, bool `[H, Q, K]`, for `queries` rows from position `start` on.

        In a search with a key/value cache a row is computed once, when only the keys up to itself exist: a cell that
        allows a later key then does nothing.
        """
        rule = self._rule(site, queries, keys, start)
        mask = rule.expand(heads, queries, keys).clone()
        for cell, value in self.setting.turned():
            row = cell.query - start
            if cell.is_in(site, layer) and 0 <= row < queries and cell.key < keys:
                mask[slice(None) if cell.head is None else cell.head, row, cell.key] = value
        return mask

    def _rule(self, site: Site, queries: int, keys: int, start: int) -> Tensor:
        """The mask by the two rules alone: `[Q, K]`, or `[1, K]` where all rows are alike."""
        if site == "decoder_self":
            whole = start + queries
            return causal_mask(whole)[start:, :keys] if self.setting.causal else torch.ones(1, keys, dtype=torch.bool)
        mask = torch.ones(1, keys, dtype=torch.bool)
        if self.setting.padding:
            mask[:, len(self.source.ids) :] = False
        return mask


def flipped(setting: MaskSetting, source: Padded, cell: MaskCell, layer: int, head: int) -> MaskSetting:
    """The setting with the cell turned to the opposite of its value in `layer` and `head`, in every mask it lies in.

    Narrower cells at its place are dropped, and it is named only where the rest of the setting does not say so yet.
    """
    value = not _value(setting, source, cell, layer, head)
    without = replace(
        setting,
        permitted=frozenset(other for other in setting.permitted if not cell.covers(other)),
        forbidden=frozenset(other for other in setting.forbidden if not cell.covers(other)),
    )
    if _value(without, source, cell, layer, head) == value:
        return without
    name = "permitted" if value else "forbidden"
    return replace(without, **{name: getattr(without, name) | {cell}})


def _value(setting: MaskSetting, source: Padded, cell: MaskCell, layer: int, head: int) -> bool:
    size = max(cell.query, cell.key) + 1
    allowed = ChangedMasks(setting, source).allowed(cell.site, layer, head + 1, size, size)
    return bool(allowed[head, cell.query, cell.key])


def check_setting(setting: MaskSetting, source: Padded, target_length: int, config: ModelConfig) -> None:
    """Raises MaskError for too many cells, a cell that is not there, and a row that would be left without a key.

    A decoder row has to keep a key among those that exist when a search computes it: itself and the rows before it.
    """
    cells = setting.permitted | setting.forbidden
    if len(cells) > MAX_CELLS:
        raise MaskError(f"{len(cells)} cells are changed; at most {MAX_CELLS} can be. Reset some.")
    for cell in cells:
        queries, keys = _size(cell.site, source, target_length)
        for name, index, size in (
            ("query", cell.query, queries),
            ("key", cell.key, keys),
            ("layer", cell.layer, config.depth(cell.site)),
            ("head", cell.head, config.heads),
        ):
            if index is not None and not 0 <= index < size:
                raise MaskError(
                    f"There is no {name} {index + 1} in this sentence's {_site_name(cell.site)}: it has {size}."
                )
    for site in SITES:
        _check_rows(ChangedMasks(setting, source), site, *_size(site, source, target_length), config)


def _site_name(site: Site) -> str:
    return f"{site.replace('_', ' ')}-attention"


def _size(site: Site, source: Padded, target_length: int) -> tuple[int, int]:
    """Queries and keys of a site."""
    queries = source.length if site == "encoder_self" else target_length
    return queries, target_length if site == "decoder_self" else source.length


def _check_rows(masks: ChangedMasks, site: Site, queries: int, keys: int, config: ModelConfig) -> None:
    if not any(cell.site == site for cell in masks.setting.forbidden):
        return
    for layer in range(config.depth(site)):
        allowed = masks.allowed(site, layer, config.heads, queries, keys)
        if site == "decoder_self":
            allowed &= causal_mask(queries)
        empty = allowed.any(dim=-1).logical_not().nonzero().tolist()
        if empty:
            head, row = empty[0]
            raise MaskError(
                f"Query {row + 1} would have no key left in layer {layer + 1}, head {head + 1} of {_site_name(site)}: "
                "a softmax needs at least one. Allow another key of this row first."
            )
