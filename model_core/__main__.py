"""python -m model_core app | translate | trace | train | evaluate | info: the same as `regard`."""

from __future__ import annotations

import sys

from model_core.cli.main import main

if __name__ == "__main__":
    sys.exit(main(program="python -m model_core"))
