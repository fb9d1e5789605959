"""The Meaning page's script without a browser: what it computes, and what it says where something is wrong."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model_core.data.homographs import read_homographs
from model_core.experiments.meaning import encode_all, word_similarity
from model_core.experiments.sense_map import fit_probe, nearest_own_sense, told_sense
from model_core.text.words import find_word
from model_core.translator import Translator
from tests.app.opened import ROOT, texts
from tests.examples import HOSTILE_TEXTS
from viz.panels.meaning import data as meaning_data
from viz.panels.meaning.panels import closeness

PAIR = "In spring, the trees turn green again.\nWe drank cold water from the spring."


@pytest.fixture(scope="module", autouse=True)
def fresh_caches() -> Iterator[None]:
    """This module's tests share what they computed, and leave nothing."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def run(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=240)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    return app.switch_page("viz/pages/meaning.py").run()


def figures(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def numbers(values: Any) -> np.ndarray:
    """A figure's numbers, whether Plotly wrote them as a list or as bytes."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return np.array(values)


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(ROOT / "checkpoints" / "en-fr")


def test_the_lines_are_the_models_own(translator: Translator) -> None:
    app = run(sentences=PAIR, word="spring", depth="3")
    assert not app.exception
    encoded = encode_all(translator, PAIR.split("\n"))
    spans = [span for one in encoded if (span := find_word(one.words, "spring")) is not None]
    alike = word_similarity(encoded, spans)
    line = next(trace for trace in figures(app)[0]["data"] if trace.get("name") == "1 and 2")
    np.testing.assert_allclose(numbers(line["y"]), alike.across[:, 0, 1], atol=1e-5)
    assert f"have a cosine of {alike.across[3, 0, 1]:.2f}; two unrelated words" in texts(app)
    assert len(figures(app)) == 6


@pytest.mark.parametrize("directions", ["between the senses", "widest (PCA)"])
def test_the_map_has_every_sentence_of_the_set(directions: str) -> None:
    app = run(sentences=PAIR, word="spring", map=directions)
    points = [trace for trace in figures(app)[3]["data"] if trace["name"] != "your sentences"]
    wanted = [homograph for homograph in read_homographs() if homograph.word == "spring"]
    assert sum(len(numbers(trace["x"])) for trace in points) == len(wanted)
    held_out = [trace for trace in points if trace["name"].endswith("(held out)")]
    assert sum(len(numbers(trace["x"])) for trace in held_out) == sum(h.split == "test" for h in wanted)
    told = re.search(r"here (\d+) % lie nearest their own sense's centroid", texts(app))
    assert (told is not None) == (directions == "widest (PCA)")
    if told is not None:
        drawn = [
            (place, t["name"].removesuffix(" (held out)"))
            for t in points
            for place in zip(*map(numbers, (t["x"], t["y"])), strict=True)
        ]
        nearest = nearest_own_sense(np.array([place for place, _ in drawn]), [sense for _, sense in drawn])
        assert float(told[1]) == pytest.approx(100 * nearest, abs=0.6)


def test_the_map_and_its_sentence_are_those_of_the_probe(translator: Translator) -> None:
    app = run(sentences="There is a fly in my soup.\nBirds fly south in winter.", word="fly", depth="2")
    wanted = [homograph for homograph in read_homographs() if homograph.word == "fly"]
    encoded = encode_all(translator, [homograph.source for homograph in wanted])
    vectors = np.stack([one.vectors(s)[2] for one in encoded if (s := find_word(one.words, "fly")) is not None])
    probe = fit_probe(vectors, [homograph.sense for homograph in wanted])
    assert probe.names == ("insect", "travel")
    points = {trace["name"]: trace for trace in figures(app)[3]["data"]}
    trained = [row for row, h in enumerate(wanted) if h.sense == "travel" and h.split == "train"]
    across = (probe.left_out[trained, 1] - probe.left_out[trained, 0]) / 2
    np.testing.assert_allclose(numbers(points["travel"]["x"]), across, atol=1e-3)
    right = np.mean([told == h.sense for told, h in zip(told_sense(probe, probe.left_out), wanted, strict=True)])
    line = next(trace for trace in figures(app)[4]["data"] if trace["name"] == "linear probe")
    assert numbers(line["y"])[2] == pytest.approx(100 * right, abs=0.01)


def test_another_word_another_layer_and_a_story() -> None:
    app = run(sentences=PAIR)
    app.selectbox(key="meaning-word").set_value("the").run()
    assert not app.exception
    assert "The homograph set does not have “the”" in texts(app)
    assert app.query_params["word"] == "the"
    app.slider(key="meaning-depth").set_value(1).run()
    assert "At layer 1 the vectors of “the”" in texts(app)
    app.button(key="story-3").click().run()
    assert not app.exception
    assert (app.text_area(key="meaning-sentences").value or "").startswith("A bat flew")
    assert app.selectbox(key="meaning-word").value == "bat"


def test_sentences_without_a_common_word_are_still_translated() -> None:
    app = run(sentences="Birds sing.\nWe won!")
    assert not app.exception
    assert "No word stands in two of the sentences" in texts(app)
    assert "have mean encoder outputs with a cosine of" in texts(app)


@pytest.mark.parametrize(
    ("sentences", "answer"),
    [
        ("", "Type two sentences"),
        ("Only one.", "Type two sentences"),
        ("\n".join(["Birds sing in spring."] * 8), "There are 8 sentences; at most 6 are compared"),
        ("Birds sing.\n" + "word " * 500, "Sentence 2 has"),
        ("Birds\x00 sing.\nBirds fly.", "1 control character in what you typed"),
    ],
)
def test_odd_input_gets_a_sentence(sentences: str, answer: str) -> None:
    app = run(sentences=sentences)
    assert not app.exception
    assert answer in texts(app)


def test_hostile_texts_are_data() -> None:
    pasted = [text for text, answer in HOSTILE_TEXTS.values() if answer is None]
    app = run(sentences="\n".join([*pasted[:5], "bold x"]), depth="99", word="<b>", layer="-1")
    assert not app.exception
    assert not any("<b>" in str(element.value) or "$x^2$" in str(element.value) for element in app.markdown)


def test_letters_have_no_senses_and_the_way_back_is_a_click() -> None:
    app = run(checkpoint="copy")
    assert not app.exception
    assert "letters have no senses" in texts(app)
    assert not app.get("plotly_chart")
    next(button for button in app.button if button.label.startswith("Switch")).click().run()
    assert not app.exception
    assert app.get("plotly_chart")


def test_a_second_look_encodes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    app = run(sentences=PAIR, word="spring")
    calls: list[object] = []
    monkeypatch.setattr(meaning_data, "encode_all", lambda *given: calls.append(given))
    app.slider(key="meaning-depth").set_value(2).run()
    assert not app.exception and calls == []


@pytest.mark.parametrize(
    ("above", "told"),
    [(0, "none is"), (1, "one is"), (2, "2 are"), (30, "30 (1.2 %) are"), (1500, "1,500 (60.0 %) are")],
)
def test_pairs_that_are_as_alike_are_counted(above: int, told: str) -> None:
    others = np.r_[np.full(2500 - above, -0.5), np.full(above, 0.83)]
    said = closeness([-0.9, 0.82], [(0, 1), (0, 2)], [1, 2, 4], others)
    assert said.startswith("Sentences 1 and 4 have mean encoder outputs with a cosine of 0.82. Of 2,500 pairs")
    assert said.endswith(f") {told} at least as alike.") and "-" not in said
