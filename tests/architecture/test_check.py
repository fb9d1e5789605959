"""`make check` leaves out tests by their paths, and pytest does not say where such a path leads nowhere."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


def test_the_slow_tests_that_make_check_leaves_out_exist(repository: Path) -> None:
    # --old-file: whether the environment is up to date does not matter here, nothing is run.
    command = ["make", "--dry-run", "--no-print-directory", "--old-file=.venv/.installed-dev", "check"]
    lines = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout.splitlines()
    paths = re.findall(r"--ignore=(\S+)", lines[-1])
    assert {"tests/browser", "tests/app", "tests/training/test_distributed.py"} <= set(paths)
    assert not [path for path in paths if not (repository / path).exists()]
