"""Two processes on this machine (gloo) train as one process on the same global batches does."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from model_core.training.distributed import Workers, join_workers
from tests.training import distributed_worker
from tests.training.small_task import SmallTask

VALIDATION_LOSSES = [2.0, 1.0, 1.5, 1.25, 0.5]  # every 4 steps; a patience of 2 ends after the fourth


def train_in_two(repository: Path, folder: Path, validation_losses: list[float], *stop_at: str) -> list[dict[str, Any]]:
    """What each of two processes saw."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command += ["-m", "tests.training.distributed_worker", str(folder), json.dumps(validation_losses), *stop_at]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads((folder / f"seen-{rank}.json").read_text(encoding="utf-8")) for rank in range(2)]


def train_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    folder.mkdir()
    distributed_worker.main(folder, VALIDATION_LOSSES)
    return json.loads((folder / "seen-0.json").read_text(encoding="utf-8"))


def test_two_processes_lose_what_one_does_and_stop_together(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run in two processes, stopped at step 6 and taken up again, beside one process that was never stopped."""
    alone = train_alone(tmp_path / "alone", monkeypatch)
    assert (alone["world"], alone["step"], alone["best"], alone["validated"]) == (1, 16, 8, 4)
    folder = tmp_path / "two"
    folder.mkdir()
    stopped = train_in_two(repository, folder, VALIDATION_LOSSES[:1], "6")
    assert [seen["step"] for seen in stopped] == [6, 6]
    first, second = train_in_two(repository, folder, VALIDATION_LOSSES[1:])
    assert (first["world"], first["step"], second["step"]) == (2, 16, 16)
    for before, after in zip(stopped, (first, second), strict=True):
        assert before["losses"] + after["losses"] == pytest.approx(alone["losses"], rel=1e-5)
        assert len(before["losses"]) == 6
    assert first["losses"] == second["losses"]
    assert first["sums"] == second["sums"]
    assert [seen["improved"] for seen in (*stopped, first, second)] == [[4], [], [8], []]
    assert [seen["validated"] for seen in (*stopped, first, second)] == [1, 0, 3, 0]
    assert (first["best"], second["best"]) == (alone["best"], alone["best"])
    for joined, left in (seen["gloo"] for seen in (*stopped, first, second)):
        assert joined and not left, "a thread that outlives its group can abort the process as it exits"


def test_alone_nobody_is_asked() -> None:
    workers = Workers()
    assert workers.first and workers.any(True) and not workers.any(False)
    assert workers.from_first(1.5) == 1.5
    assert float(workers.sum(torch.tensor(3.0))) == 3.0
    gradient = torch.nn.Parameter(torch.zeros(3))
    workers.sum_gradients([gradient])
    assert gradient.grad is None
    workers.wait()


def test_without_torchrun_there_is_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert (join_workers().rank, join_workers().world) == (0, 1)


def test_a_batch_of_one_row_leaves_a_process_without_work() -> None:
    """The case is really in the run above."""
    task = distributed_worker.OneRowTask()
    rows = [make().source.shape[0] for make in task.epoch(0)]
    assert rows[1] == 1 and min(rows[0], rows[2]) >= 5
    assert [make().source.shape[0] for make in SmallTask().epoch(0)][1] >= 5
