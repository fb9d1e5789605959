"""One ambiguous word in all sentences of the homograph set: its vectors, and the probes and planes fitted to them.

Shapes: L layer, N sentence, S sense, D d_model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model_core.data.homographs import Homograph
from model_core.experiments.meaning import encode_all
from model_core.experiments.sense_map import (
    Plane,
    Probe,
    fit_probe,
    nearest_own_sense,
    places_between_senses,
    planes_by_layer,
    told_sense,
)
from model_core.text.words import find_word
from model_core.translator import Translator


@dataclass(frozen=True, eq=False)
class SenseSet:
    """All N sentences of the homograph set that use one word, and where the model puts that word in each.

    `vectors [L + 1, N, D]`, a plane and a probe per layer. Shares by layer: `nearest`, of sentences nearest to their
    own sense's centroid, `nearest_in_plane`, the same seen in the plane only, and `told`, of those whose sense a probe
    tells that was fitted without them (see `sense_map`); `held_out_told`: of the held-out sentences, by a probe fitted
    on the training sentences. `unrecognised` sentences are left out: no rule finds the word's form in them.
    """

    word: str
    texts: tuple[str, ...]
    senses: tuple[str, ...]
    held_out: tuple[bool, ...]
    vectors: NDArray[np.float32]
    planes: tuple[Plane, ...]
    probes: tuple[Probe, ...]
    nearest: tuple[float, ...]
    nearest_in_plane: tuple[float, ...]
    told: tuple[float, ...]
    held_out_told: tuple[float, ...]
    unrecognised: int

    @property
    def chance(self) -> float:
        """Share of the commonest sense: what somebody who always says that one gets right."""
        return max(self.senses.count(sense) for sense in set(self.senses)) / len(self.senses)

    def scores(self, layer: int, vector: NDArray[np.float32], text: str) -> NDArray[np.float64]:
        """The scores `[S]` of a word's `vector [D]` by a layer's probe; of a text of the set, by the probe without
        it."""
        probe = self.probes[layer]
        return probe.left_out[self.texts.index(text)] if text in self.texts else probe.scores(vector)

    def places(self, layer: int, vectors: NDArray[np.floating], scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where `vectors [N, D]` with `scores [N, S]` lie between the senses, `[N, 2]`. Two senses leave the vertical
        free: it takes the widest direction, in units of 2.5 standard deviations."""
        places = places_between_senses(scores)
        if scores.shape[-1] == 2:
            plane = self.planes[layer]
            spread = float(plane.coordinates(self.vectors[layer])[:, 0].std()) or 1.0
            places[:, 1] = plane.coordinates(vectors)[:, 0] / (2.5 * spread)
        return places


def fit_sense_set(translator: Translator, word: str, homographs: Sequence[Homograph]) -> SenseSet:
    """Encodes the sentences of `word` among `homographs` and fits a plane and probes to its vectors at each layer.

    Raises:
        ValueError: there are fewer than three such sentences, or senses that can't be told apart (see `sense_map`).
    """
    own = [homograph for homograph in homographs if homograph.word == word]
    encoded = encode_all(translator, [homograph.source for homograph in own])
    spans = [find_word(one.words, word) for one in encoded]
    rows = [(h, one.vectors(span)) for h, one, span in zip(own, encoded, spans, strict=True) if span is not None]
    if not rows:
        raise ValueError(f"The homograph set has no sentence in which “{word}” is recognised.")
    vectors = np.stack([vector for _, vector in rows], axis=1)
    names = tuple(homograph.sense for homograph, _ in rows)
    held_out = np.array([homograph.split == "test" for homograph, _ in rows])
    probes = tuple(fit_probe(layer, names) for layer in vectors)
    planes = planes_by_layer(vectors)
    flat = [plane.coordinates(layer) for plane, layer in zip(planes, vectors, strict=True)]
    return SenseSet(
        word=word,
        texts=tuple(homograph.source for homograph, _ in rows),
        senses=names,
        held_out=tuple(map(bool, held_out)),
        vectors=vectors,
        planes=tuple(planes),
        probes=probes,
        nearest=tuple(nearest_own_sense(layer, names) for layer in vectors),
        nearest_in_plane=tuple(nearest_own_sense(places, names) for places in flat),
        told=tuple(_right(probe, probe.left_out, names) for probe in probes),
        held_out_told=tuple(_held_out_told(layer, np.array(names), held_out) for layer in vectors),
        unrecognised=len(own) - len(rows),
    )


def _right(probe: Probe, scores: NDArray[np.float64], names: Sequence[str]) -> float:
    return float((np.array(told_sense(probe, scores)) == np.array(names)).mean())


def _held_out_told(vectors: NDArray[np.float32], names: NDArray[np.str_], held_out: NDArray[np.bool_]) -> float:
    probe = fit_probe(vectors[~held_out], names[~held_out].tolist())
    return _right(probe, probe.scores(vectors[held_out]), names[held_out].tolist())
