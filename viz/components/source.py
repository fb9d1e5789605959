"""The scripts and style sheets of the components, read from their folders."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_DECLARED = re.compile(r"^(?:async )?(?:function|class|const) (\w+)", re.MULTILINE)


def script(folder: str, *names: str) -> str:
    """A component's scripts in the order given, behind those of `shared/` whose functions, classes or constants they
    use, directly or by way of another shared script."""
    own = [_text(f"{folder}/{name}") for name in names]
    needed: set[str] = set()
    waiting = own
    while waiting:
        words = set(re.findall(r"\w+", "\n".join(waiting)))
        added = {name for name, declared in _declared().items() if declared & words} - needed
        needed |= added
        waiting = [_text(name) for name in added]
    # View is what classes of a component extend: its script, as all shared ones, stands before theirs.
    return "\n".join([*(_text(name) for name in sorted(needed)), *own])


def style(folder: str, *shared: str) -> str:
    """A component's style sheet, which has its folder's name, behind that of all views and those named in `shared/`:
    what comes later wins."""
    sheets = [*(f"shared/{name}.css" for name in ("view", *shared)), f"{folder}/{folder}.css"]
    return "\n".join(map(_text, sheets))


@cache
def _declared() -> dict[str, frozenset[str]]:
    """The names that each shared script declares for others."""
    paths = sorted(path.relative_to(_HERE).as_posix() for path in _HERE.glob("shared/*.js"))
    return {path: frozenset(_DECLARED.findall(_text(path))) for path in paths}


def _text(path: str) -> str:
    return (_HERE / path).read_text(encoding="utf-8")
