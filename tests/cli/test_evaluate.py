"""`evaluate`: what it prints is what was measured, and stands in metrics.json on request."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from model_core.checkpoint import load_checkpoint
from model_core.cli import training_commands
from model_core.config import DecodingConfig
from model_core.training.evaluation import score
from tests.cli.answer import Ask
from tests.small_checkpoint import SENTENCES, save_small


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "test.tsv"
    lines = [f"{SENTENCES[i]}\t{SENTENCES[i + 4]}\tx" for i in range(3)]
    path.write_text("\n".join([*lines, f"{SENTENCES[0]}\tComment ça va ?"]) + "\n", encoding="utf-8")
    return path


def test_evaluate_prints_and_saves_what_it_measured(
    ask: Ask, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def translate_all(
        model: Any, tokenizer: Any, sentences: Sequence[str], decoding: DecodingConfig, **tokenizers: Any
    ) -> list[str]:
        seen.append((sentences, decoding))
        return translations

    monkeypatch.setattr(training_commands, "translate_all", translate_all)
    translations = ["Comment ça va ?", "Quel âge as-tu ?", "Je ne parle pas bien français."]
    several = score(translations, [[SENTENCES[4], "Comment ça va ?"], SENTENCES[5:6], SENTENCES[6:7]])
    single = score(translations, [SENTENCES[4:5], SENTENCES[5:6], SENTENCES[6:7]])
    assert several.bleu > single.bleu > 0.0 and several.chrf > single.chrf > 0.0
    mine = save_small(tmp_path / "mine")
    found = ask("evaluate", mine, "--corpus", corpus, "--beam", 3, "--save")
    assert seen == [(SENTENCES[:3], DecodingConfig(strategy="beam", beam_width=3, alternatives=0))]
    assert found.code == 0
    assert found.out.startswith("test.tsv: 3 sentences, 4 references, beam 3\n")
    for scores in (several, single):
        assert f"BLEU {scores.bleu:6.2f}  {scores.bleu_signature}\n" in found.out
        assert f"chrF {scores.chrf:6.2f}  {scores.chrf_signature}\n" in found.out
    metrics = load_checkpoint(mine).metrics
    told = metrics["evaluation"]
    assert (told["corpus"], told["beam"], told["sentences"], told["references"]) == ("test.tsv", 3, 3, 4)
    assert told["all_references"]["chrf"] == round(several.chrf, 2)
    assert told["first_reference"]["bleu"] == round(single.bleu, 2)
    assert metrics["bleu"] == 1.5, "what was measured before stays"


def test_evaluate_without_save_changes_nothing(ask: Ask, folder: Path, corpus: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    found = ask("evaluate", folder, "--corpus", corpus, "--limit", 2)
    assert found.out.startswith("test.tsv: 2 sentences, 3 references, greedy\n")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_evaluate_tells_senses_by_word(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def translate_all(model: Any, tokenizer: Any, sentences: Sequence[str]) -> list[str]:
        return [f"{held_out[sentence]} rive" for sentence in sentences]  # the right sentence, and the river

    held_out = {h.source: h.target for h in training_commands.homograph_split("test")}
    monkeypatch.setattr(training_commands, "translate_all", translate_all)
    mine = save_small(tmp_path / "mine")
    found = ask("evaluate", mine, "--homographs", "--save")
    words = load_checkpoint(mine).metrics["homographs"]["words"]
    by_sense = [h for h in training_commands.homograph_split("test") if h.word == "bank"]
    rivers = sum(h.sense == "river" for h in by_sense)
    assert words["bank"] == {"right": rivers, "sentences": len(by_sense)}
    others = len(held_out) - len(by_sense)
    assert f"the right sense in {others + rivers} of {len(held_out)} " in found.out
    assert f"  bank        {rivers:>3} of {len(by_sense):>3}\n" in found.out
    assert load_checkpoint(mine).metrics["homographs"]["decoding"] == "greedy"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "give --corpus FILE"),
        (["--corpus", "nowhere.tsv"], "nowhere.tsv"),
        (["--homographs", "--limit", "0"], "--limit has to be 1 or more"),
        (["--corpus", "nowhere.tsv", "--beam", "0"], "beam_width"),
    ],
)
def test_evaluations_that_cannot_be(ask: Ask, folder: Path, options: Sequence[str], told: str) -> None:
    ask("evaluate", folder, *options).one_sentence(told)
