"""The tables that pages offer to take home: each file's numbers are those of the trace, its tokens as they are.

What a button would hand out is made when it is pressed, which no test without a browser does; here it is made at once.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from model_core.data.homographs import read_homographs
from model_core.experiments.heads import site_statistics
from model_core.experiments.masks import MaskCell, MaskSetting, Padded, masked_pass
from model_core.experiments.meaning import encode_all, word_similarity
from model_core.experiments.positions import (
    PositionChange,
    encoding_table,
    input_norms,
    moved_attention,
    run_experiment,
)
from model_core.text.words import find_word
from model_core.trace import SITES, Token, TranslationTrace
from model_core.translator import Translator
from tests.app.opened import ROOT, open_app
from tests.examples import PAGE_SEARCH
from viz.panels.masks.panel import cells_csv
from viz.panels.meaning.panels import word_attention

Offered = dict[str, Callable[[], bytes]]
LETTERS = "c a b"
SENTENCE, SECOND = "Where is the station?", "No."
PAIR = "In spring, the trees turn green again.\nWe drank cold water from the spring."
COPY = {"checkpoint": "copy", "letters": LETTERS}


@pytest.fixture(autouse=True, scope="module")
def fresh_caches() -> Iterator[None]:
    """What these tests compute is theirs."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Offered:
    """What the buttons of the page that is opened next would hand out, by the files' names."""
    found: Offered = {}

    def button(label: str, data: Callable[[], bytes], file_name: str, *_: object, **__: object) -> bool:
        assert file_name not in found, f"two files would be called {file_name}"
        found[file_name] = data
        return False

    monkeypatch.setattr(st, "download_button", button)
    return found


@pytest.fixture(scope="module")
def copier() -> Translator:
    return Translator.load(ROOT / "checkpoints" / "copy")


@pytest.fixture(scope="module")
def copied(copier: Translator) -> TranslationTrace:
    return copier.trace(LETTERS, decoding=PAGE_SEARCH)


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(ROOT / "checkpoints" / "en-fr")


@pytest.fixture(scope="module")
def trace(translator: Translator) -> TranslationTrace:
    return translator.trace(SENTENCE, decoding=PAGE_SEARCH)


def read(offered: Offered, name: str, **options: Any) -> Any:
    """The file as a table; every one begins with the mark by which spreadsheets know UTF-8."""
    content = offered[name]()
    assert content.startswith(b"\xef\xbb\xbf"), name
    return pd.read_csv(io.BytesIO(content), encoding="utf-8-sig", keep_default_na=False, **options)


def spelled(tokens: tuple[Token, ...]) -> list[str]:
    return [token.text for token in tokens]


def opened(page: str, **query: str) -> None:
    app = open_app(page, **query)
    assert not app.exception, app.exception


def test_the_maps_of_all_three_sites(offered: Offered, trace: TranslationTrace) -> None:
    opened("attend", text=SENTENCE, layer="2", head="3", view="Three sites")
    for site in SITES:
        maps = trace.maps(site)
        levels = [0, 1] if site == "encoder_self" else [0, 1, 2]
        name = f"regard-where-is-the-station-{site.replace('_', '-')}-layer2-3.csv"
        table = read(offered, name, header=[0, 1], index_col=levels, na_values=[""]).to_numpy(dtype=float)
        np.testing.assert_allclose(table[maps.allowed], maps.map(1, 2)[maps.allowed], rtol=1e-6)
        assert np.isnan(table[~maps.allowed]).all()


def test_the_chosen_map_and_the_whole_trace(offered: Offered, trace: TranslationTrace) -> None:
    opened("attend", text=SENTENCE, site="cross", layer="2", head="3")
    (name,) = (each for each in offered if each.endswith(".csv"))
    table = read(offered, name, header=[0, 1], index_col=[0, 1, 2])
    np.testing.assert_allclose(table.to_numpy(dtype=float), trace.cross.map(1, 2), rtol=1e-6)
    assert [entry[2] for entry in table.index] == spelled(trace.predicted_tokens)
    (name,) = (each for each in offered if each.endswith(".safetensors"))
    again = TranslationTrace.from_bytes(offered[name]())
    np.testing.assert_array_equal(again.cross.weights, trace.cross.weights)
    (name,) = (each for each in offered if each.endswith(".html"))
    assert b"<!DOCTYPE html>" in offered[name]()[:100]


def test_what_each_head_does(offered: Offered, trace: TranslationTrace) -> None:
    opened("attend", text=SENTENCE, site="cross", view="Heads")
    table = read(offered, "regard-where-is-the-station-cross-heads.csv")
    wanted = site_statistics(trace.cross)
    np.testing.assert_allclose(table["entropy, nats"], wanted["nats"].ravel(), rtol=1e-5)
    np.testing.assert_allclose(table["on first token"], wanted["first"].ravel(), rtol=1e-5)
    assert [tuple(row) for row in table[["layer", "head"]].to_numpy()[:2]] == [(1, 1), (1, 2)]


def test_a_typed_translation_piece_by_piece(offered: Offered, copier: Translator) -> None:
    opened("decode", **COPY, writer="you write", target="c p b")
    typed = copier.trace(LETTERS, target="c p b")
    table = read(offered, "regard-decode-c-a-b-typed.csv")
    np.testing.assert_allclose(table["log P"], [step.log_probability for step in typed.decoding], atol=1e-5)
    assert list(table["piece"]) == [token.piece for token in typed.predicted_tokens]
    steps = read(offered, "regard-decode-c-a-b-steps.csv")
    assert list(steps["id"][steps["chosen"] == "yes"]) == [step.chosen_id for step in typed.decoding]


def test_one_head_under_a_mask_and_what_the_mask_changes(
    offered: Offered, translator: Translator, trace: TranslationTrace
) -> None:
    opened(
        "masks", text=SENTENCE, second=SECOND, site="cross", layer="2", head="3", step="2", off="cross-2-5", row="first"
    )
    source = Padded(tuple(token.id for token in trace.source_tokens), len(trace.source_tokens))
    target = [token.id for token in trace.predicted_tokens]
    forbidden = MaskSetting(forbidden=frozenset({MaskCell("cross", 1, 4)}))
    model = translator.checkpoint.model
    usual, changed = (masked_pass(model, source, target, each, "cross", 1) for each in (MaskSetting(), forbidden))
    shape = usual.weights[2].shape
    head = read(offered, "regard-masks-head.csv")
    np.testing.assert_allclose(head["score"].to_numpy().reshape(shape), changed.scores[2], atol=1e-5)
    np.testing.assert_array_equal(head["allowed"].to_numpy().reshape(shape), changed.allowed[2])
    assert list(head["key token"][: shape[1]]) == spelled(trace.source_tokens)
    table = read(offered, "regard-masks-weights.csv")
    for name, wanted in (("before", usual.weights[2]), ("after", changed.weights[2])):
        np.testing.assert_allclose(table[name].to_numpy().reshape(shape), wanted, atol=1e-6)
    difference = table["after"] - table["before"]
    np.testing.assert_allclose(table["after minus before"], difference, atol=1e-6)
    assert difference.abs().max() > 1e-3, "the mask changed something"
    assert list(table["query"][~table["allowed after"]]) == [2] and table["allowed before"].all()
    shifts = read(offered, "regard-masks-next-token.csv")
    likeliest = np.exp(usual.log_probabilities[1]).max()
    assert shifts["before"].max() == pytest.approx(likeliest, abs=1e-5)
    np.testing.assert_allclose(shifts["difference"], shifts["after"] - shifts["before"], atol=1e-9)


def test_the_three_masks(offered: Offered, trace: TranslationTrace, translator: Translator) -> None:
    opened("masks", text=SENTENCE, second=SECOND, row="second")
    padding = read(offered, "regard-masks-padding.csv")
    lengths = [len(translator.prepare(text).ids) for text in (SENTENCE, SECOND)]
    assert padding["may be looked at"].tolist() == [place < size for size in lengths for place in range(lengths[0])]
    assert list(padding["token"][: lengths[0]]) == spelled(trace.source_tokens)
    causal = read(offered, "regard-masks-decoder-self.csv", index_col=0).to_numpy()
    np.testing.assert_array_equal(causal, np.tril(np.ones_like(causal)))
    cross = read(offered, "regard-masks-cross.csv", index_col=0).to_numpy()
    assert (cross.sum(axis=1) == lengths[1]).all() and cross.shape[1] == lengths[0]


def test_cells_keep_their_tokens_and_numbers() -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    table: Any = pd.read_csv(io.StringIO(cells_csv(["a", '"'], ["=1+1", "a", "a"], {"x": values, "y": -values})))
    assert table["query token"].tolist() == ["a"] * 3 + ['"'] * 3 and table["key"].tolist() == [1, 2, 3] * 2
    assert table["x"].tolist() == [0, 1, 2, 3, 4, 5] and (table["y"] == -table["x"]).all()


def test_the_encoding(offered: Offered) -> None:
    opened("positions", **COPY, view="encoding", d_model="8", positions="11", base="100", dimensions="5")
    wanted = encoding_table(11, 8, 100.0)
    for name, values in (
        ("encoding", wanted),
        ("curves", wanted[:, [5]]),
        ("similarity", wanted @ wanted.T),
        ("by-distance", (wanted @ wanted[0])[:, None]),
    ):
        table = read(offered, f"regard-positions-{name}.csv", index_col=0)
        np.testing.assert_allclose(table.to_numpy(), values, atol=1e-5)
        assert table.index.tolist() == list(range(11)), name


def test_what_positions_do_to_a_sentence(offered: Offered, copier: Translator, copied: TranslationTrace) -> None:
    opened("positions", **COPY, view="sentence")
    table = read(offered, "regard-positions-norms.csv")
    assert list(table["token"]) == spelled(copied.source_tokens)
    norms = np.stack(input_norms(copier.checkpoint, copied.source_tokens), axis=1)
    np.testing.assert_allclose(table.iloc[:, 1:], norms, rtol=1e-5)
    offered.clear()
    opened("positions", **COPY, view="experiment", change="off", layer="2", head="mean")
    found = run_experiment(copier.checkpoint, copied, PositionChange("off"), PAGE_SEARCH)
    before, after = copied.encoder_self.map(1, None), found.attention[1].mean(axis=0)
    for name, values in (("before", before), ("after", after)):
        file = f"regard-positions-attention-{name}.csv"
        maps = read(offered, file, header=[0, 1], index_col=[0, 1]).to_numpy(dtype=float)
        np.testing.assert_allclose(maps, values, atol=1e-6)
    changes = read(offered, "regard-positions-changes.csv")
    np.testing.assert_allclose(changes.iloc[:, 1], moved_attention(before, after), atol=1e-6)
    offered.clear()
    opened("positions", **COPY, view="order", order="3")
    table = read(offered, "regard-positions-equivariance.csv")
    shuffled = run_experiment(copier.checkpoint, copied, PositionChange(shuffle=3), PAGE_SEARCH).states_put_back()[-1]
    wanted = np.abs(copied.encoder_states[-1] - shuffled).max(axis=-1)
    np.testing.assert_allclose(table["with positions"], wanted, atol=1e-5)
    assert table["without positions"].max() < 1e-4


def test_a_words_vectors_and_what_it_looks_at(offered: Offered, translator: Translator) -> None:
    opened("meaning", sentences=PAIR, word="spring", depth="3", site="encoder_self", layer="2", head="1")
    texts = PAIR.split("\n")
    encoded = encode_all(translator, texts)
    spans = [span for one in encoded if (span := find_word(one.words, "spring")) is not None]
    alike = word_similarity(encoded, spans)
    across = read(offered, "regard-meaning-across.csv", index_col="layer")
    np.testing.assert_allclose(across["1 and 2"], alike.across[:, 0, 1], atol=1e-5)
    own = read(offered, "regard-meaning-own.csv", index_col="layer")
    np.testing.assert_allclose(own, alike.own, atol=1e-5)
    assert own.columns.tolist() == ["sentence 1", "sentence 2"]
    pairs = read(offered, "regard-meaning-pairs.csv", index_col=0)
    np.testing.assert_allclose(pairs, alike.across[3], atol=1e-5)
    points = read(offered, "regard-meaning-map-layer3.csv")
    wanted = [homograph for homograph in read_homographs() if homograph.word == "spring"]
    assert list(points["sentence"]) == [homograph.source for homograph in wanted]
    assert list(points["held_out"]) == [homograph.split == "test" for homograph in wanted]
    assert len(read(offered, "regard-meaning-senses.csv")) == len(encoded[0].states)
    looks = read(offered, "regard-meaning-looks-layer2.csv")
    for number, (text, span) in enumerate(zip(texts, spans, strict=True), start=1):
        trace = translator.trace(text, decoding=PAGE_SEARCH)
        rows = looks[looks["sentence"] == number]
        np.testing.assert_allclose(rows["weight"], word_attention(trace, span, 1, 0), atol=1e-6)
        assert list(rows["text"]) == spelled(trace.source_tokens)
    wholes = read(offered, "regard-meaning-sentences.csv")
    assert wholes["pair"].tolist()[:2] == ["1 and 2", "unrelated"]
    mean = [one.mean / np.linalg.norm(one.mean) for one in encoded]
    assert wholes["cosine"][0] == pytest.approx(float(mean[0] @ mean[1]), abs=1e-5)


def test_one_cell_of_a_head(offered: Offered, trace: TranslationTrace) -> None:
    opened("inside", text=SENTENCE, site="cross", layer="2", head="5", stage="4", cell="3.2")
    terms = read(offered, "regard-inside-cell.csv")
    products = read(offered, "regard-inside-qk-transposed.csv", header=None).to_numpy()
    assert terms["product"].sum() == pytest.approx(float(products[4, 3]), abs=1e-4)
    assert list(products[1, 2:]) == spelled(trace.source_tokens)


def test_how_the_shipped_model_learned(offered: Offered) -> None:
    opened("learn", at="75")
    curves = read(offered, "regard-learn-curves.csv")
    assert curves["training"].unique().tolist() == ["shipped model"] and 75 in curves["step"].tolist()
    maps = read(offered, "regard-learn-step75.csv", header=[0, 1], index_col=[0, 1, 2]).to_numpy(dtype=float)
    assert maps.shape == (8, 9) and maps.sum(axis=1) == pytest.approx(np.ones(8), abs=1e-5)


def test_every_table_goes_through_the_button_that_these_tests_press() -> None:
    """`csv_button` of viz.picture."""
    for path in sorted(Path(ROOT / "viz").rglob("*.py")):
        if path.name != "picture.py":
            assert "text/csv" not in path.read_text(encoding="utf-8"), path
