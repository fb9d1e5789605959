"""One source under any target, each target in one pass (teacher forcing), in float32.

Shapes: L layer, H head, S source, T target, D d_model, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from model_core.config import BOS_ID, DecodingConfig
from model_core.model.cache import KeyValueCache, LayerCache
from model_core.model.hooks import AttentionHook, Compose, Recorder
from model_core.model.layers import DecoderLayer
from model_core.model.masks import causal_mask
from model_core.model.transformer import Transformer
from model_core.search.hypotheses import ranks, score_steps
from model_core.search.sampling import DrawnFrom, drawn_from
from model_core.trace.steps import DecodingStep


class ForcedPass:
    """Encodes a source once, with what the hook makes of it; a target is then run by `score`.

    With `keep`, the `recorder` has the weights of the encoder and of the last target, and `encoder_states` and
    `decoder_states` have L + 1 states each, `[1, S, D]` and `[1, T, D]`. Belongs to one request.
    """

    @torch.inference_mode()
    def __init__(
        self, model: Transformer, source: Sequence[int], hook: AttentionHook | None = None, *, keep: bool
    ) -> None:
        self.model, self.recorder = model, Recorder()
        self.hook: AttentionHook | None = hook
        if keep:
            self.hook = self.recorder if hook is None else Compose((hook, self.recorder))
        self.encoder_states: list[Tensor] = []
        self.decoder_states: list[Tensor] = []
        self.device = model.generator.bias.device
        ids = torch.tensor([list(source)], device=self.device)
        self.memory = model.encode(ids, hook=self.hook, record=self.encoder_states)
        layers = [layer for layer in model.decoder.layers if isinstance(layer, DecoderLayer)]
        self.memory_heads = [layer.cross_attention.project_key_value(self.memory) for layer in layers]
        self.cache = KeyValueCache([LayerCache(None, None, key, value) for key, value in self.memory_heads])
        self._scored: tuple[tuple[int, ...], int, tuple[DecodingStep, ...]] | None = None

    @torch.inference_mode()
    def score(self, target: Sequence[int], alternatives: int) -> tuple[DecodingStep, ...]:
        """One step for each id of `target` (pieces, with or without </s>). Asked again for the same, it knows."""
        key = (tuple(target), alternatives)
        if self._scored is None or self._scored[:2] != key:
            self.cache.cut(0)
            self.decoder_states = []
            self._scored = (*key, self._run(target, alternatives, self.hook, self.decoder_states))
        return self._scored[2]

    @torch.inference_mode()
    def score_rest(self, target: Sequence[int], known: int, alternatives: int) -> tuple[DecodingStep, ...]:
        """The steps of `target[known:]` only, `target[:known]` being the beginning of what was scored last.

        Unless `known` is 0 the hook does not see them and nothing is kept of them.
        """
        if known == 0:
            return self.score(target, alternatives)
        self.cache.cut(known)
        self._scored = None
        return self._run(target, alternatives, None, None)

    def _run(
        self, target: Sequence[int], alternatives: int, hook: AttentionHook | None, record: list[Tensor] | None
    ) -> tuple[DecodingStep, ...]:
        """Those positions of the target that are not in the cache; it has them then."""
        known = self.cache.length
        return score_steps(target[known:], self._log_probabilities(target, hook, record), alternatives)

    @torch.inference_mode()
    def ranks(self, target: Sequence[int]) -> tuple[int, ...]:
        """The place of each id of `target` (pieces, with or without </s>) among all that may be written, from 1.

        The hook does not see this pass, nothing is kept of it, and nothing of what was scored before stays.
        """
        self.cache.cut(0)
        self._scored = None
        return ranks(target, self._log_probabilities(target, None, None))

    @torch.inference_mode()
    def drawn_from(
        self, target: Sequence[int], asked: Sequence[Sequence[int]], config: DecodingConfig
    ) -> tuple[DrawnFrom, ...]:
        """What sampling as in `config` draws from at each step of `target`; like `ranks`, it leaves nothing behind."""
        self.cache.cut(0)
        self._scored = None
        return drawn_from(self._log_probabilities(target, None, None), asked, config)

    def _log_probabilities(
        self, target: Sequence[int], hook: AttentionHook | None, record: list[Tensor] | None
    ) -> Tensor:
        """`[T - known, V]`, of those positions that are not in the cache."""
        known = self.cache.length
        states = self.model.decode(
            torch.tensor([[BOS_ID, *target[:-1]][known:]], device=self.device),
            self.memory,
            target_allowed=causal_mask(len(target), self.device)[known:],
            hook=hook,
            cache=self.cache,
            record=record,
        )
        return self.model.generator(states)[0]
