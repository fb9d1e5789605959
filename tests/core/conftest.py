"""The small checkpoint of random weights: saved once for all tests that read it, anew for one that spoils it."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_core.checkpoint import Checkpoint
from model_core.translator import Translator
from tests.small_checkpoint import save_small, small_checkpoint


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return small_checkpoint(tmp_path_factory.mktemp("small") / "small")


@pytest.fixture(scope="session")
def translator(checkpoint: Checkpoint) -> Translator:
    """It takes at most 31 pieces."""
    return Translator(checkpoint, max_pieces=31)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a checkpoint that is this test's own."""
    return save_small(tmp_path / "small")
