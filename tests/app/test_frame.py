"""What every page has, without a browser: the checkpoint's choice, the sentence, and what is said when it fails."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.opened import open_app, texts
from tests.examples import HOSTILE_TEXTS
from viz.navigation import ENTRIES, Entry

WITH_SENTENCE = [entry for entry in ENTRIES if entry.name in ("attend", "decode", "masks", "positions", "inside")]


def run(entry: Entry, **query: str) -> AppTest:
    return open_app(entry.name, **query)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_each_page_opens_with_its_title_and_one_sentence(entry: Entry) -> None:
    app = run(entry)
    assert not app.exception
    assert [title.value for title in app.title] == ["Regard" if entry is ENTRIES[0] else entry.title]
    assert app.markdown[0].value.rstrip().endswith((".", "?", "!"))


@pytest.mark.parametrize("entry", WITH_SENTENCE, ids=lambda entry: entry.name)
@pytest.mark.parametrize("text", ["", " \n ", HOSTILE_TEXTS["markup"][0], "word " * 200])
def test_each_page_answers_any_sentence_with_a_sentence(entry: Entry, text: str) -> None:
    app = run(entry, text=text)
    assert not app.exception
    if not text.strip():
        assert (app.text_input(key="text").value or "").strip() or "Type a sentence" in texts(app)
    if len(text) > 500:
        assert "128" in texts(app)  # how many pieces are allowed


@pytest.mark.parametrize("entry", WITH_SENTENCE, ids=lambda entry: entry.name)
def test_each_page_serves_the_copy_checkpoint_or_says_why_not(entry: Entry) -> None:
    app = run(entry, checkpoint="copy", letters="a b c")
    assert not app.exception
    assert app.text_input(key="letters").value == "a b c"


def test_an_unknown_checkpoint_is_named_and_another_one_taken() -> None:
    app = run(ENTRIES[0], checkpoint="../secret")
    assert not app.exception
    assert "There is no checkpoint ../secret" in texts(app)
    assert "checkpoint" not in app.query_params


def test_each_page_opens_with_its_own_example_until_a_sentence_is_chosen_which_then_comes_along() -> None:
    masks, positions = (next(entry for entry in ENTRIES if entry.title == title) for title in ("Masks", "Positions"))
    app = run(masks, checkpoint="copy")
    app.switch_page(positions.script).run()
    assert not app.exception
    assert app.text_input(key="letters").value == "a b c d e f g" and "letters" not in app.query_params
    app.text_input(key="letters").set_value("c b a").run()
    app.switch_page(masks.script).run()
    assert app.text_input(key="letters").value == "c b a" == app.query_params["letters"]
    next(button for button in app.button if button.label == "d c b a").click().run()
    assert app.text_input(key="letters").value == "d c b a" == app.query_params["letters"]
