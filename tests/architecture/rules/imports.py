"""Which way imports point: by room, in no circle, and never to a heavy library from a light room."""

from __future__ import annotations

import graphlib
import sys
from collections.abc import Mapping

from tests.architecture.rules.rooms import OWN, ROOMS, Room
from tests.architecture.rules.source import Import, import_graph, imports, is_in, module_name

LIGHT = ("model_core/trace/", "model_core/text/", "viz/figures/")
HEAVY = ("torch", "streamlit")


def room_of(path: str) -> Room | None:
    """The first room of the table that holds the file."""
    return next((room for room in ROOMS if path.startswith(room.where)), None)


def room_faults(path: str, source: str) -> list[str]:
    """Imports that the file's room does not allow; a file of the product in no room is a fault, too."""
    room = room_of(path)
    if room is None:
        return [f"{path} stands in no room: say in tests/architecture/rules/rooms.py what it may import."]
    return [
        f"{path}:{item.line} imports {item.module}, which {' and '.join(room.where)} must not."
        for item in imports(path, source)
        if not _allowed(room, path, item)
    ]


def _allowed(room: Room, path: str, item: Import) -> bool:
    package = item.module.partition(".")[0]
    if any(is_in(item.module, name) for name in room.never):
        return False
    if package in OWN:
        named = room.own if item.lazy or room.eager is None else room.eager
        return any(is_in(item.module, name) for name in (*named, *_itself(room, path)))
    if package in ("tests", "benchmarks", "docs"):
        return False
    return package in sys.stdlib_module_names or room.outside is None or package in room.outside


def _itself(room: Room, path: str) -> list[str]:
    """The folder of the room that the file lies in, as a package: files of one room may import each other."""
    return [
        module_name(where.removesuffix("/")) for where in room.where if where.endswith("/") and path.startswith(where)
    ]


def circle_faults(sources: Mapping[str, str]) -> list[str]:
    """Modules that import each other in a circle, imports in functions and under TYPE_CHECKING counted as well.

    `sources`: path -> text. Of circles that overlap, enough are named for none to be left when these are broken.
    """
    graph = import_graph(sources)
    faults = []
    while True:
        try:
            graphlib.TopologicalSorter(graph).prepare()
            return sorted(faults)
        except graphlib.CycleError as error:
            circle = error.args[1][:0:-1]  # from who imports to who is imported, without the first one's repetition
            start = circle.index(min(circle))
            circle = [*circle[start:], *circle[: start + 1]]
            faults.append(f"Imports go in a circle: {' -> '.join(circle)}.")
            graph[circle[-2]] = graph[circle[-2]] - {circle[-1]}


def reach_faults(sources: Mapping[str, str]) -> list[str]:
    """Light modules that lead to a heavy library over any number of imports, lazy ones included."""
    graph = import_graph(sources)
    heavy = {
        module_name(path): item.module
        for path, source in sources.items()
        for item in imports(path, source)
        if item.module.partition(".")[0] in HEAVY
    }
    faults = []
    for start in sorted(module_name(path) for path in sources if path.startswith(LIGHT)):
        trails = {start: start}
        pending = [start]
        while pending:
            module = pending.pop()
            for imported in sorted(graph[module] - trails.keys()):
                trails[imported] = f"{trails[module]} -> {imported}"
                pending.append(imported)
        faults += [f"{trails[module]} imports {heavy[module]}." for module in sorted(trails.keys() & heavy.keys())]
    return faults
