"""Interventions that are ready to use: keep values, change them by a function, silence a head, force an alignment.

Shapes: L layer, B batch, H head, Q query, K key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from model_core.config import ModelConfig
from model_core.interventions.intervention import Intervention
from model_core.interventions.names import SITE_ADDRESSES, PointError, points_matching, site_point
from model_core.sites import SITES, Site


class Record(Intervention):
    """Keeps a float32 copy of the value at each point that the patterns name, and changes nothing.

    With a cache, only what was computed last is kept: `record["decoder.0.self_attention.weights"]` then has one row.
    """

    def __init__(self, *patterns: str) -> None:
        super().__init__()
        self.patterns = patterns
        self.kept: dict[str, Tensor] = {}

    def points(self, config: ModelConfig) -> Sequence[str]:
        return list(dict.fromkeys(point for pattern in self.patterns for point in points_matching(config, pattern)))

    def change(self, point: str, value: Tensor, start: int) -> Tensor:
        self.kept[point] = value.detach().clone() if value.dtype == torch.bool else value.detach().float().clone()
        return value

    def __getitem__(self, point: str) -> Tensor:
        """Raises KeyError, with what was recorded, where nothing was at that point."""
        if point not in self.kept:
            raise KeyError(f"Nothing was recorded at {point!r}; recorded: {', '.join(self.kept) or 'nothing'}.")
        return self.kept[point]

    def layers(self, stack: str, sublayer: str, name: str) -> Tensor:
        """A point's values in all layers of a stack, in their order: `[L, ...]`."""
        found = [
            point for point in self.kept if point.split(".")[0::2] == [stack, sublayer] and point.endswith(f".{name}")
        ]
        if not found:
            raise KeyError(f"Nothing was recorded at {stack}.*.{sublayer}.{name}; recorded: {', '.join(self.kept)}.")
        return torch.stack([self.kept[point] for point in sorted(found, key=lambda point: int(point.split(".")[1]))])

    def weights(self, site: Site) -> Tensor:
        """The attention weights of all layers of a site: `[L, B, H, Q, K]`."""
        return self.layers(*SITE_ADDRESSES[site], "weights")


def record_attention(sites: Iterable[Site] = SITES) -> Record:
    """Keeps the attention weights of every layer of the sites."""
    addresses = [SITE_ADDRESSES[site] for site in sites]
    return Record(*(f"{stack}.*.{sublayer}.weights" for stack, sublayer in addresses))


class Change(Intervention):
    """Puts `function(value)` in the place of the value at each point that the pattern names."""

    def __init__(self, pattern: str, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.pattern, self.function = pattern, function

    def points(self, config: ModelConfig) -> Sequence[str]:
        return points_matching(config, self.pattern)

    def change(self, point: str, value: Tensor, start: int) -> Tensor:
        return self.function(value)


class HeadKnockout(Intervention):
    """Sets the weights of one head of one layer and site to zero: the model goes on without it."""

    def __init__(self, site: Site, layer: int, head: int) -> None:
        super().__init__()
        self.site: Site = site
        self.layer, self.head = layer, head

    def points(self, config: ModelConfig) -> Sequence[str]:
        point = site_point(config, self.site, self.layer)
        if not 0 <= self.head < config.heads:
            raise PointError(
                f"There is no head {self.head} in layer {self.layer} of {self.site}: "
                f"it has heads 0 to {config.heads - 1}."
            )
        return [point]

    def change(self, point: str, value: Tensor, start: int) -> Tensor:
        changed = value.clone()
        changed[:, self.head] = 0.0
        return changed


class ForcedAlignment(Intervention):
    """Makes one query position of one layer and site attend to one key only, in every head.

    In a search with a cache it acts at the step that computes that position.
    """

    def __init__(self, site: Site, layer: int, query: int, key: int) -> None:
        super().__init__()
        self.site: Site = site
        self.layer, self.query, self.key = layer, query, key

    def points(self, config: ModelConfig) -> Sequence[str]:
        if min(self.query, self.key) < 0:
            raise PointError(f"Positions count from 0: there is no query {self.query} with a key {self.key}.")
        return [site_point(config, self.site, self.layer)]

    def change(self, point: str, value: Tensor, start: int) -> Tensor:
        queries, keys = value.shape[-2:]
        row = self.query - start
        if not 0 <= row < queries:
            return value
        if self.key >= keys:
            raise PointError(
                f"Query {self.query} can't attend to key {self.key}: {point} has keys 0 to {keys - 1} there."
            )
        changed = value.clone()
        changed[..., row, :] = 0.0
        changed[..., row, self.key] = 1.0
        return changed
