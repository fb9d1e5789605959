"""The quality of a model: loss and accuracy under teacher forcing, BLEU, chrF and homograph senses of translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from model_core.config import BOS_ID, EOS_ID, PAD_ID, DecodingConfig
from model_core.data.homographs import Homograph, read_senses, shows_sense
from model_core.model.transformer import Transformer
from model_core.search.decoding import check_model, decode
from model_core.text.tokenizer import Tokenizer
from model_core.training.batching import Batch
from model_core.training.loss import smoothed_cross_entropy

__all__ = [
    "Forced", "Scores", "read_senses", "score", "sense_accuracy", "shows_sense", "teacher_forced", "translate_all",
]  # fmt: skip


@dataclass(frozen=True)
class Forced:
    """Teacher-forced figures a target token: cross-entropy in nats, and the share predicted right."""

    loss: float
    accuracy: float


@torch.inference_mode()
def teacher_forced(model: Transformer, batches: Sequence[Batch]) -> Forced:
    """Loss (without smoothing) and accuracy over the real tokens of the batches.

    Raises:
        ValueError: there is no batch, or the model is in training mode.
    """
    check_model(model)
    if not batches:
        raise ValueError("There is nothing to judge the model by: give at least 1 batch.")
    loss, right, tokens = 0.0, 0, 0
    device = next(model.parameters()).device
    for batch in batches:
        batch = batch.to(device)
        real = batch.decoder_output != PAD_ID
        logits = model.generator.logits(model.states(batch.source, batch.decoder_input)[real])
        targets = batch.decoder_output[real]
        loss += float(smoothed_cross_entropy(logits, targets))
        right += int((logits.argmax(-1) == targets).sum())
        tokens += targets.numel()
    return Forced(loss / tokens, right / tokens)


def translate_all(
    model: Transformer,
    tokenizer: Tokenizer,
    sentences: Sequence[str],
    decoding: DecodingConfig | None = None,
    batch_size: int = 64,
    target_tokenizer: Tokenizer | None = None,
) -> list[str]:
    """Translations of the sentences, in their order; sentences of similar length are decoded together.

    `target_tokenizer` is given where the target has a vocabulary of its own.
    """
    written = tokenizer if target_tokenizer is None else target_tokenizer
    decoding = DecodingConfig(alternatives=0) if decoding is None else decoding
    ids = [[BOS_ID, *tokenizer.encode(sentence), EOS_ID] for sentence in sentences]
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    translations: list[str] = [""] * len(ids)
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        for row, hypotheses in zip(rows, decode(model, [ids[i] for i in rows], decoding), strict=True):
            translations[row] = written.decode(hypotheses[0].ids)
    return translations


@dataclass(frozen=True)
class Scores:
    """BLEU (Papineni et al. 2002) and chrF (Popovic 2015) in percent, by sacrebleu, with its signatures."""

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str
    sentences: int


def score(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> Scores:
    """Corpus scores against one or more references a sentence (as many as each has).

    Raises:
        ValueError: the numbers of hypotheses and reference lists differ, or there are none, or a list is empty.
    """
    if not hypotheses or len(hypotheses) != len(references) or not all(references):
        raise ValueError(
            f"{len(hypotheses)} translations can't be scored against {len(references)} reference lists, "
            f"{sum(not group for group in references)} of them empty."
        )
    width = max(len(group) for group in references)
    # sacrebleu takes the i-th references of all sentences together; None stands where a sentence has no i-th one.
    streams: list[Any] = [[group[i] if i < len(group) else None for group in references] for i in range(width)]
    bleu, chrf = BLEU(), CHRF()
    return Scores(
        bleu=bleu.corpus_score(hypotheses, streams).score,
        chrf=chrf.corpus_score(hypotheses, streams).score,
        bleu_signature=str(bleu.get_signature()),
        chrf_signature=str(chrf.get_signature()),
        sentences=len(hypotheses),
    )


def sense_accuracy(translations: Sequence[str], homographs: Sequence[Homograph]) -> dict[str, tuple[int, int]]:
    """word -> (translations that show the right sense and no other, sentences)."""
    senses = read_senses()
    counts: dict[str, tuple[int, int]] = {}
    for french, homograph in zip(translations, homographs, strict=True):
        right, total = counts.get(homograph.word, (0, 0))
        shown = shows_sense(french, homograph.word, homograph.sense, senses)
        counts[homograph.word] = (right + shown, total + 1)
    return counts
