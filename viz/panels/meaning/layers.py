"""A word from layer to layer: how alike its vectors are across sentences, and how the senses of the set drift apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from model_core.experiments.meaning import WordSimilarity, word_similarity
from model_core.experiments.meaning_map import SenseSet
from model_core.experiments.sense_map import told_sense
from model_core.translator import Translator
from viz.appearance import is_dark
from viz.figures.meaning import across_lines, cosine_heatmap, own_lines, pair_name, pairs_of
from viz.figures.sense_map import Star, sense_map, separation_lines
from viz.link import DEPTH, SENSE_MAP
from viz.link_kinds import within
from viz.linked import choice, read, write
from viz.panels.meaning.data import sense_set, senses, unrelated
from viz.panels.meaning.sentences import SharedWord
from viz.picture import show_figure
from viz.wording import fixed

_DEPTH = "meaning-depth"


def choose_depth(layers: int) -> int:
    """A slider over the encoder's states: 0 is the embedding with position, `layers` the output. In the link."""
    depth = within(read(DEPTH), layers + 1)
    st.session_state[_DEPTH] = layers if depth is None else depth

    def chosen() -> None:
        write(DEPTH.change(st.session_state[_DEPTH]))

    return st.slider("Layer (0: embedding and position)", 0, layers, key=_DEPTH, on_change=chosen)


@st.fragment
def layers_panel(translator: Translator, shared: SharedWord) -> None:
    """The slider, and everything that answers to it."""
    st.subheader("Layer by layer", anchor=False, divider="gray")
    depth = choose_depth(len(shared.sentences[0].encoded.states) - 1)
    similarities(translator, shared, depth)
    st.subheader("The senses drift apart", anchor=False, divider="gray")
    known = sense_set(translator, shared.word)
    if known is None:
        st.text(f"The homograph set does not have “{shared.word}”. It has: {', '.join(senses())}.")
        return
    drift(known, shared, depth)


def similarities(translator: Translator, shared: SharedWord, depth: int) -> None:
    """Lines over the layers, and the matrix of the chosen one."""
    dark = is_dark()
    numbers, alike = shared.numbers, word_similarity([s.encoded for s in shared.sentences], shared.spans)
    others = unrelated(translator).words
    pair = (numbers[0], numbers[1])
    told = (
        f"At layer {depth} the vectors of “{shared.word}” in sentences {pair[0]} and {pair[1]} have a cosine of "
        f"{fixed(alike.across[depth, 0, 1])}; two unrelated words have {fixed(float(others[depth].mean()))} on average."
    )
    st.text(told)
    left, middle, right = st.columns([5, 5, 3], gap="medium")
    with left:
        st.markdown("**Between sentences**")
        figure = across_lines(alike.across, others, numbers, chosen=depth, dark=dark)
        show_figure(
            figure, name="regard-meaning-across", key="across", alt=told, csv=lambda: _across_csv(alike, numbers)
        )
    with middle:
        st.markdown("**To its own embedding**")
        figure = own_lines(alike.own, numbers, chosen=depth, dark=dark)
        told = (
            f"At layer {depth} sentence {numbers[0]}'s vector and the embedding: cosine {fixed(alike.own[depth, 0])}."
        )
        show_figure(figure, name="regard-meaning-own", key="own", alt=told, csv=lambda: _own_csv(alike, numbers))
    with right:
        st.markdown(f"**Cosines at layer {depth}**")
        figure = cosine_heatmap(alike.across[depth], numbers, dark=dark)
        told = f"Cosines at layer {depth} between {len(numbers)} sentences."
        table = pd.DataFrame(alike.across[depth], index=numbers, columns=numbers)
        show_figure(figure, name="regard-meaning-pairs", key="pairs", alt=told, csv=table.to_csv)
    st.caption(
        "Grey: different words in different sentences, mean and middle 90 %. A cosine says little by itself, since all "
        "vectors of a layer share a direction: read each line against the grey one."
    )


def _across_csv(alike: WordSimilarity, numbers: Sequence[int]) -> str:
    columns = {pair_name((a, b), numbers): alike.across[:, a, b] for a, b in pairs_of(len(numbers))}
    return pd.DataFrame(columns).to_csv(index_label="layer")


def _own_csv(alike: WordSimilarity, numbers: Sequence[int]) -> str:
    return pd.DataFrame(alike.own, columns=[f"sentence {number}" for number in numbers]).to_csv(index_label="layer")


def drift(known: SenseSet, shared: SharedWord, depth: int) -> None:
    """The map of the chosen layer, and how well the senses part at each."""
    told = separation_sentence(known)
    st.text(f"A point is a sentence of the homograph set: where layer {depth} puts “{shared.word}” in it. {told}")
    between = choice("Directions of the map", SENSE_MAP) == "between the senses"
    vectors = np.stack([s.encoded.vectors(span)[depth] for s, span in zip(shared.sentences, shared.spans, strict=True)])
    scores = np.stack([known.scores(depth, v, s.encoded.text) for v, s in zip(vectors, shared.sentences, strict=True)])
    left, right = st.columns([7, 5], gap="medium")
    with left:
        _map(known, shared, depth, known.places(depth, vectors, scores) if between else None, vectors, told)
    with right:
        st.markdown("**The sense is told right**")
        shares = {
            "linear probe": known.told,
            "linear probe, held-out sentences": known.held_out_told,
            "nearest centroid": known.nearest,
        }
        figure = separation_lines(shares, known.chance, chosen=depth, dark=is_dark())
        csv = lambda: pd.DataFrame(shares).to_csv(index_label="layer")  # noqa: E731
        show_figure(figure, name="regard-meaning-senses", key="senses", alt=told, csv=csv)
        for sentence, sense in zip(shared.sentences, told_sense(known.probes[depth], scores), strict=True):
            st.text(f"★ {sentence.number}: at layer {depth} the probe takes it for “{sense}”.")
    if known.unrecognised:
        st.caption(f"Left out, since the word's form is not recognised: {known.unrecognised} of the set's sentences.")


def _map(
    known: SenseSet,
    shared: SharedWord,
    depth: int,
    own: NDArray[np.float64] | None,
    vectors: NDArray[np.float32],
    told: str,
) -> None:
    """The map between the senses, with the person's sentences at `own`; where that is None, in the widest plane."""
    plane, count = known.planes[depth], len(known.texts)
    if own is None:
        places, own, titles = plane.coordinates(known.vectors[depth]), plane.coordinates(vectors), None
        note = (
            f"The 2 widest of the {known.vectors.shape[2]} directions (PCA) hold {100 * plane.explained:.0f} % of the "
            f"variance of {count} points. Which ones they are depends on the word's form (plural, ending), its place "
            f"and the topic more than on its sense: here {100 * known.nearest_in_plane[depth]:.0f} % lie nearest their "
            f"own sense's centroid, and guessing the commonest sense is right for {100 * known.chance:.0f} %."
        )
    else:
        probe = known.probes[depth]
        places = known.places(depth, known.vectors[depth], probe.left_out)
        two = len(probe.names) == 2
        titles = (f"{probe.names[0]} ← probe → {probe.names[1]}", "widest direction") if two else ("", "")
        note = f"Where a linear probe puts each of {count} sentences after it has learned from all the others."
    stars = [
        Star(str(sentence.number), sentence.encoded.text, (float(place[0]), float(place[1])))
        for sentence, place in zip(shared.sentences, own, strict=True)
    ]
    dark = is_dark()
    figure = sense_map(places, known.texts, known.senses, known.held_out, stars, dark=dark, titles=titles)
    csv = lambda: _map_csv(known, places)  # noqa: E731
    show_figure(figure, name=f"regard-meaning-map-layer{depth}", key="sense-map", alt=told, csv=csv)
    st.caption(f"{note} Hollow: held out of training. Stars: your sentences, by number.")


def separation_sentence(known: SenseSet) -> str:
    """How well the senses part before the first layer and after the last."""
    return (
        f"From layer 0 a linear probe tells the sense of {100 * known.told[0]:.0f} % of the {len(known.texts)} "
        f"sentences, each left out in turn; from layer {len(known.planes) - 1}, of {100 * known.told[-1]:.0f} %. "
        f"Guessing the commonest sense gives {100 * known.chance:.0f} %."
    )


def _map_csv(known: SenseSet, places: NDArray[np.float64]) -> str:
    table = pd.DataFrame({"sentence": known.texts, "sense": known.senses, "held_out": known.held_out})
    return table.assign(x=places[:, 0], y=places[:, 1]).to_csv(index=False)
