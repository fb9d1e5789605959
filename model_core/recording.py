"""One teacher-forced pass over a finished translation, with every weight and state kept.

Shapes: L layer, H head, S source token, T target token, D d_model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_core.checkpoint import Checkpoint
from model_core.config import BOS_ID
from model_core.hooks import AttentionHook, Compose, Recorder
from model_core.hypotheses import penalised, score_steps
from model_core.masks import causal_mask
from model_core.source import Source
from model_core.trace import AttentionMaps, DecodingStep, Hypothesis, Site, Tokens, TraceStrategy, TranslationTrace


@torch.inference_mode()
def record(
    checkpoint: Checkpoint,
    source: Source,
    target: Sequence[int],
    strategy: TraceStrategy,
    alternatives: int,
    *,
    beam: Sequence[tuple[Hypothesis, ...]] = (),
    length_penalty: float = 0.0,
    hook: AttentionHook | None = None,
) -> TranslationTrace:
    """Runs the model over `target` (`pieces </s>`) with a recording hook, in float32 without dropout.

    `beam` has the hypotheses of the search's steps, if it was a beam search. A `hook` changes the weights before they
    are recorded.
    """
    model, recorder = checkpoint.model, Recorder()
    watch: AttentionHook = recorder if hook is None else Compose((hook, recorder))
    encoder_states: list[Tensor] = []
    decoder_states: list[Tensor] = []
    device = model.generator.bias.device
    decoder_input = torch.tensor([[BOS_ID, *target[:-1]]], device=device)
    causal = causal_mask(len(target), device)
    memory = model.encode(torch.tensor([source.ids], device=device), hook=watch, record=encoder_states)
    states = model.decode(decoder_input, memory, target_allowed=causal, hook=watch, record=decoder_states)
    steps = score_steps(target, model.generator(states)[0], alternatives)
    if beam:  # the </s> that a search cut off by its limit did not reach has no hypotheses
        steps = (
            tuple(replace(step, hypotheses=tuple(row)) for step, row in zip(steps, beam, strict=False))
            + steps[len(beam) :]
        )
    return _assemble(
        checkpoint, source, target, recorder, (encoder_states, decoder_states), steps, strategy, length_penalty
    )


def _assemble(
    checkpoint: Checkpoint,
    source: Source,
    target: Sequence[int],
    recorder: Recorder,
    states: tuple[list[Tensor], list[Tensor]],
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
        encoder_self=_maps(recorder, "encoder_self", source_tokens, source_tokens),
        decoder_self=_maps(recorder, "decoder_self", read, read),
        cross=_maps(recorder, "cross", read, source_tokens),
        encoder_states=_stacked(states[0]),
        decoder_states=_stacked(states[1]),
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
