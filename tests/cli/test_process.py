"""The command line as a process of its own: encodings, pipes, what it loads."""

import os
import subprocess
import sys
from pathlib import Path

from model_core.translator import Translator
from tests.cli.answer import Answer, Ask
from tests.small_checkpoint import SENTENCES


def run_process(repository: Path, *arguments: object, given: bytes = b"", **environment: str) -> Answer:
    """Runs a command as people do, in a process of its own."""
    command = [sys.executable, "-m", "model_core", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=repository, input=given, capture_output=True, env={**os.environ, **environment}, check=False
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_no_command_and_a_wrong_one_get_one_sentence(ask: Ask) -> None:
    ask().one_sentence("COMMAND")
    ask("transalte", "How are you?").one_sentence("transalte")


def test_a_process_prints_utf8_and_ends_with_2_without_a_traceback(repository: Path, folder: Path) -> None:
    translator = Translator.load(folder)
    text = next(text for text in SENTENCES if not translator.translate(text).text.isascii())
    given = f"{text}\n".encode() + b"\xff\n"
    found = run_process(repository, "translate", "--checkpoint", folder, given=given, PYTHONIOENCODING="ascii")
    assert found.out == translator.translate(text).text + "\n\n"
    assert found.code == 2 and "Traceback" not in found.err and "Line 2: Byte 1 is not UTF-8" in found.err


def test_translating_loads_no_training_code(repository: Path, folder: Path) -> None:
    code = (
        "import sys; from model_core.cli.main import main; assert 'torch' not in sys.modules; "
        f"main(['translate', '--checkpoint', {str(folder)!r}, 'How are you?']); "
        "print([m for m in sys.modules if m.startswith(('model_core.training', 'sacrebleu', 'pandas', 'streamlit'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]"), done.stderr


def test_a_reader_that_has_seen_enough_gets_no_traceback(repository: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "model_core", "translate", "--checkpoint", str(folder)]
    process = subprocess.Popen(
        command, cwd=repository, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(b"How are you?\n")
    process.stdin.flush()
    assert process.stdout.readline()  # each line is answered at once
    process.stdout.close()
    process.stdin.write(b"How are you?\n" * 3)
    process.stdin.close()
    assert process.wait() == 141
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
