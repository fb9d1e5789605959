"""The behaviour of each attention head on one sentence, in a handful of numbers. numpy only.

Shapes: L layer, H head, Q query, K key.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from model_core.sites import Site
from model_core.trace.maps import AttentionMaps

BADGE_SHARE = 0.8
"""A head whose rows give one place at least this share of their weight, on average, does little but that."""

SHARES: dict[Site, tuple[str, ...]] = {
    "encoder_self": ("first", "previous", "same", "last"),
    "decoder_self": ("first", "previous", "same"),
    "cross": ("first", "diagonal", "last"),
}
"""The shares that mean something at a site. Under the causal mask the last key is the token itself, and in
cross-attention queries and keys are different sentences, so that there is no previous and no same position."""

BADGES = {
    "first": "first token",
    "previous": "previous token",
    "same": "itself",
    "diagonal": "diagonal",
    "last": "last token",
}


def head_statistics(maps: AttentionMaps) -> dict[str, NDArray[np.float64]]:
    """Means over the query rows, each `[L, H]`.

    `entropy` is in nats over the keys that a row may attend to, divided by that of an even spread (0: one key, 1: all
    alike; rows with a single key are left out). The other four are the share of a row's weight on the `first` key, the
    `last` key that it may attend to, the `same` position and the `previous` position (rows that have one).
    """
    weights, allowed = maps.weights.astype(np.float64), maps.allowed
    counts = allowed.sum(axis=1)
    rows = np.arange(weights.shape[2])
    last = allowed.shape[1] - 1 - np.argmax(allowed[:, ::-1], axis=1)
    return {
        "entropy": _mean_entropy(weights, counts, np.log(np.maximum(counts, 2))),
        "first": weights[..., 0].mean(axis=-1),
        "last": weights[..., rows, last].mean(axis=-1),
        "same": _share_at(weights, 0),
        "previous": _share_at(weights, -1),
    }


def entropy_in_nats(maps: AttentionMaps) -> NDArray[np.float64]:
    """-sum p ln p of a row of weights (Shannon 1948), its mean over the rows that have more than one key, `[L, H]`."""
    return _mean_entropy(maps.weights.astype(np.float64), maps.allowed.sum(axis=1), np.ones(maps.weights.shape[2]))


def diagonal_share(maps: AttentionMaps) -> NDArray[np.float64]:
    """The mean share of row t's weight on key t + 1, over the rows that have such a key, `[L, H]`.

    Both count from 0 and both sentences begin with `<s>`: in cross-attention row t predicts target piece t + 1, so this
    is the share on the source piece of the same rank, what copying word for word would look at.
    """
    return _share_at(maps.weights.astype(np.float64), 1)


def site_statistics(maps: AttentionMaps) -> dict[str, NDArray[np.float64]]:
    """The statistics to show of the maps' site, each `[L, H]`: `nats`, `entropy` (normalised), then its SHARES."""
    everything = {"nats": entropy_in_nats(maps), "diagonal": diagonal_share(maps), **head_statistics(maps)}
    return {name: everything[name] for name in ("nats", "entropy", *SHARES[maps.site])}


def badges(statistics: dict[str, NDArray[np.float64]], layer: int, head: int) -> list[str]:
    """The habits of a head in words: every share of it that reaches BADGE_SHARE. Usually none."""
    return [
        BADGES[name] for name, values in statistics.items() if name in BADGES and values[layer, head] >= BADGE_SHARE
    ]


def _mean_entropy(
    weights: NDArray[np.float64], counts: NDArray[np.int64], units: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The mean over rows with a choice of their entropy in `units [Q]` nats, `[L, H]`; 0 where no row has one."""
    free = counts > 1
    if not free.any():
        return np.zeros(weights.shape[:2])
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return (-(weights * logs).sum(axis=-1)[..., free] / units[free]).mean(axis=-1)


def _share_at(weights: NDArray[np.float64], offset: int) -> NDArray[np.float64]:
    """The mean weight on key t + offset over the rows t that have such a key; 0 where none has."""
    rows = np.arange(weights.shape[2])
    rows = rows[(rows + offset >= 0) & (rows + offset < weights.shape[3])]
    return weights[..., rows, rows + offset].mean(axis=-1) if rows.size else np.zeros(weights.shape[:2])
