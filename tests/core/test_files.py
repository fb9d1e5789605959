"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from model_core.files import write_atomically, write_together, written_beside


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_by_its_new_content_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.bin", b"one")
    write_atomically(tmp_path / "a.bin", b"two")
    assert (tmp_path / "a.bin").read_bytes() == b"two"
    assert names(tmp_path) == ["a.bin"]


def test_an_error_while_writing_leaves_the_old_file_and_no_part_of_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    write_atomically(path, b"old")
    with pytest.raises(KeyboardInterrupt), written_beside(path) as beside:
        beside.write_bytes(b"ha")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old" and names(tmp_path) == ["a.bin"]


def test_none_of_several_files_is_moved_if_one_can_not_be_written(tmp_path: Path) -> None:
    write_together({tmp_path / "a": b"old a", tmp_path / "b": b"old b"})
    with pytest.raises(OSError, match="No such file"):
        write_together({tmp_path / "a": b"new a", tmp_path / "missing" / "c": b"c", tmp_path / "b": b"new b"})
    assert [(tmp_path / name).read_bytes() for name in names(tmp_path)] == [b"old a", b"old b"]


def test_several_files_are_moved_in_the_order_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint's config.json comes last: whoever finds it finds all that it vouches for."""
    moved: list[str] = []
    replace = os.replace

    def watched(source: Path, target: Path) -> None:
        assert all((tmp_path / f"{name}.{os.getpid()}.unfinished").exists() for name in "abc" if name not in moved)
        moved.append(target.name)
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    write_together({tmp_path / name: name.encode() for name in "cab"})
    assert moved == ["c", "a", "b"]
