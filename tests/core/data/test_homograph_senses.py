"""Which senses of a homograph a French text shows."""

from __future__ import annotations

import pytest

from model_core.data.homographs import HOMOGRAPHS, SENSES, read_homographs, read_senses, senses_shown, shows_sense

FORMS = {"bank": {"river": ("rive", "rives"), "money": ("banque", "banques")}}


@pytest.mark.parametrize(
    ("french", "shown"),
    [
        ("La rive est loin.", ["river"]),
        ("Deux Banques", ["money"]),
        ("La banque est sur la rive.", ["river", "money"]),
        ("à la dérive", []),
        ("", []),
    ],
)
def test_senses_shown(french: str, shown: list[str]) -> None:
    assert senses_shown(french, "bank", FORMS) == shown
    assert shows_sense(french, "bank", "river", FORMS) is (shown == ["river"])


def test_a_word_that_the_set_does_not_have_shows_nothing() -> None:
    assert senses_shown("la rive", "sea", FORMS) == []


def test_the_tables_ship_and_agree() -> None:
    assert HOMOGRAPHS.is_file() and SENSES.is_file()
    assert {homograph.word for homograph in read_homographs()} == set(read_senses())
