"""All attention maps of a trace as a few hundred kilobytes that map_picker.js can read.

Shapes: L layer, H head, Q query, K key, N cell that may be attended to (of Q x K).

Layout: a line of JSON for Python and the page, `{"digest": ..., "shapes": {site: [L, H, Q, K]}}`, then a zlib stream.
Inflated, that is a line of JSON, `{site: {"queries": [Q texts], "keys": [K texts], "strongest": [L][H + 1][3]}}`, then
for each site `allowed` as ceil(Q x K / 8) bytes (row by row, the first cell in the highest bit) and `weights [L, H, N]`
as one byte each, 0 to LEVELS: of a causal site a triangle, not the square.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model_core.trace import SITES, AttentionMaps, Site, Tokens, TranslationTrace
from model_core.trace.view import strongest
from viz.components.packing import digest_of, header_of, packed
from viz.theme import visible

Shape = tuple[int, int, int, int]

# 6 bits are more than a thumbnail's colours can show; deflated, 64 + 64 pieces then fit into 0.4 MB whatever the maps
# are. Bytes of 256 levels took 0.38 MB for a half-trained model, whose maps are neither flat nor sparse.
LEVELS = 63


def pack_maps(trace: TranslationTrace) -> bytes:
    """Packs all maps of all sites, to be made once a trace: it takes some ten milliseconds for 64 + 64 pieces.

    A weight is kept as round(63 sqrt(w)), so that faint ones show and the error is at most 0.016; weights that a hook
    put outside 0 to 1 are taken as 0 or 1. The strongest weight of each map, and of each layer's mean over the heads,
    is kept to four decimals, with its query and key.
    """
    sites = [trace.maps(site) for site in SITES]
    described = {maps.site: _described(maps) for maps in sites}
    stream = _deflated(packed(described, b"".join(map(_cells, sites))))
    shapes = {maps.site: maps.weights.shape for maps in sites}
    return packed({"digest": digest_of(stream), "shapes": shapes}, stream)


def packed_shapes(content: bytes) -> dict[Site, Shape]:
    """`[L, H, Q, K]` of each site, from what pack_maps made. Raises ValueError where it is something else."""
    try:
        shapes = header_of(content)["shapes"]
        return {site: tuple(shapes[site]) for site in SITES}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"These {len(content)} bytes are no maps that pack_maps made.") from error


def _deflated(content: bytes) -> bytes:
    # Weights repeat in runs of zeros only: looking for other repetitions takes five times as long and gains 4 %.
    compressor = zlib.compressobj(strategy=zlib.Z_RLE)
    return compressor.compress(content) + compressor.flush()


def _cells(maps: AttentionMaps) -> bytes:
    roots = np.sqrt(np.clip(maps.weights[:, :, maps.allowed], 0.0, 1.0))
    return np.packbits(maps.allowed).tobytes() + np.rint(roots * LEVELS).astype(np.uint8).tobytes()


def _described(maps: AttentionMaps) -> dict[str, Any]:
    with_mean = np.concatenate([maps.weights, maps.weights.mean(axis=1, keepdims=True)], axis=1)
    return {
        "queries": _texts(maps.query_tokens),
        "keys": _texts(maps.key_tokens),
        "strongest": [[_strongest(head, maps.allowed) for head in layer] for layer in with_mean],
    }


def _texts(tokens: Tokens) -> list[str]:
    return [visible(token.text or token.piece) for token in tokens]


def _strongest(weights: NDArray[np.float32], allowed: NDArray[np.bool_]) -> tuple[int, int, float]:
    query, key, weight = strongest(weights, allowed)
    return query, key, round(weight, 4)
