"""How long a file, a function and the model may be, to be read in one sitting."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tests.architecture.rules.source import nodes

MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 60
MODEL = "model_core/model/"  # a newcomer reads it alone, in the order of the paper
MAX_MODEL_LINES = 700
MAX_MODEL_FILE_LINES = 250


def size_faults(path: str, source: str) -> list[str]:
    """Files and Python functions that are too long."""
    lines = len(source.splitlines())
    most = MAX_MODEL_FILE_LINES if path.startswith(MODEL) else MAX_FILE_LINES
    faults = [f"{path} has {lines} lines; at most {most} are allowed."] if lines > most else []
    for node in nodes(source) if path.endswith(".py") else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                faults.append(
                    f"{path}:{node.lineno} {node.name} has {length} lines; at most {MAX_FUNCTION_LINES} are allowed."
                )
    return faults


def model_size_faults(sources: Mapping[str, str]) -> list[str]:
    """The model's folder, if its files are too long taken together. `sources`: path -> text."""
    lines = sum(len(source.splitlines()) for path, source in sources.items() if path.startswith(MODEL))
    return [f"{MODEL} has {lines} lines; at most {MAX_MODEL_LINES} are allowed."] if lines > MAX_MODEL_LINES else []
