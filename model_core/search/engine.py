"""Engines, which a search asks for the log-probabilities of the next id of a batch of growing translations.

Shapes: R row (one growing translation), S source, D d_model, V target vocabulary.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from model_core.config import BOS_ID, PAD_ID
from model_core.interventions import Interventions, make_call
from model_core.model.cache import KeyValueCache
from model_core.model.masks import causal_mask, padding_mask
from model_core.model.transformer import Transformer
from model_core.search.lifted import LiftedDecoder
from model_core.search.own_modules import is_as_written
from model_core.tensors.padding import pad


class Cancelled(Exception):  # noqa: N818 -- not an error: somebody asked for it
    """The search was told to stop before it was done."""


def check_cancelled(cancelled: threading.Event | None) -> None:
    """Raises `Cancelled` if that was asked for."""
    if cancelled is not None and cancelled.is_set():
        raise Cancelled("The translation was stopped before it was done.")


class Engine(Protocol):
    """Extends the translations of some sources, one row for each source at first; rows are all of one length."""

    sources: list[int]
    """Which source each row translates."""

    def begin(self, prefix: Sequence[int]) -> Tensor:
        """Feeds <s> and a forced beginning to every row -> log-probabilities `[R, 1 + len(prefix), V]`."""
        ...

    def advance(self, ids: Sequence[int]) -> Tensor:
        """Feeds each row its newest id -> log-probabilities of the next one `[R, V]`."""
        ...

    def select(self, rows: Sequence[int]) -> None:
        """Keeps the given rows in the given order; a row may be kept several times."""
        ...


class ModuleEngine:
    """Calls the model's modules with a key/value cache. Always right, whatever the modules are and whoever watches.

    The sources are encoded once, unless that was done (`memory [R, S, D]`).
    """

    def __init__(
        self,
        model: Transformer,
        sources: Sequence[Sequence[int]],
        interventions: Interventions = (),
        cancelled: threading.Event | None = None,
        memory: Tensor | None = None,
    ) -> None:
        """Raises PointError where an intervention names a point that the model lacks."""
        self.model, self.cancelled = model, cancelled
        self.cache = KeyValueCache.empty(model.config.decoder_depth)
        self.call = make_call(model.config, interventions)
        self.device = model.generator.bias.device
        self.sources = list(range(len(sources)))
        ids, self.source_mask = padded_sources(sources, self.device)
        check_cancelled(cancelled)
        self.memory = model.encode(ids, self.source_mask, self.call) if memory is None else memory

    def begin(self, prefix: Sequence[int]) -> Tensor:
        """See `Engine`."""
        mask = causal_mask(1 + len(prefix), self.device) if prefix else None
        return self._decode([[BOS_ID, *prefix]] * len(self.sources), mask)

    def advance(self, ids: Sequence[int]) -> Tensor:
        """See `Engine`."""
        return self._decode([[id_] for id_ in ids], None)[:, 0]

    def select(self, rows: Sequence[int]) -> None:
        """See `Engine`."""
        if list(rows) == list(range(len(self.sources))):
            return
        index = torch.tensor(rows, device=self.device)
        sources = [self.sources[row] for row in rows]
        moved = sources != self.sources  # a beam mostly reorders the rows of one source
        if moved and self.source_mask is not None:
            self.source_mask = self.source_mask.index_select(0, index)
        if moved and self.cache.length == 0:  # later the memory is read no more: the cache has its keys and values
            self.memory = self.memory.index_select(0, index)
        self.cache.select(index, memory=moved)
        self.sources = sources

    def _decode(self, ids: list[list[int]], mask: Tensor | None) -> Tensor:
        check_cancelled(self.cancelled)
        target, call = torch.tensor(ids, device=self.device), self.call.with_cache(self.cache)
        return self.model.generator(self.model.decode(target, self.memory, self.source_mask, mask, call), call)


class LiftedEngine(ModuleEngine):
    """Advances by the weights alone, without nn.Module's bookkeeping: right only where `can_lift` says so."""

    def begin(self, prefix: Sequence[int]) -> Tensor:
        """See `Engine`."""
        self.decoder = LiftedDecoder(self.model)
        return super().begin(prefix)

    def advance(self, ids: Sequence[int]) -> Tensor:
        """See `Engine`."""
        check_cancelled(self.cancelled)
        newest = torch.tensor(ids, device=self.device)
        return self.model.generator(self.decoder(newest, self.cache, self.source_mask))


def make_engine(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    interventions: Interventions = (),
    cancelled: threading.Event | None = None,
    memory: Tensor | None = None,
) -> Engine:
    """The fastest engine that is exact for this model and this call; arguments as in `ModuleEngine`."""
    plain = not interventions and can_lift(model)
    return (LiftedEngine if plain else ModuleEngine)(model, sources, interventions, cancelled, memory)


def can_lift(model: Transformer) -> bool:
    """Whether the decoder's layers are computed as `LiftedDecoder` computes them."""
    return LiftedDecoder.fits(model.config) and is_as_written(model, model.decoder)


def padded_sources(sources: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor | None]:
    """Ids `[R, S]` padded on the right, and their mask: None where nothing is padding, which is faster."""
    ids = pad(sources, device=device)
    return ids, None if len({len(source) for source in sources}) == 1 else padding_mask(ids, PAD_ID)
