"""The repository keeps its own rules, and each rule is shown to find the fault that it is for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture import rules

PRODUCT = ("app.py", "model_core/", "viz/")
OURS = (*PRODUCT, "tests/", "benchmarks/")
IN_THE_PAGE = (".js", ".mjs", ".css", ".html", ".svg", ".py")
Rule = Callable[[str, str], list[str]]


@pytest.fixture(scope="module")
def files(repository: Path) -> list[str]:
    """Every file that belongs to the repository, committed or about to be; paths with slashes, from the root."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=repository, capture_output=True, check=True).stdout.decode()
    return [path for path in listed.split("\0") if path and (repository / path).is_file()]


def sources(repository: Path, files: list[str], where: tuple[str, ...], endings: tuple[str, ...]) -> dict[str, str]:
    """Path -> text of those files that lie in one of the places and have one of the endings."""
    chosen = [path for path in files if path.startswith(where) and path.endswith(endings)]
    return {path: (repository / path).read_text(encoding="utf-8") for path in chosen}


def assert_keeps(rule: Rule, chosen: dict[str, str]) -> None:
    faults = [fault for path, source in chosen.items() for fault in rule(path, source)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("rule", [rules.layer_faults, rules.chain_faults, rules.unsafe_faults, rules.tensor_faults])
def test_the_product_keeps_the_import_rules(rule: Rule, repository: Path, files: list[str]) -> None:
    chosen = sources(repository, files, PRODUCT, (".py",))
    assert "model_core/attention.py" in chosen
    assert_keeps(rule, chosen)


def test_no_imports_go_in_a_circle(repository: Path, files: list[str]) -> None:
    faults = rules.cycles(sources(repository, files, PRODUCT, (".py",)))
    assert not faults, "\n".join(faults)


def test_traces_and_figures_load_neither_torch_nor_streamlit(repository: Path, files: list[str]) -> None:
    plain = ("model_core/trace", "model_core/words", "viz/figures/")
    names = [
        path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path in sources(repository, files, plain, (".py",))
    ]
    assert "model_core.trace" in names
    code = f"import sys, {', '.join(names)}; print(*{{'torch', 'streamlit'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stdout + done.stderr


def test_files_and_functions_stay_readable(repository: Path, files: list[str]) -> None:
    assert_keeps(rules.size_faults, sources(repository, files, OURS, (".py", ".js", ".css")))


def test_components_make_no_markup_and_fetch_nothing(repository: Path, files: list[str]) -> None:
    assert_keeps(rules.markup_faults, sources(repository, files, ("viz/components/",), IN_THE_PAGE))


def test_no_file_names_a_path_of_one_machine(repository: Path, files: list[str]) -> None:
    faults = [fault for path in files for fault in rules.machine_path_faults(path, (repository / path).read_bytes())]
    assert not faults, "\n".join(faults)


BAD_IMPORTS = [
    ("model_core/masks.py", "import streamlit as st"),
    ("model_core/masks.py", "def f():\n    from plotly import graph_objects"),
    ("model_core/training/loop.py", "from viz.theme import escape"),
    ("model_core/trace.py", "import torch.nn"),
    ("model_core/trace.py", "from model_core.tokenizer import Tokenizer"),
    ("model_core/trace.py", "from .masks import causal_mask"),
    ("model_core/trace_file.py", "if TYPE_CHECKING:\n    from torch import Tensor"),
    ("model_core/words.py", "import torch"),
    ("model_core/__init__.py", "from model_core.transformer import make_model"),
    ("viz/figures/heatmap.py", "import streamlit"),
    ("viz/figures/heatmap.py", "import importlib\nimportlib.import_module('torch')"),
    ("viz/figures/heatmap.py", "from model_core.translator import Translator"),
    ("viz/figures/heatmap.py", "from model_core import hooks"),
    ("viz/figures/heatmap.py", "from ..pages import translate"),
    ("viz/components/grid/__init__.py", "from model_core.config import ModelConfig"),
    ("viz/components/grid/__init__.py", "from viz import figures"),
    ("viz/theme.py", "from viz.figures import heatmap"),
    ("viz/theme.py", "from model_core.trace import Token"),
    ("viz/pages/translate.py", "from model_core.decoding import greedy"),
    ("viz/pages/translate.py", "from model_core import transformer"),
    ("viz/pages/translate.py", "import model_core.training.loop"),
    ("viz/pages/translate.py", "import app"),
    ("viz/state.py", "from model_core.attention import attention_weights"),
    ("viz/pages/translate.py", "import torch"),
    ("viz/panels/masks/panel.py", "def f():\n    from torch import Tensor"),
    ("viz/translators.py", "from model_core.decoding import greedy"),
    ("viz/wording.py", "import streamlit as st"),
    ("viz/wording.py", "from viz.theme import visible"),
    ("app.py", "from model_core.translator import Translator"),
    ("app.py", "import torch"),
]
BAD_CHAINS = [
    ("model_core/attention.py", "from model_core.layers import EncoderLayer"),
    ("model_core/masks.py", "from model_core import attention"),
    ("model_core/positions.py", "def f():\n    import model_core.translator"),
    ("model_core/transformer.py", "from .decoding import greedy"),
    ("model_core/decoding.py", "from model_core.translator import Translator"),
    ("model_core/translator.py", "from model_core.__main__ import main"),
    ("model_core/translator.py", "from model_core.training.loss import loss"),
    ("model_core/hooks.py", "def f():\n    from model_core import training"),
    ("model_core/__main__.py", "from model_core.training import loop"),
]
UNSAFE = [
    ("model_core/checkpoint.py", "import pickle"),
    ("viz/pages/open.py", "def f():\n    from pickle import loads"),
    ("model_core/checkpoint.py", "import torch\nstate = torch.load('model.pt', weights_only=True)"),
    ("model_core/checkpoint.py", "from torch import load"),
    ("model_core/checkpoint.py", "import torch as t\nread = torch.load"),
    ("model_core/trace.py", "import numpy as np\nnp.load('x.npy', allow_pickle=True)"),
    ("viz/pages/open.py", "import pandas as pd\npd.read_pickle('x')"),
]
LONG_FUNCTION = "def f():\n" + "    x = 1\n" * rules.MAX_FUNCTION_LINES
TOO_LONG = [
    ("viz/theme.py", "x = 1\n" * (rules.MAX_FILE_LINES + 1)),
    ("viz/components/grid/grid.js", "let x;\n" * (rules.MAX_FILE_LINES + 1)),
    ("viz/theme.py", LONG_FUNCTION),
    ("viz/theme.py", "class C:\n" + "".join(f"    {line}\n" for line in f"async {LONG_FUNCTION}".splitlines())),
]
IN_PAGE = [
    ("viz/components/grid/grid.js", "cell.innerHTML = token"),
    ("viz/components/grid/grid.js", "cell.insertAdjacentHTML('beforeend', token)"),
    ("viz/components/grid/grid.js", "import('https://cdn.example.org/d3.js')"),
    ("viz/components/grid/grid.css", "@import url(//fonts.example.org/css);"),
    ("viz/components/grid/__init__.py", "JS = 'cell.innerHTML = token'"),
]
BROKEN = [
    *((rules.layer_faults, *case) for case in BAD_IMPORTS),
    (rules.tensor_faults, "viz/panels/masks/panel.py", "rules.allowed(site, 0, 1, 3, 5)[0].numpy()"),
    (rules.tensor_faults, "viz/pages/translate.py", "weights.detach().cpu()"),
    *((rules.chain_faults, *case) for case in BAD_CHAINS),
    *((rules.unsafe_faults, *case) for case in UNSAFE),
    *((rules.size_faults, *case) for case in TOO_LONG),
    *((rules.markup_faults, *case) for case in IN_PAGE),
]
KEPT = [
    (rules.layer_faults, "model_core/attention.py", "import torch\nfrom model_core.trace import Site"),
    (
        rules.layer_faults,
        "viz/figures/heatmap.py",
        "import plotly.graph_objects as go\nfrom model_core.words import merge",
    ),
    (rules.layer_faults, "viz/figures/heatmap.py", "from viz.theme import escape\nfrom . import axes"),
    (
        rules.layer_faults,
        "viz/components/grid/__init__.py",
        "import streamlit as st\nfrom model_core.trace import SITES",
    ),
    (
        rules.layer_faults,
        "viz/pages/translate.py",
        "from model_core.translator import Translator\nfrom viz import figures",
    ),
    (rules.layer_faults, "viz/translators.py", "import torch\nfrom model_core.translator import Translator"),
    (rules.layer_faults, "viz/figures/heatmap.py", "from viz.wording import counted"),
    (rules.tensor_faults, "viz/figures/heatmap.py", "import numpy as np\nnp.array(x).tolist()"),
    (rules.tensor_faults, "model_core/trace.py", "weights.cpu().numpy()"),
    (rules.layer_faults, "app.py", "import streamlit as st\nfrom viz.pages import translate"),
    (rules.layer_faults, "model_core/words.py", "import appdirs, vizier\nfrom model_core.trace import Token"),
    (rules.chain_faults, "model_core/__main__.py", "def train():\n    from model_core.training import loop"),
    (rules.chain_faults, "model_core/translator.py", "from model_core.decoding import greedy"),
    (rules.chain_faults, "model_core/training/loop.py", "from model_core.transformer import make_model"),
    (
        rules.unsafe_faults,
        "model_core/trace.py",
        "np.load('x.npy', allow_pickle=False)\nsafetensors.torch.load_file('x')",
    ),
    (rules.size_faults, "viz/theme.py", "x = 1\n" * rules.MAX_FILE_LINES),
    (rules.size_faults, "viz/theme.py", LONG_FUNCTION.removesuffix("    x = 1\n")),
    (
        rules.markup_faults,
        "viz/components/grid/grid.js",
        f"const SVG = '{rules.NAMESPACE}2000/svg'; a.textContent = b // ok",
    ),
    (rules.markup_faults, "viz/components/grid/__init__.py", '"""Never innerHTML."""'),
]


@pytest.mark.parametrize(("rule", "path", "source"), BROKEN)
def test_a_rule_finds_its_fault(rule: Rule, path: str, source: str) -> None:
    faults = rule(path, source)
    assert faults and all(fault.startswith(path) for fault in faults)


@pytest.mark.parametrize(("rule", "path", "source"), KEPT)
def test_a_rule_leaves_the_rest_alone(rule: Rule, path: str, source: str) -> None:
    assert rule(path, source) == []


def test_a_circle_is_found_and_a_lazy_import_breaks_it() -> None:
    there, back = {"viz/a.py": "from viz.b import x"}, {"viz/b.py": "from viz import c", "viz/c.py": "import viz.a"}
    assert rules.cycles(there | back) == ["Imports go in a circle: viz.a -> viz.b -> viz.c -> viz.a."]
    for guard in ("def f():", "if TYPE_CHECKING:"):
        assert rules.cycles(there | back | {"viz/c.py": f"{guard}\n    import viz.a"}) == []


@pytest.mark.parametrize("folder", ["work", "root", "home/ada", "Users/ada"])
def test_a_machine_path_is_found(folder: str) -> None:
    path = f"/{folder}/model"
    for content in (path, f'"{path}"', f"see {path}.", f"\0{path}\0"):
        assert rules.machine_path_faults("README.md", content.encode()) == [
            f"README.md names {path.rstrip('.')}, a path of one machine."
        ]


def test_a_relative_path_is_no_machine_path() -> None:
    kept = ("frame/work/x", "../root/x", "https://example.org/home/ada/", "~/work/x", "$HOME/work/x")
    assert all(rules.machine_path_faults("README.md", content.encode()) == [] for content in kept)
