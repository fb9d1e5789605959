"""The Learn page's script without a browser: what it starts, shows, compares and says."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model_core.training import live, live_training
from tests.app.opened import ROOT, open_app, texts
from viz import translators
from viz.panels.learn import panel as learn_panel
from viz.panels.learn import runs as learn_runs
from viz.panels.learn.settings import EXPERIMENTS, PROPOSED

SMALL = {"layers": "1", "heads": "2", "width": "16", "steps": "100", "rate": "0.01"}


@pytest.fixture(autouse=True)
def fresh_classroom(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test has a server of its own, whose trainings are looked at five times and end with it."""
    monkeypatch.setattr(live_training, "SNAPSHOTS", 5)
    st.cache_resource.clear()
    yield
    learn_runs.classroom().close()
    st.cache_resource.clear()


def until(app: AppTest, wanted: Callable[[AppTest], bool]) -> AppTest:
    """Runs the page again and again, as its own clock does in the browser."""
    for _ in range(600):
        assert not app.exception
        if wanted(app):
            return app
        time.sleep(0.1)
        app.run()
    pytest.fail(f"The page never came to it; it says: {texts(app)}")


def figures(app: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def test_before_anybody_trains_the_shipped_model_is_shown() -> None:
    app = open_app("learn")
    assert not app.exception
    assert app.select_slider(key="learn-at").options[:3] == ["0", "10", "25"]
    assert "**8 of 8** rows on the diagonal" in texts(app)
    assert [trace["type"] for trace in figures(app)[0]["data"]] == ["heatmap"]
    app.select_slider(key="learn-at").set_value(75).run()
    assert "**0 of 8** rows on the diagonal" in texts(app) and "at step 75" in texts(app)
    assert app.query_params["at"] == "75"
    assert open_app("learn", at="77").select_slider(key="learn-at").value == 75, "the nearest step that there is"


def test_the_film_plays_every_step_once_and_stands_at_the_end() -> None:
    app = open_app("learn", at="100")
    steps = [int(step) for step in app.select_slider(key="learn-at").options]
    app.button(key="learn-play").click().run()
    seen = [app.select_slider(key="learn-at").value]
    assert app.query_params["at"] == "100", "the link follows when the film stands"
    while "learn-hold" in [button.key for button in app.button]:
        app.run()
        assert not app.exception
        seen.append(app.select_slider(key="learn-at").value)
    assert seen == [step for step in steps if step > 100]
    assert "at" not in app.query_params
    app.button(key="learn-play").click().run()
    assert app.select_slider(key="learn-at").value == 0, "from the beginning again"
    app.button(key="learn-hold").click().run()
    assert app.select_slider(key="learn-at").value == 0 and app.query_params["at"] == "0"


def test_a_training_runs_to_its_end_and_is_compared() -> None:
    app = open_app("learn", **SMALL)
    app.button(key="start").click().run()
    until(app, lambda app: "Done in" in texts(app))
    assert app.segmented_control(key="learn-show").value == app.session_state["learn-runs"][0].name
    last = app.session_state["learn-runs"][0].live.state().snapshots[-1]
    assert f"**{round(last.diagonal().largest * 8)} of 8** rows on the diagonal" in texts(app)
    assert "as fast as the last training of this size went here" in texts(app)
    app.toggle(key="positions").set_value(False)
    app.button(key="start").click().run()
    until(app, lambda app: "Done in" in texts(app))
    table = app.dataframe[0].value
    assert list(table["state"]) == ["finished", "finished"] and list(table["step"]) == [100, 100]
    assert "without positions" in table["training"][1] and "without positions" not in table["training"][0]
    lasts = [kept.live.state().snapshots[-1] for kept in app.session_state["learn-runs"]]
    assert list(table["loss"]) == [last.loss for last in lasts] and lasts[0].loss != lasts[1].loss
    assert list(table["on the diagonal"]) == [last.best_diagonal for last in lasts]


def test_pause_resume_and_stop() -> None:
    app = open_app("learn", **SMALL | {"steps": "1200"})
    app.button(key="start").click().run()
    until(app, lambda app: len(app.session_state["learn-runs"][0].live.state().snapshots) > 1)
    app.button(key="pause").click().run()
    until(app, lambda app: "Paused" in texts(app))
    slider = app.select_slider(key="learn-at")
    assert slider.value == int(slider.options[-1]) > 0
    app.button(key="resume").click().run()
    until(app, lambda app: "steps a second" in texts(app))
    app.button(key="stop").click().run()
    until(app, lambda app: "Stopped" in texts(app))
    assert learn_runs.classroom().under_way() == 0


def test_the_third_is_told_its_place() -> None:
    others = [learn_runs.classroom().start(live.LiveSettings(steps=1200)) for _ in range(2)]
    app = open_app("learn", **SMALL)
    app.button(key="start").click().run()
    until(app, lambda app: "2 other trainings run on this server. This one is number 1 in line" in texts(app))
    others[0].stop()
    until(app, lambda app: "Done in" in texts(app))


def test_a_training_that_has_to_end_for_another_is_named() -> None:
    app = open_app("learn", **SMALL | {"steps": "1200"})
    app.button(key="start").click().run()
    assert "was stopped to make room" not in texts(app)
    app.button(key="start").click().run()
    assert "Training 1 was stopped to make room for this one" in texts(app)
    app.run()
    assert "was stopped to make room" not in texts(app), "it is told once"


def test_only_the_last_four_trainings_are_kept() -> None:
    app = open_app("learn", **SMALL)
    for _ in range(5):
        app.button(key="start").click().run()
    assert [kept.number for kept in app.session_state["learn-runs"]] == [2, 3, 4, 5]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_an_experiment_fills_the_settings_in_and_starts(experiment) -> None:
    app = open_app("learn")
    app.button(key=f"try-{experiment.name}").click().run()
    assert not app.exception
    started = app.session_state["learn-runs"][0].live
    assert started.settings == experiment.settings != PROPOSED
    assert app.selectbox(key="rate").value == experiment.settings.learning_rate
    assert app.toggle(key="positions").value == experiment.settings.positions
    assert f"Look for: {experiment.look}." in texts(app)


def test_two_tabs_have_trainings_of_their_own() -> None:
    one, other = open_app("learn", **SMALL), open_app("learn", **SMALL)
    one.button(key="start").click().run()
    assert len(one.session_state["learn-runs"]) == 1
    other.run()
    assert not other.session_state["learn-runs"] and "Pause" not in [button.label for button in other.button]


def test_a_lost_training_is_told_and_its_settings_are_kept() -> None:
    app = open_app("learn", **SMALL, run="1a2b3c4d")
    assert "is not here" in texts(app)
    assert app.selectbox(key="heads").value == 2 and app.selectbox(key="steps").value == 100
    app.button(key="start").click().run()
    assert "is not here" not in texts(app)
    assert app.query_params["run"] == app.session_state["learn-runs"][0].id


def test_nonsense_in_the_link_gives_the_proposed_settings() -> None:
    app = open_app(
        "learn", rate="fast", layers="-1", heads="99", seed="0", at="x", layer="7", head="<b>", positions="maybe"
    )
    assert not app.exception
    assert app.select_slider(key="learn-at").value == 1200
    assert "Cross-attention at step 1,200, layer 2, mean over heads" in texts(app)
    app.button(key="start").click().run()
    assert not app.exception
    assert app.session_state["learn-runs"][0].live.settings == PROPOSED


def test_a_full_server_and_an_error_in_a_training_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_RUNS", 0)
    app = open_app("learn", **SMALL)
    app.button(key="start").click().run()
    assert not app.exception and "try again in a minute" in texts(app)
    monkeypatch.setattr(live, "MOST_RUNS", 3)

    def broken(*_: object) -> None:
        raise RuntimeError("![x](http://127.0.0.1:1)")

    monkeypatch.setattr(live, "LiveTraining", broken)
    app.button(key="start").click().run()
    until(app, lambda app: "ended with an error: RuntimeError" in texts(app))


def test_without_the_shipped_moments_one_can_still_train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "checkpoints" / "copy", tmp_path / "copy", ignore=shutil.ignore_patterns("moment-*"))
    monkeypatch.setattr(translators, "CHECKPOINTS", tmp_path)
    app = open_app("learn", **SMALL)
    assert not app.exception and "can't be shown" in texts(app)
    app.button(key="start").click().run()
    until(app, lambda app: "Done in" in texts(app))
    assert figures(app)


def test_a_full_server_leaves_the_training_that_runs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that is to be replaced does not count; where there is no place even so, it goes on."""
    app = open_app("learn", **SMALL | {"steps": "1200"})
    app.button(key="start").click().run()
    first = app.session_state["learn-runs"][0].live
    monkeypatch.setattr(live, "MOST_RUNS", 0)
    app.button(key="start").click().run()
    assert not app.exception and "try again in a minute" in texts(app)
    assert len(app.session_state["learn-runs"]) == 1
    assert not first.state().over and not first.state().pending, "it was not asked to stop"
    monkeypatch.setattr(live, "MOST_RUNS", 1)
    app.button(key="start").click().run()
    assert not app.exception and "try again in a minute" not in texts(app)
    assert len(app.session_state["learn-runs"]) == 2
    until(app, lambda _: first.state().phase == "stopped")


def test_an_experiment_takes_the_seed_out_of_the_link() -> None:
    app = open_app("learn", seed="7")
    assert app.number_input(key="seed").value == 7
    app.number_input(key="seed").set_value(9).run()
    assert app.query_params["seed"] == "9"
    app.button(key=f"try-{EXPERIMENTS[0].name}").click().run()
    assert not app.exception
    assert app.number_input(key="seed").value == PROPOSED.seed and "seed" not in app.query_params


@pytest.mark.parametrize(
    ("speed", "told"), [(0.043, "0.043"), (0.4, "0.4"), (1.0, "1.0"), (3.14, "3.1"), (9.97, "10"), (73.6, "74")]
)
def test_a_slow_training_is_not_said_to_stand_still(speed: float, told: str) -> None:
    state = live.LiveState("training", 1, 100, 1 / speed, ())
    assert learn_panel._told(state).startswith(f"{told} steps a second: about {99 / speed:.0f} s to go")


def test_one_training_is_one_training() -> None:
    (chart, *_) = [chart for chart in open_app("learn").get("plotly_chart") if "diagonal of its" in str(chart.proto)]
    assert "1 training. " in str(chart.proto)
