"""Names and introductions: one name for one thing, each package says what it holds, no docstring says "What"."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from tests.architecture.rules.source import docstrings, tree


@dataclass(frozen=True)
class Protocol:
    """A name that several files of a folder define, because they all follow one convention."""

    name: str
    folder: str
    reason: str


PROTOCOLS = (
    Protocol("page", "viz/pages/", "each page's script draws its page in a function of this name"),
    Protocol("explain", "viz/pages/", "each page's part above its pictures that says how to read them"),
)


def clash_faults(sources: Mapping[str, str], protocols: tuple[Protocol, ...] = PROTOCOLS) -> list[str]:
    """Public classes and functions that have one name and stand in several files. `sources`: path -> text."""
    places: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for path, source in sorted(sources.items()):
        for node in tree(source).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith(
                "_"
            ):
                places[node.name].setdefault(path, node.lineno)
    return [
        f"{', '.join(f'{path}:{line}' for path, line in lines.items())} all define {name}: one name, one thing."
        for name, lines in sorted(places.items())
        if len(lines) > 1 and not any(_follows(protocol, name, lines) for protocol in protocols)
    ]


def _follows(protocol: Protocol, name: str, lines: Mapping[str, int]) -> bool:
    return name == protocol.name and all(path.startswith(protocol.folder) for path in lines)


def docstring_faults(path: str, source: str) -> list[str]:
    """Docstrings that begin with "What": they say that there is something, and not what it is."""
    return [
        f'{path}:{line} begins with "What": say what it is, or what it does.'
        for line, text in docstrings(source)
        if str(text.value).split(maxsplit=1)[:1] == ["What"]
    ]


def package_faults(sources: Mapping[str, str]) -> list[str]:
    """Folders of Python files without an `__init__.py` that says in a docstring what they hold. Path -> text."""
    folders = {f"{parent}/" for path in sources for parent in PurePosixPath(path).parents if str(parent) != "."}
    faults = []
    for folder in sorted(folders):
        source = sources.get(f"{folder}__init__.py")
        if source is None:
            faults.append(f"{folder} has no __init__.py.")
        elif ast.get_docstring(tree(source)) is None:
            faults.append(f"{folder}__init__.py has no docstring: say what the package holds.")
    return faults
