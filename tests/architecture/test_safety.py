"""No code that files hold, no tensor on a page, no markup of tokens; each rule is shown to find its fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.architecture.conftest import Repository
from tests.architecture.rules import safety

PRODUCT = ("app.py", "model_core/", "viz/")
IN_THE_PAGE = (".js", ".mjs", ".css", ".html", ".svg", ".py")
Rule = Callable[[str, str], list[str]]


@pytest.mark.parametrize("rule", [safety.unsafe_faults, safety.tensor_faults, safety.link_faults])
def test_the_product_keeps_the_rule(rule: Rule, files: Repository) -> None:
    faults = [fault for path, source in files.sources(PRODUCT).items() for fault in rule(path, source)]
    assert not faults, "\n".join(faults)


def test_the_link_has_one_module(files: Repository) -> None:
    source = files.sources((safety.LINKED,))[safety.LINKED]
    assert safety.link_faults("viz/other.py", source)


def test_components_make_no_markup_and_fetch_nothing(files: Repository) -> None:
    chosen = files.sources(("viz/components/",), IN_THE_PAGE)
    faults = [fault for path, source in chosen.items() for fault in safety.markup_faults(path, source)]
    assert not faults, "\n".join(faults)


def test_no_file_names_a_path_of_one_machine(files: Repository) -> None:
    faults = [
        fault for path in files.paths for fault in safety.machine_path_faults(path, (files.root / path).read_bytes())
    ]
    assert not faults, "\n".join(faults)


GRID = "viz/components/grid/grid.js"
BROKEN = [
    (safety.unsafe_faults, "model_core/checkpoint/checkpoint.py", "import pickle"),
    (safety.unsafe_faults, "viz/pages/open.py", "def f():\n    from pickle import loads"),
    (
        safety.unsafe_faults,
        "model_core/checkpoint/files.py",
        "import torch\nstate = torch.load('m', weights_only=True)",
    ),
    (safety.unsafe_faults, "model_core/checkpoint/files.py", "from torch import load"),
    (safety.unsafe_faults, "model_core/checkpoint/files.py", "import torch as t\nread = torch.load"),
    (safety.unsafe_faults, "model_core/trace/file.py", "import numpy as np\nnp.load('x.npy', allow_pickle=True)"),
    (safety.unsafe_faults, "viz/pages/open.py", "import pandas as pd\npd.read_pickle('x')"),
    (safety.tensor_faults, "viz/panels/masks/panel.py", "rules.allowed(site, 0, 1, 3, 5)[0].numpy()"),
    (safety.tensor_faults, "viz/pages/translate.py", "weights.detach().cpu()"),
    (safety.link_faults, "viz/choose.py", "import streamlit as st\nst.query_params['head'] = '3'"),
    (safety.link_faults, "viz/pages/learn.py", "from streamlit import query_params"),
    (safety.link_faults, "app.py", "st.experimental_get_query_params()"),
    (safety.markup_faults, GRID, "cell.innerHTML = token"),
    (safety.markup_faults, GRID, "cell.insertAdjacentHTML('beforeend', token)"),
    (safety.markup_faults, GRID, "import('https://cdn.example.org/d3.js')"),
    (safety.markup_faults, "viz/components/grid/grid.css", "@import url(//fonts.example.org/css);"),
    (safety.markup_faults, "viz/components/grid/__init__.py", "JS = 'cell.innerHTML = token'"),
]
KEPT = [
    (
        safety.unsafe_faults,
        "model_core/trace/file.py",
        "np.load('x.npy', allow_pickle=False)\nsafetensors.torch.load_file('x')",
    ),
    (safety.tensor_faults, "viz/figures/heatmap.py", "import numpy as np\nnp.array(x).tolist()"),
    (safety.tensor_faults, "model_core/search/recording.py", "weights.cpu().numpy()"),
    (safety.link_faults, safety.LINKED, "st.query_params['head'] = '3'"),
    (safety.link_faults, "viz/choose.py", '"""Never st.query_params."""\nbind = "query-params"'),
    (safety.markup_faults, GRID, f"const SVG = '{safety.NAMESPACE}2000/svg'; a.textContent = b // ok"),
    (safety.markup_faults, "viz/components/grid/__init__.py", '"""Never innerHTML."""'),
]


@pytest.mark.parametrize(("rule", "path", "source"), BROKEN)
def test_a_rule_finds_its_fault(rule: Rule, path: str, source: str) -> None:
    faults = rule(path, source)
    assert faults and all(fault.startswith(path) for fault in faults)


@pytest.mark.parametrize(("rule", "path", "source"), KEPT)
def test_a_rule_leaves_the_rest_alone(rule: Rule, path: str, source: str) -> None:
    assert rule(path, source) == []


@pytest.mark.parametrize("folder", ["work", "root", "home/ada", "Users/ada"])
def test_a_machine_path_is_found(folder: str) -> None:
    path = f"/{folder}/model"
    for content in (path, f'"{path}"', f"see {path}.", f"\0{path}\0"):
        assert safety.machine_path_faults("README.md", content.encode()) == [
            f"README.md names {path.rstrip('.')}, a path of one machine."
        ]


def test_a_relative_path_is_no_machine_path() -> None:
    kept = ("frame/work/x", "../root/x", "https://example.org/home/ada/", "~/work/x", "$HOME/work/x")
    assert all(safety.machine_path_faults("README.md", content.encode()) == [] for content in kept)
