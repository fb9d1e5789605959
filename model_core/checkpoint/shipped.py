"""Where the files that ship beside the code are: checkpoints, the app's script and its settings.

In a repository they stand in its root; an installed wheel has them in a folder of their own, named `regard`.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from model_core.checkpoint.files import CONFIG, CheckpointError

WHEEL_FOLDER = "regard"
_REPOSITORY = Path(__file__).resolve().parents[2]


def shipped_folder() -> Path:
    """The folder that holds `checkpoints/`, `app.py` and `.streamlit/`.

    Raises:
        CheckpointError: they were not installed.
    """
    if (_REPOSITORY / "app.py").is_file() and (_REPOSITORY / "checkpoints").is_dir():
        return _REPOSITORY
    try:
        return Path(str(resources.files(WHEEL_FOLDER).joinpath("app.py"))).parent
    except ModuleNotFoundError:
        raise CheckpointError(
            f"The files that ship with Regard are neither in {_REPOSITORY} nor installed: run `pip install .` again."
        ) from None


def shipped_checkpoints() -> Path:
    """The folder that holds one folder for each checkpoint that ships."""
    return shipped_folder() / "checkpoints"


def find_checkpoint(name_or_folder: str | Path) -> Path:
    """The folder of a checkpoint: as it is given, or, if there is none and it is a plain name, the one that ships.

    Raises:
        CheckpointError: no checkpoint of that plain name ships.
    """
    folder = Path(name_or_folder)
    plain_name = isinstance(name_or_folder, str) and len(folder.parts) == 1 and not folder.is_absolute()
    if (folder / CONFIG).exists() or folder.is_dir() or not plain_name or ".." in folder.parts:
        return folder
    shipped = sorted(path.parent.name for path in shipped_checkpoints().glob(f"*/{CONFIG}"))
    if folder.name not in shipped:
        raise CheckpointError(
            f"{folder / CONFIG} is missing: {folder} is no checkpoint folder, and none of this name ships "
            f"({', '.join(shipped)} do)."
        )
    return shipped_checkpoints() / folder.name
