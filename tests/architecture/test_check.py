"""`make check` leaves out tests by their paths, and pytest does not say where such a path leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path


def test_the_slow_tests_that_the_makefile_names_exist(repository: Path) -> None:
    makefile = (repository / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    named = re.search(r"^SLOW := (.+)$", makefile, re.MULTILINE)
    assert named is not None
    paths = named.group(1).split()
    assert "tests/browser" in paths
    assert not [path for path in paths if not (repository / path).exists()]
