"""`translate --begin`: every translation begins as a person wants it, or a sentence says why it can't."""

import json
from pathlib import Path

import pytest

from model_core.config import DecodingConfig
from model_core.translator import Translator
from tests.cli.answer import Ask

TEXT, BEGIN = "How old are you?", "Quel âge"


@pytest.mark.parametrize("beam", [1, 3])
def test_a_translation_goes_on_from_its_beginning(ask: Ask, folder: Path, beam: int) -> None:
    translator = Translator.load(folder)
    ids = translator.tokenizer.encode(BEGIN)
    found = ask("translate", "--checkpoint", folder, "--beam", beam, "--begin", BEGIN, "--json", TEXT)
    decoding = DecodingConfig("beam", beam_width=beam, n_best=beam) if beam > 1 else DecodingConfig()
    wanted = translator.translate(TEXT, decoding, prefix=ids)
    told = json.loads(found.out)
    assert found.code == 0
    assert told["translation"] == wanted.text and told["log_probability"] == pytest.approx(wanted.best.log_probability)
    for one, decoded in zip(told["n_best"], wanted.n_best, strict=True):
        assert one["pieces"][: len(ids)] == [translator.tokenizer.piece(id_) for id_ in ids]
        assert one["translation"] == translator.tokenizer.decode(decoded.ids)
    assert wanted.text != translator.translate(TEXT, decoding).text


@pytest.mark.parametrize(
    ("begin", "message"),
    [("", "The beginning is empty"), ("you? " * 100, "The beginning has"), ("a " * 60, "force no more than")],
)
def test_an_impossible_beginning_is_told(ask: Ask, folder: Path, begin: str, message: str) -> None:
    found = ask("translate", "--checkpoint", folder, "--begin", begin, TEXT)
    assert found.code == 2 and message in found.err and "Traceback" not in found.err
