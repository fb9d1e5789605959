"""The commands of `regard` and of `python -m model_core`.

Exit code 2 and one sentence on standard error for input that can't be used.
"""

from __future__ import annotations

import io
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence

from model_core.cli.parser import make_parser

BAD_INPUT, INTERRUPTED, PIPE_CLOSED = 2, 130, 141


def _command(name: str) -> Callable[[Namespace], int]:
    """The function behind a command. What it needs is imported now: nobody who translates waits for the training."""
    if name == "app":
        from model_core.cli.app import app

        return app
    if name in ("train", "evaluate"):
        from model_core.cli import training_commands

        return getattr(training_commands, name)
    from model_core.cli import commands

    return getattr(commands, name)


def main(argv: Sequence[str] | None = None, program: str = "regard") -> int:
    """Runs one command and returns its exit code; `program` is how the help calls it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # French needs more than ASCII, whatever the terminal's settings
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    arguments = make_parser(program).parse_args(argv)
    try:
        return _command(arguments.command)(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output has seen enough; nothing may be flushed to it at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as error:
        print(f"{error.filename or 'A file'} can't be used: {error.strerror or error}.", file=sys.stderr)
    except ValueError as error:
        # This project's own errors are sentences for whoever gave the input; any other is a fault to be seen whole.
        if not type(error).__module__.startswith("model_core."):
            raise
        print(error, file=sys.stderr)
    return BAD_INPUT
