"""The Attend page's script without a browser: what it computes, and what it says where something is wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from tests.app.opened import ROOT, open_app, texts
from viz import translators


@pytest.fixture(autouse=True)
def fresh_caches() -> Iterator[None]:
    """Each test loads what it finds, not what an earlier one loaded."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def test_a_sentence_gives_a_translation_and_a_heatmap() -> None:
    app = open_app(text="How are you?")
    assert not app.exception
    assert "Comment" in texts(app)
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert any(trace["type"] == "heatmap" for trace in figure["data"])


def test_the_story_of_bank_is_one_click_away_where_words_are_translated() -> None:
    def links(**query: str) -> list[str]:
        return [link.proto.label for link in open_app(**query).get("page_link")]

    assert any("bank" in label for label in links())
    assert not any("bank" in label for label in links(checkpoint="copy"))


def test_nothing_typed_is_asked_for_kindly() -> None:
    app = open_app(text="")
    assert not app.exception
    assert "Type a sentence" in texts(app)
    assert not app.get("plotly_chart")


def test_a_broken_checkpoint_is_named_and_the_other_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "checkpoints" / "copy", tmp_path / "copy", ignore=shutil.ignore_patterns("training"))
    shutil.copytree(tmp_path / "copy", tmp_path / "broken")
    weights = tmp_path / "broken" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    monkeypatch.setattr(translators, "CHECKPOINTS", tmp_path)
    app = open_app(checkpoint="broken")
    assert not app.exception
    assert "model.safetensors" in texts(app) and "can't be used" in texts(app)
    app = open_app(checkpoint="copy", letters="c a b")
    assert not app.exception
    assert app.get("plotly_chart"), texts(app)


def test_no_checkpoint_at_all_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translators, "CHECKPOINTS", tmp_path / "nowhere")
    app = open_app()
    assert not app.exception
    assert "no checkpoint" in texts(app)


def test_a_second_look_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_app(text="How are you?")
    calls: list[str] = []
    real = translators.Translator.translate

    def counted(self: translators.Translator, text: str, *args: object, **options: object) -> object:
        calls.append(text)
        return real(self, text, *args, **options)  # pyright: ignore[reportCallIssue, reportArgumentType]

    monkeypatch.setattr(translators.Translator, "translate", counted)
    app.run()
    app.text_input(key="text").set_value("I am cold.").run()
    app.text_input(key="text").set_value("How are you?").run()
    assert calls == ["I am cold."]
    assert not app.exception


def test_the_store_of_traces_is_bounded() -> None:
    store = translators.TraceStore(size=3)
    entries = {name: object() for name in "abcde"}
    for name, entry in entries.items():
        store.put((name,), entry)  # pyright: ignore[reportArgumentType]
        store.get(("a",))
    assert [name for name in "abcde" if store.get((name,)) is not None] == ["a", "d", "e"]
