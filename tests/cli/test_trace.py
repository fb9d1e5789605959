"""`trace`: a file with everything behind one translation."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from model_core.trace import TranslationTrace
from tests.cli.answer import Ask

TEXT = "How old are you?"


def test_a_trace_is_written_and_told(ask: Ask, folder: Path, tmp_path: Path) -> None:
    found = ask("trace", "--checkpoint", folder, TEXT, "-o", tmp_path / "a.safetensors")
    trace = TranslationTrace.load(tmp_path / "a.safetensors")
    assert (trace.source_text, trace.strategy) == (TEXT, "greedy")
    assert found.code == 0 and found.out.startswith(f"{TEXT} → {trace.target_text}\n")
    ask("trace", "--checkpoint", folder, TEXT, "--target", "Quel âge ?", "-o", tmp_path / "b.safetensors")
    trace = TranslationTrace.load(tmp_path / "b.safetensors")
    assert (trace.target_text, trace.strategy) == ("Quel âge ?", "forced")
    assert len(trace.decoding[0].alternatives) == 5
    ask("trace", "--checkpoint", folder, TEXT, "--beam", 3, "-o", tmp_path / "c.safetensors")
    assert len(TranslationTrace.load(tmp_path / "c.safetensors").decoding[0].hypotheses) > 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([""], "The sentence is empty"),
        ([TEXT, "--target", ""], "The translation is empty"),
        ([TEXT, "--target", "you? " * 100], "The translation has"),
        (["you? " * 100], "at most 128"),
    ],
)
def test_a_trace_of_nothing_or_too_much(
    ask: Ask, folder: Path, tmp_path: Path, arguments: Sequence[str], told: str
) -> None:
    ask("trace", "--checkpoint", folder, *arguments, "-o", tmp_path / "x").one_sentence(told)
    assert not (tmp_path / "x").exists()


def test_a_trace_that_cannot_be_written(ask: Ask, folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "no" / "x"
    ask("trace", "--checkpoint", folder, TEXT, "-o", place).one_sentence(str(place))
    ask("trace", "--checkpoint", folder, TEXT).one_sentence("-o")
