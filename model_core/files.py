"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path


@contextmanager
def written_beside(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to, moved into its place at the end of the block, or removed after an error.

    Nobody ever reads half a file: a process that is killed at any moment leaves the old one or the new one.

    Raises:
        OSError: the file can't be moved there.
    """
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Writes all files beside their places, and then moves them in, in the order in which they are given.

    Raises:
        OSError: a file can't be written; then none is in its place.
    """
    with ExitStack() as places:
        # An ExitStack leaves its blocks last in, first out.
        for path, data in reversed(list(contents.items())):
            places.enter_context(written_beside(path)).write_bytes(data)


def write_atomically(path: Path, data: bytes) -> None:
    """Writes the file beside its place and moves it there.

    Raises:
        OSError: it can't be written; what stood there before still does.
    """
    write_together({path: data})
