"""What a training left of its example, read from a checkpoint folder."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from model_core.building import make_model
from model_core.checkpoint import Checkpoint
from model_core.config import DecodingConfig
from model_core.trace import TraceError, TranslationTrace
from model_core.training.copy_task import COPY_MODEL, copy_tokenizer
from model_core.training.moments import Moments
from model_core.training.snapshots import EXAMPLE, shipped_snapshots, take_snapshot
from model_core.translator import Translator


def test_the_shipped_moments_are_as_the_checkpoint_tells(copy_folder: Path) -> None:
    told = json.loads((copy_folder / "metrics.json").read_text())["moments"]["steps"]
    found = shipped_snapshots(copy_folder)
    assert [kept.step for kept in found] == [moment["step"] for moment in told]
    for kept, moment in zip(found, told, strict=True):
        assert kept.right == moment["right"] and len(kept.predicted) == moment["tokens"]
        assert kept.diagonal().largest == pytest.approx(moment["diagonal"])
        assert kept.log_probability == pytest.approx(moment["log_probability"], abs=1e-6)
        assert kept.exact is None
        trace = TranslationTrace.load(copy_folder / moment["file"])
        np.testing.assert_array_equal(kept.cross.weights, trace.cross.weights)


def test_losses_come_from_the_log_where_it_has_them(copy_folder: Path, tmp_path: Path) -> None:
    losses = {kept.step: kept.loss for kept in shipped_snapshots(copy_folder)}
    assert losses[0] is None and losses[75] is None
    assert losses[50] == 3.5426 and losses[200] == 0.1473
    shutil.copy(copy_folder / "moment-00050.safetensors", tmp_path)
    assert [(kept.step, kept.loss) for kept in shipped_snapshots(tmp_path)] == [(50, None)]
    (tmp_path / "log.csv").write_text("step,loss\n50,oops\nx,1\n")
    assert shipped_snapshots(tmp_path)[0].loss is None


def test_a_folder_without_moments_and_a_damaged_one_are_named(copy_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=f"no moment-.* in {tmp_path.name}"):
        shipped_snapshots(tmp_path)
    data = bytearray((copy_folder / "moment-00050.safetensors").read_bytes())
    data[-5] ^= 1
    (tmp_path / "moment-00050.safetensors").write_bytes(data)
    with pytest.raises(TraceError, match="moment-00050"):
        shipped_snapshots(tmp_path)


def test_what_the_log_says_in_no_finite_number_is_left_out(copy_folder: Path, tmp_path: Path) -> None:
    for step in ("00025", "00050", "00075"):
        shutil.copy(copy_folder / f"moment-{step}.safetensors", tmp_path)
    (tmp_path / "log.csv").write_text("step,loss\n25,nan\n50,1e999\n75,0.25\n")
    assert [kept.loss for kept in shipped_snapshots(tmp_path)] == [None, None, 0.25]


def test_a_log_that_is_no_table_is_named(copy_folder: Path, tmp_path: Path) -> None:
    shutil.copy(copy_folder / "moment-00050.safetensors", tmp_path)
    (tmp_path / "log.csv").write_text(f"step,loss\n50,{'9' * 200_000}\n")
    with pytest.raises(TraceError, match=r"log\.csv can't be read as the log of a training .*: get the folder again"):
        shipped_snapshots(tmp_path)


def test_a_moment_without_alternatives_is_named(tmp_path: Path) -> None:
    model = make_model(replace(COPY_MODEL, layers=1, d_model=16, d_ff=20), seed=1).eval()
    translator = Translator(Checkpoint("copy", "copy@test", model, copy_tokenizer(), {}, {}))
    trace = translator.trace(EXAMPLE, target=EXAMPLE, decoding=DecodingConfig(alternatives=0))
    trace.save(tmp_path / "moment-00012.safetensors")
    for read in (shipped_snapshots, lambda folder: Moments(folder, copy_tokenizer(), 12).kept(12)):
        with pytest.raises(TraceError, match=r"moment-00012\.safetensors .* Step 1 of 8 has no alternatives"):
            read(tmp_path)


@pytest.mark.parametrize("training", [True, False])
def test_a_look_at_a_model_leaves_its_mode_as_it_was(training: bool) -> None:
    model = make_model(replace(COPY_MODEL, layers=1, d_model=16, d_ff=20), seed=1).train(training)
    taken = take_snapshot(model, copy_tokenizer(), 7)
    assert model.training == training and taken.step == 7
