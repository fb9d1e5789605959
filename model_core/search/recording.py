"""The trace of a finished translation, from one teacher-forced pass that kept every weight and state.

Shapes: L layer, H head, S source token, T target token, D d_model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_core.checkpoint.checkpoint import Checkpoint
from model_core.config import BOS_ID
from model_core.model.hooks import Recorder
from model_core.search.forced_pass import ForcedPass
from model_core.search.hypotheses import penalised
from model_core.sites import Site
from model_core.text.pieces import Tokens
from model_core.text.source import Source
from model_core.trace.maps import AttentionMaps
from model_core.trace.steps import DecodingStep, Hypothesis, TraceStrategy
from model_core.trace.trace import TranslationTrace


def record(
    checkpoint: Checkpoint,
    source: Source,
    forced: ForcedPass,
    target: Sequence[int],
    strategy: TraceStrategy,
    alternatives: int,
    *,
    beam: Sequence[tuple[Hypothesis, ...]] = (),
    length_penalty: float = 0.0,
) -> TranslationTrace:
    """Runs `target` (`pieces </s>`) through `forced`, which keeps what it sees of `source`, unless it just did.

    `beam` has the hypotheses of the search's steps, if it was a beam search.
    """
    steps = forced.score(target, alternatives)
    if beam:  # the </s> that a search cut off by its limit did not reach has no hypotheses
        steps = (
            tuple(replace(step, hypotheses=tuple(row)) for step, row in zip(steps, beam, strict=False))
            + steps[len(beam) :]
        )
    return _assemble(checkpoint, source, target, forced, steps, strategy, length_penalty)


def _assemble(
    checkpoint: Checkpoint,
    source: Source,
    target: Sequence[int],
    forced: ForcedPass,
    steps: tuple[DecodingStep, ...],
    strategy: TraceStrategy,
    length_penalty: float,
) -> TranslationTrace:
    tokenizer = checkpoint.tokenizer
    source_tokens = tokenizer.tokens(source.ids)
    # Words are counted over the whole translation, so that a piece is the same token as input and as prediction.
    tokens = tokenizer.tokens((BOS_ID, *target))
    read, predicted = tokens[:-1], tokens[1:]
    log_probability = sum(step.log_probability for step in steps)
    ids = {*source.ids, BOS_ID, *target}
    for step in steps:
        ids |= {a.id for a in step.alternatives} | {h.id for h in step.hypotheses}
    return TranslationTrace(
        source_text=source.text,
        target_text=tokenizer.decode(target),
        source_tokens=source_tokens,
        decoder_input_tokens=read,
        predicted_tokens=predicted,
        encoder_self=_maps(forced.recorder, "encoder_self", source_tokens, source_tokens),
        decoder_self=_maps(forced.recorder, "decoder_self", read, read),
        cross=_maps(forced.recorder, "cross", read, source_tokens),
        encoder_states=_stacked(forced.encoder_states),
        decoder_states=_stacked(forced.decoder_states),
        decoding=steps,
        strategy=strategy,
        log_probability=log_probability,
        score=penalised(log_probability, len(target), length_penalty),
        checkpoint=checkpoint.id,
        pieces={id_: tokenizer.piece(id_) for id_ in ids},
    )


def _maps(recorder: Recorder, site: Site, queries: Tokens, keys: Tokens) -> AttentionMaps:
    allowed = np.ones((len(queries), len(keys)), dtype=np.bool_)
    if site == "decoder_self":
        allowed = np.tril(allowed)
    return AttentionMaps(site, recorder.weights(site)[:, 0].cpu().numpy(), allowed, queries, keys)


def _stacked(states: list[Tensor]) -> NDArray[np.float32]:
    """Layers + 1 tensors `[1, T, D]` -> `[L + 1, T, D]`."""
    return torch.cat(states).float().cpu().numpy()
