"""The Positions page's script without a browser: what it computes, and what it says where something is odd."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model_core.experiments.positions import PositionChange, run_experiment
from model_core.translator import Translator
from tests.app.opened import ROOT, open_app
from tests.examples import PAGE_SEARCH
from viz.figures import positions
from viz.panels.positions import encoding

CHARTS = {"encoding": 4, "sentence": 1, "experiment": 3, "order": 1}  # of each view


@pytest.fixture(autouse=True, scope="module")
def fresh_caches() -> Iterator[None]:
    """What these tests compute is theirs."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def figures(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def told(app: AppTest) -> str:
    return "\n".join(str(element.value) for element in [*app.text, *app.caption, *app.markdown, *app.info, *app.error])


def minus(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")


@pytest.fixture(scope="module")
def copier() -> Translator:
    return Translator.load(ROOT / "checkpoints" / "copy")


def test_the_page_says_what_the_model_measures(copier: Translator) -> None:
    app = open_app(
        "positions", checkpoint="copy", letters="a b c d e", change="shuffled", seed="3", layer="2", head="mean"
    )
    assert not app.exception
    trace = copier.trace("a b c d e", decoding=PAGE_SEARCH)
    found = run_experiment(copier.checkpoint, trace, PositionChange(shuffle=3), PAGE_SEARCH)
    before = trace.encoder_self.weights[1].mean(axis=0)
    after = found.attention_put_back()[1].mean(axis=0)
    moved = float(np.abs(after - before).sum(axis=-1).mean() / 2)
    assert f"On average **{moved:.2f}** of a row's attention" in told(app)
    assert f"**{minus(float(found.original.sum()))}**" in told(app)
    assert f"→ {found.text}" in told(app) and found.source_text in told(app)
    assert "Words shuffled: the new translation of 5 words has **5 of the original translation's 5 words" in told(app)
    assert len(figures(app)) == CHARTS["experiment"]


def test_the_models_own_encoding_is_the_default_of_each_checkpoint() -> None:
    app = open_app("positions", checkpoint="copy", letters="a b c")
    assert (app.select_slider(key="base").value, app.select_slider(key="d_model").value) == (10_000, 64)
    assert app.slider(key="positions").value == 130
    assert "base 10,000, d_model 64, at most 130 positions" in told(app)
    app.segmented_control(key="checkpoint").set_value("en-fr").run()
    assert not app.exception
    assert app.select_slider(key="d_model").value == 256


def test_a_link_sets_base_width_and_curves() -> None:
    app = open_app(
        "positions", checkpoint="copy", letters="a b c", base="10", d_model="8", positions="20", dimensions=["5", "2"]
    )
    assert not app.exception
    heatmap, curves = figures(app)[:2]
    assert len(heatmap["data"][0]["x"]) == 8
    assert [curve["name"].split(",")[0] for curve in curves["data"]] == ["5", "2"]
    back = next(button for button in app.button if "own" in button.label)
    back.click().run()
    assert not app.exception
    assert app.select_slider(key="d_model").value == 64
    app.select_slider(key="d_model").set_value(8).run()
    assert not app.exception


@pytest.mark.parametrize("view", CHARTS)
@pytest.mark.parametrize(
    "query",
    [
        {"base": "7", "d_model": "9", "positions": "1000", "dimensions": ["400"], "seed": "-1", "shift": "0"},
        {"dimensions": [str(number) for number in range(20)]},
        {"change": "shifted", "shift": "x", "layer": "99", "head": "none", "measure": "?"},
        {"change": "<b>", "both": "perhaps", "order": "1e99"},
        {"change": "shuffled", "seed": "inf", "order": "-1e400"},
    ],
)
def test_a_link_with_nonsense_opens_the_page_all_the_same(query: dict[str, str | list[str]], view: str) -> None:
    app = open_app("positions", checkpoint="copy", letters="a b c", view=view, **query)
    assert not app.exception
    assert len(figures(app)) == CHARTS[view]


@pytest.mark.parametrize(
    ("query", "view"),
    [({}, "encoding"), ({"view": "?"}, "encoding"), ({"change": "off"}, "experiment"), ({"order": "2"}, "order")],
)
def test_a_link_without_a_view_opens_the_one_that_it_is_about(query: dict[str, str | list[str]], view: str) -> None:
    app = open_app("positions", checkpoint="copy", letters="a b c", **query)
    assert not app.exception
    assert len(figures(app)) == CHARTS[view] and ("count from 0" in told(app)) == (view == "encoding")


def test_the_dimensions_of_a_link_are_kept_to_those_that_there_are() -> None:
    """Too large, twice, or no number: left out; with a larger width they are there again."""
    app = open_app("positions", checkpoint="copy", letters="a b", d_model="8", dimensions=["5", "5", "20", "x"])
    assert app.multiselect(key="dimensions").value == [5]
    app.select_slider(key="d_model").set_value(32).run()
    assert not app.exception
    assert app.multiselect(key="dimensions").value == [5, 20]
    assert app.query_params["d_model"] == "32" and len(figures(app)[0]["data"][0]["x"]) == 32


def test_one_word_has_nothing_to_shuffle() -> None:
    app = open_app("positions", checkpoint="copy", letters="a", change="shuffled")
    assert not app.exception
    assert "one word: there is nothing to shuffle" in told(app)
    assert "Words shuffled: the model writes **the same translation**" in told(app)
    assert "as probable as before" in told(app) and "1 times" not in told(app)
    assert len(figures(app)) == CHARTS["experiment"]
    app = open_app("positions", checkpoint="copy", letters="a", view="order")
    assert "two words or more" in told(app) and not figures(app)


def test_all_changes_stand_in_one_table(copier: Translator) -> None:
    app = open_app("positions", checkpoint="copy", letters="d a c", change="shifted", shift="5", all="true")
    assert not app.exception
    table: Any = app.dataframe[0].value
    trace = copier.trace("d a c", decoding=PAGE_SEARCH)
    changes = [PositionChange(), PositionChange("off"), PositionChange(shuffle=1), PositionChange("shifted", 5)]
    for row, change in enumerate([*changes, PositionChange("off", shuffle=1)]):
        found = run_experiment(copier.checkpoint, trace, change, PAGE_SEARCH)
        assert table["translation"][row] == found.text
        assert table["log P of the original"][row] == pytest.approx(found.original.sum(), abs=2e-3)
    assert table["attention elsewhere"][0] == 0 and table["cosine"][0] == 1
    assert table["change"].is_unique and table["change"][0] == "As it is"


def test_the_encoding_stays_when_there_is_no_sentence() -> None:
    app = open_app("positions", checkpoint="copy", letters="z")
    assert not app.exception
    assert "does not know 'z'" in told(app)
    assert len(figures(app)) == 4


def test_no_curve_chosen_is_asked_for() -> None:
    app = open_app("positions", checkpoint="copy", letters="a b")
    app.multiselect(key="dimensions").set_value([]).run()
    assert not app.exception
    assert "Choose at least one dimension" in told(app)


def test_one_word_is_one_word() -> None:
    app = open_app("positions", text="Hi", change="shifted")
    assert not app.exception
    assert "the new translation of 1 word has" in told(app) or "the same translation" in told(app)
    assert "1 words" not in told(app) and "original translation's 1 word" in told(app)


@pytest.mark.parametrize("measure", ["dot product", "cosine"])
def test_the_similarities_of_all_pairs_are_computed_once(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = positions.similarity_matrix

    def counted(table: Any, kind: Any) -> Any:
        sizes.append(len(table))
        return real(table, kind)

    for module in (positions, encoding):
        monkeypatch.setattr(module, "similarity_matrix", counted)
    app = open_app("positions", checkpoint="copy", letters="a b", positions="256", measure=measure)
    assert not app.exception
    assert sizes == [128], "only the picture, which draws every second position, needs pairs"
