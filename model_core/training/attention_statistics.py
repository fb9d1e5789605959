"""The sharpness and the specialty of each head, and the quality of cross-attention as a word alignment.

Shapes: L layer, H head, Q query, K key, W target unit, V source unit. A unit is a word or a mark as the
reference alignments part them: "don't" has three.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model_core.experiments.heads import head_statistics
from model_core.text.pieces import Token
from model_core.text.tokenizer import surface
from model_core.trace.trace import TranslationTrace

UNIT = re.compile(r"\w+|[^\w\s]")
Links = frozenset[tuple[int, int]]
"""(source unit, target unit), counted from 0."""


def mean_statistics(traces: Iterable[TranslationTrace]) -> dict[str, dict[str, list[list[float]]]]:
    """Site -> statistic -> `[L][H]`, averaged over sentences and rounded to 4 digits."""
    sums: dict[str, dict[str, NDArray[np.float64]]] = {}
    count = 0
    for trace in traces:
        count += 1
        for site in (trace.encoder_self, trace.decoder_self, trace.cross):
            for name, values in head_statistics(site).items():
                into = sums.setdefault(site.site, {})
                into[name] = into.get(name, 0.0) + values
    return {
        site: {name: np.round(values / count, 4).tolist() for name, values in statistics.items()}
        for site, statistics in sums.items()
    }


def units(text: str) -> list[str]:
    """The words and marks of a text."""
    return UNIT.findall(text)


def unit_of_pieces(tokens: Sequence[Token]) -> list[int]:
    """For each token the index of the unit that its first letter or mark lies in; -1 for special tokens and blanks."""
    pieces = [token.piece for token in tokens if not token.special]
    spans = [match.span() for match in UNIT.finditer(surface(pieces))]
    owners, read = [], 0
    for token in tokens:
        if token.special:
            owners.append(-1)
            continue
        start = len(surface(pieces[:read]))
        read += 1
        end = len(surface(pieces[:read]))
        owners.append(next((i for i, (first, past) in enumerate(spans) if first < end and past > start), -1))
    return owners


def merge_units(weights: NDArray[np.float32], queries: Sequence[int], keys: Sequence[int]) -> NDArray[np.float64]:
    """`[L, H, Q, K]` -> `[L, H, W, V]`: the mean over a unit's query rows, the sum over its key columns."""
    rows = np.equal.outer(np.arange(max(queries) + 1), np.asarray(queries)).astype(np.float64)
    columns = np.equal.outer(np.asarray(keys), np.arange(max(keys) + 1)).astype(np.float64)
    rows /= np.maximum(rows.sum(axis=1, keepdims=True), 1.0)
    return rows @ weights.astype(np.float64) @ columns


def attention_links(trace: TranslationTrace, shifted: bool) -> NDArray[np.int64]:
    """For each layer, head and target unit the source unit that it attends to most: `[L, H, W]`.

    A unit's rows are those that *predict* its pieces or, `shifted`, those that are *fed* them, one step later (Chen et
    al. 2020, "Accurate word alignment induction from neural machine translation", read it so).
    """
    predicted = unit_of_pieces(trace.predicted_tokens)
    queries = [-1, *predicted[:-1]] if shifted else predicted
    merged = merge_units(trace.cross.weights, queries, unit_of_pieces(trace.source_tokens))
    return merged.argmax(axis=-1)


@dataclass
class ErrorRate:
    """Alignment error rate 1 - (|A & S| + |A & P|) / (|A| + |S|) (Och & Ney 2003), summed over sentences.

    A are the links that are judged, S the sure links and P the possible ones of the reference; S lies within P.
    """

    sure_hits: int = 0
    possible_hits: int = 0
    judged: int = 0
    sure: int = 0

    def add(self, links: Links, sure: Links, possible: Links) -> None:
        """Counts one sentence in."""
        self.sure_hits += len(links & sure)
        self.possible_hits += len(links & possible)
        self.judged += len(links)
        self.sure += len(sure)

    @property
    def value(self) -> float:
        """From 0 (perfect) to 1; NaN before anything was counted."""
        total = self.judged + self.sure
        return 1.0 - (self.sure_hits + self.possible_hits) / total if total else float("nan")


def alignment_error_rates(
    traces: Iterable[TranslationTrace], references: Iterable[tuple[Links, Links]], shifted: bool
) -> NDArray[np.float64]:
    """The error rate of each layer and head `[L, H]`; `references` are each sentence's (sure, possible) links."""
    rates: list[list[ErrorRate]] = []
    for trace, (sure, possible) in zip(traces, references, strict=True):
        chosen = attention_links(trace, shifted)
        rates = rates or [[ErrorRate() for _ in range(chosen.shape[1])] for _ in range(chosen.shape[0])]
        for layer, heads in enumerate(chosen):
            for head, sources in enumerate(heads):
                rates[layer][head].add(frozenset((int(s), t) for t, s in enumerate(sources)), sure, possible)
    return np.array([[rate.value for rate in layer] for layer in rates])
