"""A made-up trace for tests of what is drawn: random weights, sizes that differ wherever they may."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from model_core.trace import AttentionMaps, DecodingStep, Site, Token, TranslationTrace

SOURCE = ("<s>", "How", "are", "you", "?", "</s>", "are")
TARGET = ("<s>", "Comment", "allez", "-", "vous")


def make_tokens(texts: Sequence[str], first_id: int = 10) -> tuple[Token, ...]:
    """One token a text, each of a word of its own; "<s>" and "</s>" are special."""
    special = [text in ("<s>", "</s>") for text in texts]
    return tuple(
        Token(first_id + i, "▁" + text, text, -1 if special[i] else i, special[i]) for i, text in enumerate(texts)
    )


def random_rows(generator: np.random.Generator, shape: tuple[int, ...], allowed: NDArray[np.bool_]) -> NDArray:
    """Weights of `shape` whose rows sum to 1 over the allowed keys; some are strong, most are faint."""
    weights = generator.gamma(0.3, size=shape) * allowed + 1e-6 * allowed
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


def small_trace(
    source: Sequence[str] = SOURCE,
    target: Sequence[str] = TARGET,
    *,
    encoder: tuple[int, int] = (2, 5),
    decoder: tuple[int, int] = (3, 4),
    seed: int = 0,
) -> TranslationTrace:
    """A trace of these texts; `encoder` and `decoder` are layers and heads of the two stacks."""
    generator = np.random.default_rng(seed)
    sources, read = make_tokens(source), make_tokens(target, 1000)
    predicted = (*read[1:], *make_tokens(["</s>"], 2000))

    def maps(site: Site, layers: tuple[int, int], queries: tuple[Token, ...], keys: tuple[Token, ...]) -> AttentionMaps:
        allowed = np.ones((len(queries), len(keys)), dtype=np.bool_)
        if site == "decoder_self":
            allowed = np.tril(allowed)
        weights = random_rows(generator, (*layers, *allowed.shape), allowed)
        return AttentionMaps(site, weights, allowed, queries, keys)

    return TranslationTrace(
        source_text=" ".join(source[1:-1]),
        target_text=" ".join(target[1:]),
        source_tokens=sources,
        decoder_input_tokens=read,
        predicted_tokens=predicted,
        encoder_self=maps("encoder_self", encoder, sources, sources),
        decoder_self=maps("decoder_self", decoder, read, read),
        cross=maps("cross", decoder, read, sources),
        encoder_states=np.zeros((encoder[0] + 1, len(sources), 3), dtype=np.float32),
        decoder_states=np.zeros((decoder[0] + 1, len(read), 3), dtype=np.float32),
        decoding=tuple(DecodingStep(token.id, -1.0, ()) for token in predicted),
        strategy="forced",
        log_probability=-float(len(predicted)),
        score=-float(len(predicted)),
        checkpoint="made-up@0",
        pieces={token.id: token.piece for token in (*sources, *read, *predicted)},
    )
