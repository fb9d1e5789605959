"""The files that ship beside the code: checkpoints, the app's script and its settings.

In a repository they stand in its root. A wheel has them in a folder of their own, named `regard` (see setup.py).
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

WHEEL_FOLDER = "regard"
_REPOSITORY = Path(__file__).resolve().parents[1]


class NotInstalledError(ValueError):
    """The files that ship are not there."""


def shipped_folder() -> Path:
    """The folder that holds `checkpoints/`, `app.py` and `.streamlit/`.

    Raises:
        NotInstalledError: they were not installed.
    """
    if (_REPOSITORY / "app.py").is_file() and (_REPOSITORY / "checkpoints").is_dir():
        return _REPOSITORY
    try:
        return Path(str(resources.files(WHEEL_FOLDER).joinpath("app.py"))).parent
    except ModuleNotFoundError:
        raise NotInstalledError(
            f"The files that ship with Regard are neither in {_REPOSITORY} nor installed: run `pip install .` again."
        ) from None


def shipped_checkpoints() -> Path:
    """The folder that holds one folder for each checkpoint that ships. Raises NotInstalledError."""
    return shipped_folder() / "checkpoints"
