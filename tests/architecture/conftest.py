"""The files of the repository, as the rules take them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


class Repository:
    """Every file that belongs to the repository, committed or about to be."""

    def __init__(self, root: Path) -> None:
        self.root = root
        command = ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        listed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout.decode()
        self.paths = sorted({path for path in listed.split("\0") if path and (root / path).is_file()})

    def sources(self, where: tuple[str, ...], endings: tuple[str, ...] = (".py",)) -> dict[str, str]:
        """Path from the root, with slashes -> text of the files in these places that have one of the endings."""
        chosen = [path for path in self.paths if path.startswith(where) and path.endswith(endings)]
        return {path: (self.root / path).read_text(encoding="utf-8") for path in chosen}


@pytest.fixture(scope="session")
def files(repository: Path) -> Repository:
    return Repository(repository)
