"""The decoder running over a batch of growing translations, the newest ids at a time.

Shapes: R row (one growing translation), S source, D d_model, V target vocabulary.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import torch
from torch import Tensor

from model_core.config import BOS_ID, PAD_ID
from model_core.model.cache import KeyValueCache
from model_core.model.hooks import AttentionHook
from model_core.model.masks import causal_mask, padding_mask
from model_core.model.transformer import Transformer
from model_core.search.decoder_step import DecoderStep


class Cancelled(Exception):  # noqa: N818 -- not an error: somebody asked for it
    """The search was told to stop before it was done."""


def check_cancelled(cancelled: threading.Event | None) -> None:
    """Raises `Cancelled` if that was asked for."""
    if cancelled is not None and cancelled.is_set():
        raise Cancelled("The translation was stopped before it was done.")


def pad_sources(sources: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor | None]:
    """Ids `[R, S]` padded on the right, and their mask: None where nothing is padding, which is faster."""
    longest = max(map(len, sources))
    ids = torch.tensor([[*source, *[PAD_ID] * (longest - len(source))] for source in sources], device=device)
    return ids, None if min(map(len, sources)) == longest else padding_mask(ids, PAD_ID)


class Stepper:
    """Encodes the sources once, unless that was done (`memory [R, S, D]`), then extends their translations; one row for
    each source at first.

    All rows are of one length, so their self-attention needs no padding mask; `select` drops, copies and reorders rows.
    """

    def __init__(
        self,
        model: Transformer,
        sources: Sequence[Sequence[int]],
        hook: AttentionHook | None = None,
        cancelled: threading.Event | None = None,
        memory: Tensor | None = None,
    ) -> None:
        self.model, self.hook, self.cancelled = model, hook, cancelled
        self.device = model.generator.bias.device
        self.sources = list(range(len(sources)))  # which source each row translates
        ids, self.source_allowed = pad_sources(sources, self.device)
        check_cancelled(cancelled)
        self.memory = model.encode(ids, self.source_allowed, hook) if memory is None else memory
        self.cache = KeyValueCache.empty(model.config.layers)
        self.step = DecoderStep(model)

    def begin(self, prefix: Sequence[int]) -> Tensor:
        """Feeds <s> and a forced beginning to every row -> log-probabilities `[R, 1 + len(prefix), V]`."""
        allowed = causal_mask(1 + len(prefix), self.device) if prefix else None
        return self._decode([[BOS_ID, *prefix]] * len(self.sources), allowed)

    def advance(self, ids: Sequence[int]) -> Tensor:
        """Feeds each row its newest id -> log-probabilities of the next one `[R, V]`."""
        if self.hook is not None:
            return self._decode([[id_] for id_ in ids], None)[:, 0]
        check_cancelled(self.cancelled)
        newest = torch.tensor(ids, device=self.device)
        return self.model.generator(self.step(newest, self.cache, self.source_allowed))

    def select(self, rows: Sequence[int]) -> None:
        """Keeps the given rows in the given order; a row may be kept several times."""
        if list(rows) == list(range(len(self.sources))):
            return
        index = torch.tensor(rows, device=self.device)
        sources = [self.sources[row] for row in rows]
        moved = sources != self.sources  # a beam mostly reorders the rows of one source
        if moved and self.source_allowed is not None:
            self.source_allowed = self.source_allowed.index_select(0, index)
        if moved and self.cache.length == 0:  # later the memory is read no more: the cache has its keys and values
            self.memory = self.memory.index_select(0, index)
        self.cache.select(index, memory=moved)
        self.sources = sources

    def _decode(self, ids: list[list[int]], allowed: Tensor | None) -> Tensor:
        check_cancelled(self.cancelled)
        target = torch.tensor(ids, device=self.device)
        states = self.model.decode(target, self.memory, self.source_allowed, allowed, self.hook, self.cache)
        return self.model.generator(states)
