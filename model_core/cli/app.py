"""`regard app`: the pages in a browser, with the project's settings, from any folder."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import Namespace

from model_core.shipped import shipped_folder


def app(arguments: Namespace) -> int:
    """Serves the pages until it is stopped.

    Streamlit reads the settings in `.streamlit/` beside the script, and these come before those of the folder that one
    happens to be in. It takes this process's place, so that signals reach it and nothing else.
    """
    script = str(shipped_folder() / "app.py")
    # -P: no file of the folder that one is in stands in for a module of the same name.
    command = [sys.executable, "-P", "-m", "streamlit", "run", script]
    command += ["--server.port", str(arguments.port), "--server.address", arguments.address, *arguments.options]
    # One thread a request: two on busy cores are slower than one.
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    sys.stdout.flush()
    if os.name != "posix":
        return subprocess.call(command, env=environment)
    os.execve(command[0], command, environment)
    return 0  # never reached: the process is Streamlit's now
