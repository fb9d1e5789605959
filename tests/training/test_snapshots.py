"""What a training left of its example, read from a checkpoint folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from model_core.trace import TraceError, TranslationTrace
from model_core.training.snapshots import shipped_snapshots


@pytest.fixture(scope="module")
def folder(repository: Path) -> Path:
    return repository / "checkpoints" / "copy"


def test_the_shipped_moments_are_as_the_checkpoint_tells(folder: Path) -> None:
    told = json.loads((folder / "metrics.json").read_text())["moments"]["steps"]
    found = shipped_snapshots(folder)
    assert [kept.step for kept in found] == [moment["step"] for moment in told]
    for kept, moment in zip(found, told, strict=True):
        assert kept.right == moment["right"] and len(kept.predicted) == moment["tokens"]
        assert kept.diagonal().largest == pytest.approx(moment["diagonal"])
        assert kept.log_probability == pytest.approx(moment["log_probability"], abs=1e-6)
        assert kept.exact is None
        trace = TranslationTrace.load(folder / moment["file"])
        np.testing.assert_array_equal(kept.cross.weights, trace.cross.weights)


def test_losses_come_from_the_log_where_it_has_them(folder: Path, tmp_path: Path) -> None:
    losses = {kept.step: kept.loss for kept in shipped_snapshots(folder)}
    assert losses[0] is None and losses[75] is None
    assert losses[50] == 3.5426 and losses[200] == 0.1473
    shutil.copy(folder / "moment-00050.safetensors", tmp_path)
    assert [(kept.step, kept.loss) for kept in shipped_snapshots(tmp_path)] == [(50, None)]
    (tmp_path / "log.csv").write_text("step,loss\n50,oops\nx,1\n")
    assert shipped_snapshots(tmp_path)[0].loss is None


def test_a_folder_without_moments_and_a_damaged_one_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=f"no moment-.* in {tmp_path.name}"):
        shipped_snapshots(tmp_path)
    data = bytearray((folder / "moment-00050.safetensors").read_bytes())
    data[-5] ^= 1
    (tmp_path / "moment-00050.safetensors").write_bytes(data)
    with pytest.raises(TraceError, match="moment-00050"):
        shipped_snapshots(tmp_path)
