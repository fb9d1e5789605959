"""What pages call sentences and languages comes from the checkpoint, whatever its folder is called."""

from __future__ import annotations

import pytest

from model_core.checkpoint import CheckpointAbout, Language
from viz.languages import (
    by_direction,
    direction,
    examples_of,
    language_pair,
    own_target_label,
    reads_english,
    sentence_label,
    target_words,
    writes_french,
)

COPY = CheckpointAbout(task="copy", examples=("a b c d",))
EN_FR = CheckpointAbout(
    source_language=Language("en", "English"), target_language=Language("fr", "French"), examples=("How are you?",)
)
DE_ZH = CheckpointAbout(source_language=Language("de", "German"), target_language=Language("zh", "Chinese"))
UNNAMED = CheckpointAbout()


@pytest.mark.parametrize(
    ("about", "name", "sentence", "own", "pair"),
    [
        (COPY, "copy", "Letters to copy: a to p, with blanks between", "Your own copy of the letters", None),
        (EN_FR, "en-fr", "English sentence", "Your own French", "English–French"),
        (DE_ZH, "de-zh", "German sentence", "Your own Chinese", "German–Chinese"),
        (UNNAMED, "translate", "Sentence", "Your own translation", "the model that translates"),
    ],
)
def test_labels_name_the_languages(
    about: CheckpointAbout, name: str, sentence: str, own: str, pair: str | None
) -> None:
    assert (direction(about), sentence_label(about), own_target_label(about)) == (name, sentence, own)
    assert pair is None or language_pair(about) == pair
    assert target_words(about) == {"en-fr": "French ", "de-zh": "Chinese "}.get(name, "")


def test_a_page_may_have_its_own_examples_for_a_direction() -> None:
    own = {"copy": ("c a b",), "en-fr": ("The cat sleeps.",)}
    assert examples_of(EN_FR) == ("How are you?",) and examples_of(EN_FR, own) == ("The cat sleeps.",)
    assert examples_of(COPY, {}) == ("a b c d",) and examples_of(DE_ZH, own) == ()
    assert by_direction({"en-fr": "No."}, DE_ZH, "") == ""


def test_the_english_words_with_french_forms_are_for_models_of_these_languages() -> None:
    assert [reads_english(about) for about in (COPY, EN_FR, DE_ZH, UNNAMED)] == [False, True, False, True]
    assert [writes_french(about) for about in (COPY, EN_FR, DE_ZH, UNNAMED)] == [False, True, False, True]
