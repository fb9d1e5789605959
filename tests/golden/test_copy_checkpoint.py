"""The copy checkpoint that ships: perfect, diagonal, and with the moments of how it became so."""

from pathlib import Path

import pytest

from model_core.checkpoint import Checkpoint, load_checkpoint, read_config, read_file
from model_core.trace import TranslationTrace
from model_core.training.copy_task import COPY_MODEL, CopyTask
from model_core.training.diagonal import cross_attention
from model_core.translator import Translator


@pytest.fixture(scope="module")
def checkpoint(copy_folder: Path) -> Checkpoint:
    return load_checkpoint(copy_folder)


@pytest.fixture(scope="module")
def task(checkpoint: Checkpoint) -> CopyTask:
    return CopyTask(checkpoint.tokenizer, checkpoint.training["config"]["seed"])


def test_it_copies_every_held_out_sequence(checkpoint: Checkpoint, task: CopyTask) -> None:
    assert checkpoint.model.config == COPY_MODEL
    assert len(task.held_out) == 1000
    assert task.exact_share(checkpoint.model) == 1.0 == checkpoint.metrics["exact_share"]


@pytest.mark.parametrize("text", ["b a d c a f e", "a a a a", "p o n m l k j i h g", "c b a"])
def test_it_copies_these(checkpoint: Checkpoint, text: str) -> None:
    assert Translator(checkpoint).translate(text).text == text


def test_its_last_layer_looks_at_the_letter_that_it_writes(checkpoint: Checkpoint, task: CopyTask) -> None:
    found = cross_attention(checkpoint.model, task.held_out)
    assert found.means[-1].weight > 0.85 and found.means[-1].largest > 0.99
    best = checkpoint.metrics["cross_attention"]["best"]
    assert best["weight"] == pytest.approx(found.heads[best["layer"] - 1][best["head"] - 1].weight, abs=1e-4)


def test_its_moments_show_a_diagonal_that_comes_up(copy_folder: Path, checkpoint: Checkpoint) -> None:
    told = checkpoint.metrics["moments"]["steps"]
    assert 10 <= len(told) <= 14
    for file in checkpoint.training["moments"]["files"]:
        read_file(copy_folder, file, read_config(copy_folder))
    traces = [TranslationTrace.load(copy_folder / moment["file"]) for moment in told]
    assert traces[0].log_probability < -8 and traces[-1].log_probability > -0.1
    first, last = (trace.cross.map(trace.cross.layers - 1) for trace in (traces[0], traces[-1]))
    assert [int(row.argmax()) for row in last] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [int(row.argmax()) for row in first] != [1, 2, 3, 4, 5, 6, 7, 8]
