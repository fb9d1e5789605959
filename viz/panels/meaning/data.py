"""What the Meaning page computes: encoded once a checkpoint and text, kept within bounds, shared by all sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from model_core.data.homographs import Homograph, read_homographs, read_senses
from model_core.experiments.meaning import Baseline, Encoded, baseline, encode_all, unrelated_sentences
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


@st.cache_resource(show_spinner=False)
def homographs() -> list[Homograph]:
    """The homograph set that ships."""
    return read_homographs()


@st.cache_resource(show_spinner=False)
def senses() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """word -> sense -> the French forms that show it."""
    return read_senses()


@st.cache_resource(max_entries=64, show_spinner=False)
def _encoded(checkpoint: str, texts: tuple[str, ...], _translator: Translator) -> list[Encoded]:
    return encode_all(_translator, texts)


def encoded_sentences(translator: Translator, texts: Sequence[str]) -> list[Encoded]:
    """The person's sentences as the encoder has them."""
    return _encoded(translator.checkpoint.id, tuple(texts), translator)


@st.cache_resource(max_entries=16, show_spinner=False)
def _unrelated(checkpoint: str, _translator: Translator) -> Baseline:
    return baseline(_translator, unrelated_sentences(homographs()))


def unrelated(translator: Translator) -> Baseline:
    """How alike unrelated words and sentences are to this model."""
    return _unrelated(translator.checkpoint.id, translator)


@dataclass(frozen=True, eq=False)
class SenseSet:
    """All N sentences of the homograph set that use one word, and where the model puts that word in each.

    `vectors [L + 1, N, D]`, a plane and a probe a layer. Shares by layer: `nearest`, of sentences nearest to their own
    sense's centroid, `nearest_in_plane`, the same seen in the plane only, and `told`, of those whose sense a probe
    tells that was fitted without them (see `sense_map`); `held_out_told`: of the held-out sentences, by a probe fitted
    on the training sentences.
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
        """What a layer's probe says of a word's `vector [D]`, `[S]`; of a text of the set, the probe without it."""
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


@st.cache_resource(max_entries=32, show_spinner=False)
def _sense_set(checkpoint: str, word: str, _translator: Translator) -> SenseSet:
    wanted = [homograph for homograph in homographs() if homograph.word == word]
    encoded = encode_all(_translator, [homograph.source for homograph in wanted])
    spans = [find_word(one.words, word) for one in encoded]
    rows = [(h, one.vectors(span)) for h, one, span in zip(wanted, encoded, spans, strict=True) if span is not None]
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
        unrecognised=len(wanted) - len(rows),
    )


def _right(probe: Probe, scores: NDArray[np.float64], names: Sequence[str]) -> float:
    return float((np.array(told_sense(probe, scores)) == np.array(names)).mean())


def _held_out_told(vectors: NDArray[np.float32], names: NDArray[np.str_], held_out: NDArray[np.bool_]) -> float:
    probe = fit_probe(vectors[~held_out], names[~held_out].tolist())
    return _right(probe, probe.scores(vectors[held_out]), names[held_out].tolist())


def sense_set(translator: Translator, word: str) -> SenseSet | None:
    """The homograph set's sentences of a word; None where the set does not have it."""
    return _sense_set(translator.checkpoint.id, word, translator) if word in senses() else None
