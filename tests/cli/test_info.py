"""`info`: what a checkpoint is, every file of it checked."""

from pathlib import Path

import pytest

from model_core.checkpoint import load_checkpoint, update_checkpoint
from tests.cli.answer import Ask
from tests.small_checkpoint import save_small


def test_info_tells_settings_parameters_metrics_and_files(ask: Ask, folder: Path) -> None:
    found = ask("info", folder)
    checkpoint = load_checkpoint(folder)
    assert found.code == 0 and found.out.startswith(f"{checkpoint.id}\n")
    lines = [line.split() for line in found.out.splitlines()]
    assert ["d_ff", "28"] in lines and ["norm", "pre"] in lines and ["bleu", "1.5"] in lines
    counts = {line[0]: int(line[-1].replace(",", "")) for line in lines if line and line[0] in PARTS}
    assert counts["generator"] == 311 and counts["source"] == 311 * 20
    assert sum(counts.values()) == checkpoint.model.parameter_count()
    assert f"{checkpoint.model.parameter_count():,}, shared by source, target and output" in found.out
    for file in ("model.safetensors", "tokenizer.model", "metrics.json", "README.md"):
        size = (folder / file).stat().st_size
        assert any(line[:3] == [file, f"{size:,}", "bytes"] and len(line[3]) == 64 for line in lines if line)


PARTS = ("source", "encoder", "decoder", "generator")


def test_info_checks_every_file_that_is_listed(ask: Ask, tmp_path: Path) -> None:
    mine = save_small(tmp_path / "mine")
    (mine / "log.csv").write_bytes(b"step\n")
    update_checkpoint(mine, extra_files=("log.csv",))
    assert "log.csv" in ask("info", mine).out
    (mine / "log.csv").write_bytes(b"step\n1\n")
    ask("info", mine).one_sentence(str(mine / "log.csv"))


def test_info_tells_the_purpose_of_a_shipped_checkpoint_by_default(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = ask("info")
    assert found.code == 0 and found.out.startswith("en-fr@")
    for row in ("task             translate", "source language  English (en)", "target language  French (fr)"):
        assert f"  {row}\n" in found.out
    assert found.out.count("  example          ") == 5 and "  example          How are you?\n" in found.out
    copy = ask("info", "copy").out
    assert "  task     copy\n" in copy and "language" not in copy


def test_a_shape_is_sized_without_a_checkpoint(ask: Ask) -> None:
    answer = ask("info", "--shape", "src=32000,tgt=32000,N=6,d_model=512,d_ff=2048,h=8")
    assert "as it is         93,322,496  373.3 MB" in answer.out
    ask("info", "--shape", "src=32000,h=7").one_sentence("d_model 512 does not split evenly over 7 heads")
