"""Watching and changing attention weights while they are computed.

Shapes: L layer, B batch, H head, Q query, K key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from model_core.model.attention import MaskTap, Tap
from model_core.sites import Site


class AttentionHook(Protocol):
    """Is shown the weights of each attention in turn and returns the weights to use in their place."""

    def __call__(self, site: Site, layer: int, weights: Tensor) -> Tensor:
        """`weights [B, H, Q, K]` of layer `layer` (from 0) at `site` -> weights of the same shape."""
        ...


@runtime_checkable
class MaskHook(Protocol):
    """An `AttentionHook` that is also asked, before the softmax, which cells to allow."""

    def mask(self, site: Site, layer: int, scores: Tensor, allowed: Tensor | None, start: int) -> Tensor | None:
        """Scores `[B, H, Q, K]` before the mask, and the mask -> the mask to use, bool, broadcasting over the scores.

        True = may attend; None = every cell. `start` is the position of the first query row: with a key/value cache
        only the newest rows are computed. No row may be left without a key.
        """
        ...


def mask_tap_at(hook: AttentionHook | None, site: Site, layer: int, start: int = 0) -> MaskTap | None:
    """The hook's mask as one attention sees it; None where the hook leaves masks alone."""
    if hook is None or not isinstance(hook, MaskHook):
        return None
    return lambda scores, allowed: hook.mask(site, layer, scores, allowed, start)


def tap_at(hook: AttentionHook | None, site: Site, layer: int) -> Tap | None:
    """The hook as one attention sees it; None stays None, so that nothing is recorded and the fastest path is taken.

    Raises:
        ValueError: when called, if the hook returns weights of another shape.
    """
    if hook is None:
        return None

    def tap(weights: Tensor) -> Tensor:
        used = hook(site, layer, weights)
        if used.shape != weights.shape:
            raise ValueError(
                f"An attention hook returned weights of shape {list(used.shape)} for layer {layer} of {site}, "
                f"which has {list(weights.shape)}."
            )
        return used

    return tap


class Recorder:
    """Returns what it is given and keeps a copy of it."""

    def __init__(self) -> None:
        self._kept: dict[Site, dict[int, Tensor]] = {}

    def __call__(self, site: Site, layer: int, weights: Tensor) -> Tensor:
        self._kept.setdefault(site, {})[layer] = weights.detach().float().clone()
        return weights

    def weights(self, site: Site) -> Tensor:
        """All layers of a site: `[L, B, H, Q, K]`.

        Raises:
            KeyError: nothing was recorded at that site.
        """
        if site not in self._kept:
            raise KeyError(f"Nothing was recorded at {site!r}; recorded: {sorted(self._kept)}.")
        layers = self._kept[site]
        return torch.stack([layers[index] for index in sorted(layers)])


class HeadKnockout:
    """Sets the weights of one head of one layer and site to zero: what does the model do without it?"""

    def __init__(self, site: Site, layer: int, head: int) -> None:
        self.site, self.layer, self.head = site, layer, head

    def __call__(self, site: Site, layer: int, weights: Tensor) -> Tensor:
        if (site, layer) != (self.site, self.layer):
            return weights
        if not 0 <= self.head < weights.shape[1]:
            raise ValueError(f"There is no head {self.head} in layer {layer} of {site}: it has {weights.shape[1]}.")
        changed = weights.clone()
        changed[:, self.head] = 0.0
        return changed


class ForcedAlignment:
    """Makes one query row of one layer and site attend to one key only, in every head."""

    def __init__(self, site: Site, layer: int, query: int, key: int) -> None:
        self.site, self.layer, self.query, self.key = site, layer, query, key

    def __call__(self, site: Site, layer: int, weights: Tensor) -> Tensor:
        if (site, layer) != (self.site, self.layer):
            return weights
        queries, keys = weights.shape[-2:]
        if not (0 <= self.query < queries and 0 <= self.key < keys):
            raise ValueError(
                f"Query {self.query} and key {self.key} lie outside the {queries} x {keys} weights of {site}."
            )
        changed = weights.clone()
        changed[..., self.query, :] = 0.0
        changed[..., self.query, self.key] = 1.0
        return changed


class Compose:
    """Several hooks in a row: each is given what the one before it returned."""

    def __init__(self, hooks: Sequence[AttentionHook]) -> None:
        self.hooks = tuple(hooks)

    def __call__(self, site: Site, layer: int, weights: Tensor) -> Tensor:
        for hook in self.hooks:
            weights = hook(site, layer, weights)
        return weights

    def mask(self, site: Site, layer: int, scores: Tensor, allowed: Tensor | None, start: int) -> Tensor | None:
        """See `MaskHook`: each hook that has a say in masks is given the mask of the one before it."""
        for hook in self.hooks:
            if isinstance(hook, MaskHook):
                allowed = hook.mask(site, layer, scores, allowed, start)
        return allowed
