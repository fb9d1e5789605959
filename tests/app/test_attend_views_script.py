"""The views of the Attend page without a browser: what they compute and what the link does."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model_core.experiments.heads import site_statistics
from model_core.trace import SITES
from model_core.translator import Translator
from tests.app.opened import ROOT, open_app, texts
from tests.examples import PAGE_SEARCH
from tests.small_traces import small_trace
from viz.panels.attend.heads import badge_sentence, extremes, table_of
from viz.panels.attend.sites import at_site
from viz.selection import Selection

SENTENCE = "How are you?"


@pytest.fixture(autouse=True)
def fresh_caches() -> Iterator[None]:
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def run(**query: str) -> AppTest:
    app = open_app(**{"text": SENTENCE, **query})
    assert not app.exception
    return app


def heatmaps(app: AppTest) -> list[dict]:
    """The first trace of every figure on the page."""
    figures = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    return [next(trace for trace in figure["data"] if trace["type"] == "heatmap") for figure in figures]


def test_three_sites_show_one_scale_and_a_button_selects() -> None:
    app = run(view="Three sites", layer="3", head="2")
    maps = heatmaps(app)
    assert [(found["zmin"], found["zmax"]) for found in maps] == [(0, 1)] * 3
    app.button(key="select-encoder_self").click().run()
    assert not app.exception
    assert (app.query_params["site"], app.query_params["layer"]) == ("encoder_self", "3")


@pytest.mark.parametrize("site", SITES)
def test_heads_show_the_statistics_of_the_site(site: str) -> None:
    app = run(view="Heads", site=site, layer="1", head="1", statistic="nats")
    trace = Translator.load(ROOT / "checkpoints" / "en-fr").trace(SENTENCE, decoding=PAGE_SEARCH)
    wanted = site_statistics(trace.maps(site))["nats"]  # pyright: ignore[reportArgumentType]
    (table,) = app.dataframe
    np.testing.assert_allclose(table.value["entropy, nats"], wanted.ravel(), atol=1e-6)
    assert f"{wanted.max():.2f}" in texts(app)
    (drawn,) = heatmaps(app)
    assert drawn["zmax"] == pytest.approx(np.log(len(trace.maps(site).key_tokens)))  # pyright: ignore[reportArgumentType]


def test_a_statistic_that_a_site_does_not_have_becomes_the_first() -> None:
    app = run(view="Heads", site="decoder_self", statistic="last")
    assert app.selectbox(key="choose-statistic").value == "entropy, 0 to 1"


def test_lines_answer_to_nonsense_in_the_link() -> None:
    app = run(view="Lines", heads="99,x,<b>", mass="-3", pin="up", token="0", step="99999999")
    assert "Every line is one weight" in texts(app)


def test_the_selected_row_is_told_under_the_heatmap() -> None:
    trace = Translator.load(ROOT / "checkpoints" / "en-fr").trace(SENTENCE, decoding=PAGE_SEARCH)
    app = run(site="cross", layer="2", head="4", step="3")
    row = trace.cross.map(1, 3)[2]
    wanted = f"looks most at “{trace.source_tokens[int(row.argmax())].text}”, {row.max():.2f}."
    assert any(line.startswith("The selected row, 3:") and line.endswith(wanted) for line in texts(app).splitlines())
    assert "The selected row" not in texts(run(site="cross", layer="2", head="4"))


def test_a_site_with_fewer_layers_and_heads_shows_its_last_and_the_mean() -> None:
    trace = small_trace(encoder=(2, 3), decoder=(5, 7))
    assert at_site(trace, Selection("cross", 4, 6), "encoder_self") == Selection("encoder_self", 1, None)
    assert at_site(trace, Selection("cross", 1, 2), "encoder_self") == Selection("encoder_self", 1, 2)


def test_sentences_name_the_right_heads() -> None:
    values = np.array([[0.1, 0.5, 0.9], [0.3, 0.05, 0.2]])
    assert extremes(values, "share") == "Share: highest in layer 1, head 3 (0.90), lowest in layer 2, head 2 (0.05)."
    statistics = {"nats": values, "entropy": values, "first": values, "previous": values[::-1] * 0}
    assert badge_sentence(statistics).endswith("layer 1 head 3 (first token).")
    assert badge_sentence({"entropy": values}).startswith("None of the 6 heads")
    assert table_of(statistics)["does nearly only"].tolist() == ["", "", "first token", "", "", ""]
