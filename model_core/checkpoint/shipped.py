"""Checkpoints that ship, found by their names."""

from __future__ import annotations

from pathlib import Path

from model_core.checkpoint.files import CONFIG, CheckpointError
from model_core.shipped import shipped_checkpoints

FIRST_CHOICE = "en-fr"


def shipped_names() -> list[str]:
    """The names of the checkpoints that ship, in alphabetical order."""
    return sorted(path.parent.name for path in shipped_checkpoints().glob(f"*/{CONFIG}"))


def find_checkpoint(name_or_folder: str | Path | None = None) -> Path:
    """The folder of a checkpoint: the one that is given or, if it holds none, the one that ships under this name.

    None stands for the first choice among those that ship. A name is text without separators; a Path is always a path.

    Raises:
        CheckpointError: there is no such folder, and no checkpoint of this name ships.
    """
    if name_or_folder is None:
        return shipped_checkpoints() / FIRST_CHOICE
    folder = Path(name_or_folder)
    is_name = isinstance(name_or_folder, str) and name_or_folder == folder.name
    if not is_name or (folder / CONFIG).exists():
        return folder
    if folder.name in shipped_names():
        return shipped_checkpoints() / folder.name
    if folder.is_dir():
        return folder
    raise CheckpointError(
        f"{folder / CONFIG} is missing: {folder} is no checkpoint folder, and none of this name ships "
        f"({', '.join(shipped_names())} do)."
    )
