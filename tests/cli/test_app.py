"""`app`: Streamlit on the shipped script, from any folder, with the project's own settings."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from model_core import __main__ as program
from model_core.shipped import shipped_folder
from tests.cli.answer import Ask


def test_the_app_is_started_from_any_folder_with_its_options(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repository: Path
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(os, "execve", lambda *arguments: seen.append(arguments))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.chdir(tmp_path)
    ask("app", "--port", 9000, "--address", "0.0.0.0", "--", "--theme.base", "dark")
    [(file, command, environment)] = seen
    assert (file, shipped_folder()) == (sys.executable, repository)
    script = str(repository / "app.py")
    assert command[1:6] == ["-P", "-m", "streamlit", "run", script]
    assert command[6:] == ["--server.port", "9000", "--server.address", "0.0.0.0", "--theme.base", "dark"]
    assert environment["OMP_NUM_THREADS"] == "1"


def test_a_port_that_cannot_be(ask: Ask) -> None:
    ask("app", "--port", "70000").one_sentence("a port is a number from 0 to 65535, not 70000")


@pytest.mark.parametrize("name", ["regard", "python -m model_core"])
def test_help_calls_the_program_as_it_was_called(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        program.main(["translate", "--help"], program=name)
    assert capsys.readouterr().out.startswith(f"usage: {name} translate ")
