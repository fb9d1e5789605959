"""A word in its sentence as the encoder has it: vectors by layer, and how alike they are.

Shapes: L layer, S source token, D d_model, N sentence.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from model_core.config import PAD_ID
from model_core.data.homographs import Homograph
from model_core.experiments.cosines import cosine, cosine_matrix
from model_core.interventions import Record, make_call
from model_core.model.masks import padding_mask
from model_core.search.decoding import check_model
from model_core.search.forced_pass import ENCODER_STATES
from model_core.tensors.padding import pad
from model_core.text.pieces import Tokens
from model_core.text.words import WordSpan, find_word, word_spans
from model_core.translator import Translator

__all__ = [
    "BATCH", "Baseline", "Encoded", "WordSimilarity", "baseline", "cosine", "cosine_matrix", "encode_all",
    "unrelated_sentences", "word_similarity",
]  # fmt: skip

BATCH = 64


@dataclass(frozen=True, eq=False)
class Encoded:
    """A sentence as the encoder has it. `states [L + 1, S, D]` are the embedded input with positions, then each layer's
    output, the last after the final norm; `embedding [S, D]` is the input without positions. Float32."""

    text: str
    tokens: Tokens
    states: NDArray[np.float32]
    embedding: NDArray[np.float32]

    @property
    def words(self) -> list[WordSpan]:
        return word_spans(self.tokens)

    def vectors(self, span: WordSpan) -> NDArray[np.float32]:
        """A word's vector at each layer `[L + 1, D]`: the mean over its pieces."""
        return self.states[:, span.pieces].mean(axis=1)

    def own_embedding(self, span: WordSpan) -> NDArray[np.float32]:
        """A word's embedding without position `[D]`: the mean over its pieces."""
        return self.embedding[span.pieces].mean(axis=0)

    @property
    def mean(self) -> NDArray[np.float64]:
        """The encoder's output averaged over all source tokens, `[D]`."""
        return self.states[-1].mean(axis=0, dtype=np.float64)


@torch.inference_mode()
def encode_all(translator: Translator, texts: Sequence[str]) -> list[Encoded]:
    """Encodes sentences in padded batches of similar length; they come back in their order.

    Raises:
        InputError: a sentence can't be translated (see `Translator.prepare`).
        ValueError: the model is in training mode.
    """
    model = translator.checkpoint.model
    check_model(model)
    sources = [translator.prepare(text) for text in texts]
    order = sorted(range(len(sources)), key=lambda index: len(sources[index].ids))
    encoded: dict[int, Encoded] = {}
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        ids = pad([sources[i].ids for i in rows], device=model.generator.bias.device)
        record = Record(*ENCODER_STATES)
        model.encode(ids, padding_mask(ids, PAD_ID), make_call(model.config, record))
        states = torch.stack(list(record.kept.values()), dim=1).cpu().numpy()
        embedded = model.source_embedding(ids).float().cpu().numpy()
        for row, index in enumerate(rows):
            source = sources[index]
            size = len(source.ids)
            tokens = translator.tokenizer.tokens(source.ids, translator.languages[0])
            encoded[index] = Encoded(source.text, tokens, states[row, :, :size].copy(), embedded[row, :size].copy())
    return [encoded[index] for index in range(len(sources))]


@dataclass(frozen=True, eq=False)
class WordSimilarity:
    """One word in N sentences: `across [L + 1, N, N]`, the cosines between its vectors, and `own [L + 1, N]`, those of
    each to its own embedding without position."""

    across: NDArray[np.float64]
    own: NDArray[np.float64]


def word_similarity(sentences: Sequence[Encoded], spans: Sequence[WordSpan]) -> WordSimilarity:
    """Compares a word's vectors layer by layer; `spans` says where it stands in each of the sentences."""
    vectors = np.stack([encoded.vectors(span) for encoded, span in zip(sentences, spans, strict=True)], axis=1)
    bare = np.stack([encoded.own_embedding(span) for encoded, span in zip(sentences, spans, strict=True)])
    both = np.concatenate([vectors, np.broadcast_to(bare, vectors.shape)], axis=1)
    count = len(bare)
    cosines = cosine_matrix(both)
    return WordSimilarity(cosines[:, :count, :count], np.diagonal(cosines[:, :count, count:], axis1=1, axis2=2))


@dataclass(frozen=True, eq=False)
class Baseline:
    """The likeness of the unrelated: cosines of different words in different sentences by layer, `words
    [L + 1, pairs]`, and of whole sentences (their mean encoder outputs), `sentences [pairs]`.

    A network's vectors fill a narrow cone (Ethayarajh 2019), so that even these lie well above 0.
    """

    words: NDArray[np.float64]
    sentences: NDArray[np.float64]


def unrelated_sentences(homographs: Sequence[Homograph]) -> list[Homograph]:
    """The first held-out sentence of each sense of each word: short, and about different things."""
    first: dict[tuple[str, str], Homograph] = {}
    for homograph in homographs:
        if homograph.split == "test":
            first.setdefault((homograph.word, homograph.sense), homograph)
    return list(first.values())


def baseline(translator: Translator, homographs: Sequence[Homograph]) -> Baseline:
    """Encodes the sentences and compares all pairs whose words differ.

    Raises:
        ValueError: there are no two sentences with different words.
    """
    encoded = encode_all(translator, [homograph.source for homograph in homographs])
    spans = [find_word(one.words, homograph.word) for one, homograph in zip(encoded, homographs, strict=True)]
    rows = [
        (homograph.word, one, span)
        for homograph, one, span in zip(homographs, encoded, spans, strict=True)
        if span is not None
    ]
    pairs = [(a, b) for a, b in itertools.combinations(range(len(rows)), 2) if rows[a][0] != rows[b][0]]
    if not pairs:
        raise ValueError(f"{len(rows)} sentences give no pair of different words to compare.")
    words = cosine_matrix(np.stack([one.vectors(span) for _, one, span in rows], axis=1))
    means = cosine_matrix(np.stack([one.mean for _, one, _ in rows]))
    first, second = np.array(pairs).T
    return Baseline(words[:, first, second], means[first, second])
