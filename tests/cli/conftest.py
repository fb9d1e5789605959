"""Running a command in this process, and a checkpoint for it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from model_core.cli import main as cli
from tests.cli.answer import Answer, Ask
from tests.small_checkpoint import save_small


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_small(tmp_path_factory.mktemp("cli") / "small")


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Runs a command in this process: arguments, and the bytes on standard input."""

    def run(*arguments: object, given: bytes = b"") -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
        capsys.readouterr()
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return run
