"""`translate`: a line in, a line out, and a sentence for each one that could not be translated."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from model_core.checkpoint.shipped import find_checkpoint
from model_core.cli.parser import make_parser
from model_core.config import DecodingConfig
from model_core.translator import Translator
from tests.cli.answer import Ask
from tests.small_checkpoint import SENTENCES

TEXT = "How old are you?"
TRICKY = ['<b>bold</b> & "q"', "$x^2$", "![a](http://127.0.0.1:1/x.png)", "שלום", "你好", "a\tb", "🙂" * 7]


def test_each_text_is_translated_to_one_line(ask: Ask, folder: Path) -> None:
    translator = Translator.load(folder)
    found = ask("translate", "--checkpoint", folder, *SENTENCES)
    assert found.out.splitlines() == [translator.translate(text).text for text in SENTENCES]
    assert found.code == 0
    beam = ask("translate", "--checkpoint", folder, "--beam", 3, *SENTENCES)
    decoding = DecodingConfig(strategy="beam", beam_width=3)
    assert beam.out.splitlines() == [translator.translate(text, decoding).text for text in SENTENCES]
    assert beam.out != found.out


def test_lines_of_standard_input_are_sentences(ask: Ask, folder: Path) -> None:
    wanted = ask("translate", "--checkpoint", folder, *SENTENCES).out
    given = "\r\n".join(SENTENCES).encode()
    assert ask("translate", "--checkpoint", folder, given=given).out == wanted


def test_a_bad_line_leaves_its_place_empty_and_the_others_are_translated(ask: Ask, folder: Path) -> None:
    given = b"\n".join([TEXT.encode(), b"", b"you? " * 100, b"caf\xe9", b" \t", b"How\x00 old\x1b are you?"])
    found = ask("translate", "--checkpoint", folder, given=given + b"\n")
    text = Translator.load(folder).translate(TEXT).text
    assert found.out.split("\n") == [text, "", "", "", "", text, ""]
    assert found.code == 2
    too_long, not_utf8, removed = [line for line in found.err.splitlines() if "cut off" not in line]
    assert too_long.startswith("Line 3: The sentence has") and "at most 128" in too_long
    assert not_utf8 == "Line 4: Byte 4 is not UTF-8; convert the text."
    assert removed == "Line 6: 2 control or invisible characters were removed."


def test_blank_lines_alone_are_no_mistake(ask: Ask, folder: Path) -> None:
    found = ask("translate", "--checkpoint", folder, given=b"\n\n")
    assert (found.code, found.out, found.err) == (0, "\n\n", "")


def test_a_translation_that_was_cut_off_is_told(ask: Ask, folder: Path) -> None:
    translator = Translator.load(folder)
    cut = [text for text in SENTENCES if not translator.translate(text).best.finished]
    assert cut, "the small model should not end all of its sentences"
    found = ask("translate", "--checkpoint", folder, cut[0])
    pieces = len(translator.translate(cut[0]).best.ids)
    assert found.err == f"The translation was cut off after {pieces} pieces, the most that are allowed.\n"
    assert found.code == 0


@pytest.mark.parametrize("text", ["", "  ", "\x00"])
def test_an_empty_text_gets_a_sentence(ask: Ask, folder: Path, text: str) -> None:
    found = ask("translate", "--checkpoint", folder, text)
    assert (found.code, found.out, found.err) == (2, "\n", "The sentence is empty: type a few words.\n")


def test_of_several_texts_the_bad_one_is_numbered(ask: Ask, folder: Path) -> None:
    found = ask("translate", "--checkpoint", folder, TEXT, "")
    assert found.out.endswith("\n\n") and "Text 2: The sentence is empty" in found.err


def test_nothing_at_all_gets_a_sentence(ask: Ask, folder: Path) -> None:
    ask("translate", "--checkpoint", folder).one_sentence("nothing to translate")


def test_ten_thousand_characters_and_a_million_get_a_sentence(ask: Ask, folder: Path) -> None:
    for text, told in (("How are you? " * 800, "pieces; at most 128"), ("a" * 10**6, "1,000,000 characters")):
        found = ask("translate", "--checkpoint", folder, text)
        assert found.code == 2 and told in found.err and found.err.count("\n") == 1 and found.out == "\n"


@pytest.mark.parametrize("text", TRICKY)
def test_what_people_paste_is_data(ask: Ask, folder: Path, text: str) -> None:
    told = json.loads(ask("translate", "--checkpoint", folder, "--json", text).out)
    assert told["source"] == text.replace("\t", " ")
    assert told["translation"] == Translator.load(folder).translate(text).text


def test_json_has_pieces_scores_and_the_n_best(ask: Ask, folder: Path) -> None:
    translator, decoding = Translator.load(folder), DecodingConfig(strategy="beam", beam_width=3, n_best=3)
    told = json.loads(ask("translate", "--checkpoint", folder, "--json", "--beam", 3, TEXT).out)
    wanted = translator.translate(TEXT, decoding)
    tokenizer = translator.tokenizer
    assert told["checkpoint"] == translator.checkpoint.id
    assert told["source_pieces"] == ["<s>", *map(tokenizer.piece, tokenizer.encode(TEXT)), "</s>"]
    assert len(told["n_best"]) == 3
    for entry, found in zip(told["n_best"], wanted.n_best, strict=True):
        assert entry["pieces"] == [tokenizer.piece(id_) for id_ in found.ids]
        assert entry["translation"] == tokenizer.decode(found.ids)
        assert (entry["score"], entry["finished"]) == (found.score, found.finished)
        assert sum(entry["log_probabilities"]) == pytest.approx(entry["log_probability"])
        assert {key: told[key] for key in entry} == told["n_best"][0]


def test_json_has_one_object_a_line_whatever_the_line_is(ask: Ask, folder: Path) -> None:
    given = b"How are you?\n\n" + b"you? " * 100 + b"\n"
    found = ask("translate", "--checkpoint", folder, "--json", given=given)
    whole, blank, bad = [json.loads(line) for line in found.out.splitlines()]
    assert whole["source"] == "How are you?" and len(whole["n_best"]) == 1
    assert blank == {"source": "", "translation": "", "n_best": []}
    assert list(bad) == ["error"] and bad["error"] in found.err and found.code == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--beam", "0"], "beam_width must be 1 to 64"),
        (["--beam", "65"], "beam_width must be 1 to 64"),
        (["--beam", "3", "--json", "--n-best", "4"], "n_best must be 1 to the beam width (3), not 4"),
        (["--json", "--n-best", "2"], "n_best must be 1 to the beam width (1), not 2"),
        (["--json", "--n-best", "0"], "n_best must be 1"),
        (["--n-best", "2", "--beam", "3"], "add --json"),
        (["--beam", "many"], "invalid int value: 'many'"),
        (["--width", "3"], "--width"),
    ],
)
def test_options_that_cannot_be(ask: Ask, folder: Path, options: Sequence[str], told: str) -> None:
    ask("translate", "--checkpoint", folder, *options, TEXT).one_sentence(told)


def test_a_checkpoint_that_is_none_is_named(ask: Ask, tmp_path: Path) -> None:
    for command in (["translate", TEXT], ["trace", TEXT, "-o", tmp_path / "x"]):
        ask(*command, "--checkpoint", tmp_path / "nowhere").one_sentence(str(tmp_path / "nowhere" / "config.json"))
    for command in ("info", "evaluate"):
        more = ["--homographs"] if command == "evaluate" else []
        ask(command, tmp_path / "nowhere", *more).one_sentence(str(tmp_path / "nowhere" / "config.json"))


def test_the_default_checkpoint_is_this_repositorys_wherever_one_stands(repository: Path) -> None:
    arguments = make_parser().parse_args(["translate", TEXT])
    assert find_checkpoint(arguments.checkpoint) == repository.resolve() / "checkpoints" / "en-fr"
    assert arguments.beam == 1


def test_a_checkpoint_that_ships_is_named(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "copy").mkdir()  # a folder that holds no checkpoint does not stand in for one that does
    monkeypatch.chdir(tmp_path)
    assert ask("translate", "--checkpoint", "copy", "b a d").out == "b a d\n"
    ask("translate", "--checkpoint", "paste", TEXT).one_sentence("paste", "copy, en-fr do")
