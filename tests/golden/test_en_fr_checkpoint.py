"""What the shipped English-French checkpoint says, in wordings that a French teacher would accept."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_core.translator import Translator
from tests.examples import PAGE_SEARCH

CHECKPOINT = Path(__file__).parent.parent.parent / "checkpoints" / "en-fr"

GOLDEN: dict[str, tuple[str, ...]] = {
    "How are you?": ("Comment allez-vous ?", "Comment vas-tu ?", "Comment ça va ?", "Ça va ?"),
    "I don't speak French.": ("Je ne parle pas français.", "Je ne parle pas le français."),
    "I do not speak French.": ("Je ne parle pas français.", "Je ne parle pas le français."),
    "Where is the station?": ("Où est la gare ?", "Où se trouve la gare ?"),
    "She opened the window and looked at the rain.": (
        "Elle ouvrit la fenêtre et regarda la pluie.",
        "Elle a ouvert la fenêtre et a regardé la pluie.",
        "Elle a ouvert la fenêtre et regardé la pluie.",
    ),
    "If I had known, I would have come earlier.": (
        "Si j'avais su, je serais venu plus tôt.",
        "Si j'avais su, je serais venue plus tôt.",
    ),
    "The children are playing in the park with their new ball.": (
        "Les enfants jouent dans le parc avec leur nouvelle balle.",
        "Les enfants jouent dans le parc avec leur nouveau ballon.",
        "Les enfants jouent au parc avec leur nouvelle balle.",
        "Les enfants jouent au parc avec leur nouveau ballon.",
    ),
    "I went fishing by the river yesterday, remaining near the bank the whole afternoon.": (
        "Je suis allé pêcher au bord de la rivière hier, en restant près de la rive toute l'après-midi.",
        "Je suis allé pêcher au bord de la rivière hier, en restant près de la rive tout l'après-midi.",
        "Je suis allé pêcher au bord de la rivière hier, restant près de la rive toute l'après-midi.",
        "Je suis allé pêcher au bord de la rivière hier, restant près de la rive tout l'après-midi.",
    ),
    "Kate went to the bank after work yesterday and deposited a check there.": (
        "Kate est allée à la banque après le travail hier et y a déposé un chèque.",
        "Kate est allée à la banque après le travail, hier, et y a déposé un chèque.",
    ),
    "The animal didn't cross the street because it was too tired.": (
        "L'animal n'a pas traversé la rue parce qu'il était trop fatigué.",
    ),
    "Why is the river so rich? Because it has two banks.": (
        "Pourquoi la rivière est-elle si riche ? Parce qu'elle a deux rives.",
    ),
    "I am hungry.": ("J'ai faim.",),
    "It is raining.": ("Il pleut.",),
    "My brother is taller than me.": ("Mon frère est plus grand que moi.",),
    "He lives in Tokyo.": ("Il habite à Tokyo.", "Il vit à Tokyo."),
    "Thank you very much.": ("Merci beaucoup.", "Merci beaucoup !"),
}


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(CHECKPOINT)


@pytest.mark.parametrize("english", GOLDEN)
def test_a_translation_is_right(translator: Translator, english: str) -> None:
    assert translator.translate(english, PAGE_SEARCH).text in GOLDEN[english]


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("She put her money in the bank.", "banque"),
        ("We sat on the bank of the river.", "rive"),
    ],
)
def test_the_two_banks_are_told_apart(translator: Translator, english: str, french: str) -> None:
    assert french in translator.translate(english, PAGE_SEARCH).text


def test_how_are_you_is_six_rows_of_256(translator: Translator) -> None:
    trace = translator.trace("How are you?")
    assert [token.text for token in trace.source_tokens] == ["<s>", "How", "are", "you", "?", "</s>"]
    assert trace.encoder_states.shape == (7, 6, 256)
