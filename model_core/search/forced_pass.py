"""One source under any target, each target in one pass (teacher forcing), in float32.

Shapes: L layer, H head, S source, T target, D d_model, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor

from model_core.config import BOS_ID, DecodingConfig, ModelConfig
from model_core.interventions import Interventions, Record, listed, make_call
from model_core.model.cache import KeyValueCache
from model_core.model.layers import DecoderLayer
from model_core.model.masks import causal_mask
from model_core.model.points import PLAIN, Call
from model_core.model.transformer import Transformer
from model_core.search.hypotheses import ranks, score_steps
from model_core.search.sampling import DrawnFrom, drawn_from
from model_core.trace.steps import DecodingStep

ENCODER_STATES = ("encoder.*.self_attention.residual_before", "encoder.final_norm")
DECODER_STATES = ("decoder.*.self_attention.residual_before", "decoder.final_norm")
WEIGHTS = ("*.self_attention.weights", "*.cross_attention.weights")


class ForcedPass:
    """Encodes a source once, under the interventions; a target is then run by `score`.

    With `keep`, `record` has the attention weights of the encoder and of the last target, and `encoder_states` and
    `decoder_states` are `[L + 1, S, D]` and `[L + 1, T, D]`. Belongs to one request.
    """

    @torch.inference_mode()
    def __init__(
        self,
        model: Transformer,
        source: Sequence[int],
        interventions: Interventions = (),
        *,
        keep: bool,
        memory: Tensor | None = None,
    ) -> None:
        """`memory [1, S, D]` stands in for what the model's own encoder would make of the source.

        Raises:
            PointError: an intervention names a point that the model lacks.
        """
        self.model, self.device = model, model.generator.bias.device
        self.record = Record(*WEIGHTS, *ENCODER_STATES, *DECODER_STATES)
        self.call = make_call(model.config, (*listed(interventions), *((self.record,) if keep else ())))
        ids = torch.tensor([list(source)], device=self.device)
        self.memory = model.encode(ids, call=self.call) if memory is None else memory
        self.cache = KeyValueCache.empty(model.config.decoder_depth)
        self._scored: tuple[tuple[int, ...], int, tuple[DecodingStep, ...]] | None = None

    @property
    def encoder_states(self) -> Tensor:
        """The embedded source, then each encoder layer's output, the last one after the final norm: `[L + 1, S, D]`."""
        return _states(self.record, "encoder", self.model.config)

    @property
    def decoder_states(self) -> Tensor:
        """The embedded target, then each decoder layer's output, the last one after the final norm: `[L + 1, T, D]`."""
        return _states(self.record, "decoder", self.model.config)

    @torch.inference_mode()
    def memory_heads(self) -> list[tuple[Tensor, Tensor]]:
        """Each decoder layer's keys and values of the source, `[1, G, S, d_head]`, which the cache has then."""
        call = self.call.with_cache(self.cache)
        layers = [cast(DecoderLayer, layer) for layer in self.model.decoder.layers]
        return [layer.cross_attention.keys_and_values(self.memory, self.memory, call) for layer in layers]

    @torch.inference_mode()
    def score(self, target: Sequence[int], alternatives: int) -> tuple[DecodingStep, ...]:
        """One step for each id of `target` (pieces, with or without </s>). The last target's are kept."""
        key = (tuple(target), alternatives)
        if self._scored is None or self._scored[:2] != key:
            self.cache.cut(0)
            self._scored = (*key, score_steps(target, self.log_probabilities(target), alternatives))
        return self._scored[2]

    @torch.inference_mode()
    def score_rest(self, target: Sequence[int], known: int, alternatives: int) -> tuple[DecodingStep, ...]:
        """The steps of `target[known:]` only, `target[:known]` being the beginning of what was scored last.

        Unless `known` is 0 no intervention acts on them and nothing is kept of them.
        """
        if known == 0:
            return self.score(target, alternatives)
        self.cache.cut(known)
        self._scored = None
        return score_steps(target[known:], self.log_probabilities(target, PLAIN), alternatives)

    @torch.inference_mode()
    def ranks(self, target: Sequence[int]) -> tuple[int, ...]:
        """The place of each id of `target` (pieces, with or without </s>) among all that may be written, from 1.

        Nothing is kept of this pass, and nothing of what was scored before stays.
        """
        self._forget()
        return ranks(target, self.log_probabilities(target, PLAIN))

    @torch.inference_mode()
    def drawn_from(
        self, target: Sequence[int], asked: Sequence[Sequence[int]], config: DecodingConfig
    ) -> tuple[DrawnFrom, ...]:
        """The distribution that sampling as in `config` draws from at each step of `target`; like `ranks`, it leaves
        nothing behind. `asked` has the ids whose shares are wanted, for each step."""
        self._forget()
        return drawn_from(self.log_probabilities(target, PLAIN), asked, config)

    def _forget(self) -> None:
        self.cache.cut(0)
        self._scored = None

    @torch.inference_mode()
    def log_probabilities(self, target: Sequence[int], call: Call | None = None) -> Tensor:
        """`[T - known, V]`, of those positions that are not in the cache, which has them then."""
        known = self.cache.length
        call = (self.call if call is None else call).with_cache(self.cache)
        states = self.model.decode(
            torch.tensor([[BOS_ID, *target[:-1]][known:]], device=self.device),
            self.memory,
            target_mask=causal_mask(len(target), self.device)[known:],
            call=call,
        )
        return self.model.generator(states, call)[0]


def _states(record: Record, stack: str, config: ModelConfig) -> Tensor:
    """The residual stream before each layer and what the stack returns: `[L + 1, T, D]`."""
    depth = config.encoder_depth if stack == "encoder" else config.decoder_depth
    before = [record[f"{stack}.{layer}.self_attention.residual_before"] for layer in range(depth)]
    return torch.cat([*before, record[f"{stack}.final_norm"]])
