"""Many sources searched for together: those of similar length in one batch, so that little of it is padding."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from model_core.config import DecodingConfig
from model_core.model.transformer import Transformer
from model_core.search.decoding import decode
from model_core.search.hypotheses import Decoded

SOURCES_PER_BATCH = 64


def decode_in_batches(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    config: DecodingConfig,
    *,
    prefix: Sequence[int] = (),
    cancelled: threading.Event | None = None,
    size: int = SOURCES_PER_BATCH,
) -> list[list[Decoded]]:
    """The translations of each source, as `decode` finds them, in the order of the sources; `size` of them at a time.

    Raises:
        ValueError, Cancelled: as `decode` says.
    """
    found: dict[int, list[Decoded]] = {}
    by_length = sorted(range(len(sources)), key=lambda index: len(sources[index]))
    for start in range(0, len(by_length), size):
        batch = by_length[start : start + size]
        results = decode(model, [sources[index] for index in batch], config, prefix=prefix, cancelled=cancelled)
        found |= zip(batch, results, strict=True)
    return [found[index] for index in range(len(sources))]
