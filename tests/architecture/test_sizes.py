"""Files, functions and the model can be read in one sitting, and the rules are shown to find what cannot."""

from __future__ import annotations

import pytest

from tests.architecture.conftest import Repository
from tests.architecture.rules import sizes

OURS = ("app.py", "model_core/", "viz/", "tests/", "benchmarks/")


def test_files_and_functions_stay_readable(files: Repository) -> None:
    chosen = files.sources(OURS, (".py", ".js", ".css"))
    faults = [fault for path, source in chosen.items() for fault in sizes.size_faults(path, source)]
    assert not faults, "\n".join(faults)


def test_the_model_can_be_read_alone(files: Repository) -> None:
    chosen = files.sources((sizes.MODEL,))
    assert f"{sizes.MODEL}transformer.py" in chosen
    faults = sizes.model_size_faults(chosen)
    assert not faults, "\n".join(faults)


LONG_FUNCTION = "def f():\n" + "    x = 1\n" * sizes.MAX_FUNCTION_LINES
LONG_METHOD = "class C:\n" + "".join(f"    {line}\n" for line in f"async {LONG_FUNCTION}".splitlines())
BROKEN = [
    ("viz/theme.py", "x = 1\n" * (sizes.MAX_FILE_LINES + 1)),
    ("viz/components/grid/grid.js", "let x;\n" * (sizes.MAX_FILE_LINES + 1)),
    ("model_core/model/layers.py", "\n" * (sizes.MAX_MODEL_FILE_LINES + 1)),
    ("viz/theme.py", LONG_FUNCTION),
    ("viz/theme.py", LONG_METHOD),
]
KEPT = [
    ("viz/theme.py", "x = 1\n" * sizes.MAX_FILE_LINES),
    ("viz/theme.py", LONG_FUNCTION.removesuffix("    x = 1\n")),
    ("model_core/model/layers.py", "\n" * sizes.MAX_MODEL_FILE_LINES),
    ("model_core/search/beam.py", "\n" * sizes.MAX_FILE_LINES),
]


@pytest.mark.parametrize(("path", "source"), BROKEN)
def test_too_long_a_file_or_function_is_found(path: str, source: str) -> None:
    faults = sizes.size_faults(path, source)
    assert faults and all(fault.startswith(path) for fault in faults)


@pytest.mark.parametrize(("path", "source"), KEPT)
def test_a_readable_file_is_left_alone(path: str, source: str) -> None:
    assert sizes.size_faults(path, source) == []


def test_all_lines_of_the_model_count_and_no_others() -> None:
    half = "x = 1\n\n" * (sizes.MAX_MODEL_LINES // 4)
    model = {"model_core/model/__init__.py": half, "model_core/model/layers.py": half}
    others = {"model_core/search/beam.py": "x = 1\n", "model_core/models.py": "x = 1\n"}
    assert sizes.model_size_faults(model | others) == []
    assert sizes.model_size_faults(model | {"model_core/model/cache.py": "\n"}) == [
        f"model_core/model/ has {sizes.MAX_MODEL_LINES + 1} lines; at most {sizes.MAX_MODEL_LINES} are allowed."
    ]
