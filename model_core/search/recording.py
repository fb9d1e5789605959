"""The trace of a finished translation, from one teacher-forced pass that kept every weight and state.

Shapes: L layer, H head, S source token, T target token, D d_model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from model_core.config import BOS_ID
from model_core.interventions import Record
from model_core.search.forced_pass import ForcedPass
from model_core.search.hypotheses import penalised
from model_core.sites import Site
from model_core.text.pieces import Tokens
from model_core.text.source import Source
from model_core.text.tokenizer import Tokenizer
from model_core.trace.maps import AttentionMaps
from model_core.trace.steps import DecodingStep, Hypothesis, TraceStrategy
from model_core.trace.trace import TranslationTrace


def record(
    tokenizers: tuple[Tokenizer, Tokenizer],
    checkpoint: str,
    source: Source,
    forced: ForcedPass,
    target: Sequence[int],
    strategy: TraceStrategy,
    alternatives: int,
    *,
    beam: Sequence[tuple[Hypothesis, ...]] = (),
    length_penalty: float = 0.0,
    languages: tuple[str, str] = ("", ""),
) -> TranslationTrace:
    """Runs `target` (`pieces </s>`) through `forced`, which keeps what it sees of `source`, unless it just did.

    `tokenizers` are those of the source and the target, `languages` the codes of both (see `Tokenizer.tokens`);
    `checkpoint` is the id of the checkpoint. `beam` has the hypotheses of the search's steps, if it was a beam search.
    """
    steps = forced.score(target, alternatives)
    if beam:  # the </s> that a search cut off by its limit did not reach has no hypotheses
        steps = (
            tuple(replace(step, hypotheses=tuple(row)) for step, row in zip(steps, beam, strict=False))
            + steps[len(beam) :]
        )
    return _assemble(tokenizers, checkpoint, source, target, forced, steps, strategy, length_penalty, languages)


def _assemble(
    tokenizers: tuple[Tokenizer, Tokenizer],
    checkpoint: str,
    source: Source,
    target: Sequence[int],
    forced: ForcedPass,
    steps: tuple[DecodingStep, ...],
    strategy: TraceStrategy,
    length_penalty: float,
    languages: tuple[str, str],
) -> TranslationTrace:
    source_tokens = tokenizers[0].tokens(source.ids, languages[0])
    tokenizer = tokenizers[1]
    # Words are counted over the whole translation, so that a piece is the same token as input and as prediction.
    tokens = tokenizer.tokens((BOS_ID, *target), languages[1])
    read, predicted = tokens[:-1], tokens[1:]
    log_probability = sum(step.log_probability for step in steps)
    ids = {BOS_ID, *target}
    for step in steps:
        ids |= {a.id for a in step.alternatives} | {h.id for h in step.hypotheses}
    return TranslationTrace(
        source_text=source.text,
        target_text=tokenizer.decode(target),
        source_tokens=source_tokens,
        decoder_input_tokens=read,
        predicted_tokens=predicted,
        encoder_self=_maps(forced.record, "encoder_self", source_tokens, source_tokens),
        decoder_self=_maps(forced.record, "decoder_self", read, read),
        cross=_maps(forced.record, "cross", read, source_tokens),
        encoder_states=forced.encoder_states.cpu().numpy(),
        decoder_states=forced.decoder_states.cpu().numpy(),
        decoding=steps,
        strategy=strategy,
        log_probability=log_probability,
        score=penalised(log_probability, len(target), length_penalty),
        checkpoint=checkpoint,
        pieces={id_: tokenizer.piece(id_) for id_ in ids},
    )


def _maps(record: Record, site: Site, queries: Tokens, keys: Tokens) -> AttentionMaps:
    allowed = np.ones((len(queries), len(keys)), dtype=np.bool_)
    if site == "decoder_self":
        allowed = np.tril(allowed)
    return AttentionMaps(site, record.weights(site)[:, 0].cpu().numpy(), allowed, queries, keys)
