"""Python files as the rules read them: their imports, their documentation and their strings."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Import:
    """`module` is the full dotted name, with the name that is taken from it: "model_core.trace.Token".

    `lazy`: in a function or under TYPE_CHECKING, so that importing the file does not run it.
    """

    module: str
    line: int
    lazy: bool


@cache
def tree(source: str) -> ast.Module:
    """The parsed file. Every rule reads the same two hundred files."""
    return ast.parse(source)


@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """All nodes of the parsed file."""
    return tuple(ast.walk(tree(source)))


def is_in(module: str, package: str) -> bool:
    """True if the dotted name is the package or lies in it."""
    return module == package or module.startswith(package + ".")


def module_name(path: str) -> str:
    """model_core/trace/__init__.py -> model_core.trace"""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def imports(path: str, source: str) -> tuple[Import, ...]:
    """All imports of a file, wherever they stand, relative ones resolved, `import_module("...")` included."""
    collected: list[Import] = []

    def visit(node: ast.AST, lazy: bool) -> None:
        collected.extend(Import(name, getattr(node, "lineno", 0), lazy) for name in _imported_names(path, node))
        inside = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        inside = inside or (isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"))
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(tree(source), False)
    return tuple(collected)


def _imported_names(path: str, node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = ".".join(PurePosixPath(path).parts[: -node.level or None]) if node.level else ""
        module = ".".join(part for part in (base, node.module) if part)
        yield from (f"{module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
            yield node.args[0].value


def import_graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Module -> the modules of `sources` (path -> text) that it names in any import, lazy ones included.

    That a module's package is imported before it is left aside: every `__init__` would stand in a circle.
    """
    paths = {module_name(path): path for path in sources}

    def file_of(name: str) -> str:
        """The module that model_core.trace.Token is taken from; empty for a module of somebody else."""
        while name and name not in paths:
            name = name.rpartition(".")[0]
        return name

    return {
        module: {file_of(item.module) for item in imports(path, sources[path])} - {module, ""}
        for module, path in paths.items()
    }


def docstrings(source: str) -> list[tuple[int, ast.Constant]]:
    """Line and text of the docstring of the file and of each class and function in it."""
    return [
        (node.body[0].lineno, node.body[0].value)
        for node in nodes(source)
        if isinstance(node, Documented)
        and node.body
        and isinstance(node.body[0], ast.Expr)
        and isinstance(node.body[0].value, ast.Constant)
        and isinstance(node.body[0].value.value, str)
    ]


def strings(source: str) -> list[str]:
    """The strings of a Python file, docstrings aside."""
    documentation = {(text.lineno, text.col_offset) for _, text in docstrings(source)}
    return [
        node.value
        for node in nodes(source)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (node.lineno, node.col_offset) not in documentation
    ]
