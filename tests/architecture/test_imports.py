"""Imports point one way, and each rule about them is shown to find the fault that it is for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.conftest import Repository
from tests.architecture.rules.imports import LIGHT, circle_faults, reach_faults, room_faults
from tests.architecture.rules.rooms import ROOMS
from tests.architecture.rules.source import module_name

PRODUCT = ("app.py", "model_core/", "viz/")


def test_every_file_keeps_to_its_room(files: Repository) -> None:
    chosen = files.sources(PRODUCT)
    assert "model_core/model/attention.py" in chosen
    faults = [fault for path, source in chosen.items() for fault in room_faults(path, source)]
    assert not faults, "\n".join(faults)


def test_no_imports_go_in_a_circle(files: Repository) -> None:
    faults = circle_faults(files.sources(PRODUCT))
    assert not faults, "\n".join(faults)


def test_no_light_module_leads_to_a_heavy_library(files: Repository) -> None:
    faults = reach_faults(files.sources(PRODUCT))
    assert not faults, "\n".join(faults)


def loaded(files: Repository, names: list[str]) -> set[str]:
    """The modules that a new interpreter has loaded once it has imported these."""
    code = f"import sys, {', '.join(names)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=files.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_the_light_modules_load_neither_torch_nor_streamlit(files: Repository) -> None:
    names = [module_name(path) for path in files.sources(LIGHT)]
    assert {"model_core.trace", "model_core.text.words", "viz.figures.heatmap"} <= set(names)
    assert not {"torch", "streamlit"} & loaded(files, names)


def test_the_model_alone_loads_no_trace_no_text_and_no_search(files: Repository) -> None:
    names = [module_name(path) for path in files.sources(("model_core/model/",))]
    assert "model_core.model.transformer" in names
    rooms = {".".join(name.split(".")[:2]) for name in loaded(files, names) if name.startswith("model_core.")}
    assert rooms <= {f"model_core.{room}" for room in ("model", "config", "sites", "tensors")}


BROKEN = [
    # The model is read alone.
    ("model_core/model/masks.py", "import streamlit as st"),
    ("model_core/model/masks.py", "def f():\n    from plotly import graph_objects"),
    ("model_core/model/masks.py", "import numpy as np"),
    ("model_core/model/attention.py", "from model_core.search.engine import Engine"),
    ("model_core/model/attention.py", "from ..trace import AttentionMaps"),
    ("model_core/model/transformer.py", "from model_core.text.words import words"),
    ("model_core/model/points.py", "if TYPE_CHECKING:\n    from model_core.interventions import Intervention"),
    ("model_core/model/positions.py", "def f():\n    import model_core.translator"),
    # The rooms below it, beside it and above it.
    ("model_core/sites.py", "from model_core.config import ModelConfig"),
    ("model_core/config/model.py", "import torch"),
    ("model_core/config/model.py", "from model_core.model.masks import causal_mask"),
    ("model_core/files.py", "from model_core.checkpoint.files import CheckpointError"),
    ("model_core/tensors/padding.py", "from model_core.model.masks import causal_mask"),
    ("model_core/text/words.py", "import torch"),
    ("model_core/text/words.py", "from model_core.trace import Token"),
    ("model_core/trace/trace.py", "import torch.nn"),
    ("model_core/trace/file.py", "if TYPE_CHECKING:\n    from torch import Tensor"),
    ("model_core/trace/file.py", "from safetensors.torch import load"),
    ("model_core/trace/view.py", "from model_core.search.hypotheses import Path"),
    ("model_core/interventions/names.py", "from model_core.trace import TranslationTrace"),
    ("model_core/search/beam.py", "from model_core.checkpoint import load_checkpoint"),
    ("model_core/search/beam.py", "def f():\n    from model_core.translator import Translator"),
    ("model_core/checkpoint/checkpoint.py", "from model_core.search.decoding import greedy"),
    ("model_core/checkpoint/about.py", "from model_core.trace import TranslationTrace"),
    ("model_core/data/corpus.py", "from model_core.experiments.meaning import encode_word"),
    ("model_core/data/corpus.py", "import torch"),
    ("model_core/sentence.py", "from model_core.translator import Translator"),
    ("model_core/translator.py", "from model_core.training.loss import label_smoothed"),
    ("model_core/translator.py", "from model_core.experiments import heads"),
    ("model_core/translator.py", "from model_core.cli.commands import main"),
    ("model_core/experiments/masks.py", "def f():\n    from model_core import training"),
    ("model_core/experiments/masks.py", "from viz.theme import escape"),
    ("model_core/adapters/marian.py", "from model_core.cli import commands"),
    ("model_core/training/loop.py", "from model_core.experiments.meaning import meaning_of"),
    ("model_core/training/loop.py", "from viz.theme import escape"),
    ("model_core/cli/parser.py", "from model_core.__main__ import main"),
    ("model_core/cli/commands.py", "import streamlit"),
    ("model_core/__main__.py", "from model_core.training import loop"),
    ("model_core/__init__.py", "from model_core.translator import Translator"),
    ("model_core/__init__.py", "import torch"),
    ("model_core/elsewhere.py", "x = 1"),
    ("model_core/newcomer/file.py", "x = 1"),
    ("model_core/translator.py", "from tests.small_models import small_model"),
    # The screen.
    ("app.py", "from model_core.translator import Translator"),
    ("app.py", "import torch"),
    ("viz/figures/heatmap.py", "import streamlit"),
    ("viz/figures/heatmap.py", "import importlib\nimportlib.import_module('torch')"),
    ("viz/figures/heatmap.py", "from model_core.translator import Translator"),
    ("viz/figures/heatmap.py", "from model_core.config import ModelConfig"),
    ("viz/figures/heatmap.py", "from model_core import interventions"),
    ("viz/figures/heatmap.py", "from ..pages import translate"),
    ("viz/figures/heatmap.py", "from viz.link import SITE"),
    ("viz/components/grid/__init__.py", "from model_core.config import ModelConfig"),
    ("viz/components/grid/__init__.py", "from viz import figures"),
    ("viz/components/grid/__init__.py", "import torch"),
    ("viz/link.py", "import streamlit as st"),
    ("viz/link.py", "from viz.choose import choose_map"),
    ("viz/link_kinds.py", "from viz.link import SITE"),
    ("viz/theme.py", "from viz.figures import heatmap"),
    ("viz/theme.py", "from model_core.trace import Token"),
    ("viz/wording.py", "import streamlit as st"),
    ("viz/wording.py", "from viz.theme import visible"),
    ("viz/pages/translate.py", "from model_core.search.decoding import greedy"),
    ("viz/pages/translate.py", "from model_core import model"),
    ("viz/pages/translate.py", "import model_core.training.loop"),
    ("viz/pages/translate.py", "import torch"),
    ("viz/pages/translate.py", "import app"),
    ("viz/panels/masks/panel.py", "def f():\n    from torch import Tensor"),
    ("viz/panels/masks/panel.py", "from viz.pages import masks"),
    ("viz/panels/masks/panel.py", "from model_core.model.attention import attention_weights"),
    ("viz/choose.py", "from viz.panels.masks import panel"),
    ("viz/choose.py", "from model_core.model.attention import attention_weights"),
    ("viz/translators.py", "from model_core.search.decoding import greedy"),
]
KEPT = [
    (
        "model_core/model/attention.py",
        "import math\nimport torch\nfrom model_core.sites import Site\nfrom . import masks",
    ),
    ("model_core/model/layers.py", "from model_core.tensors.linear import Linear"),
    ("model_core/text/words.py", "from model_core.text.pieces import Token"),
    ("model_core/trace/file.py", "import numpy as np\nfrom safetensors.numpy import load\nfrom .maps import x"),
    ("model_core/search/beam.py", "from model_core.model import cache\nfrom model_core.trace.steps import Hypothesis"),
    (
        "model_core/checkpoint/checkpoint.py",
        "from model_core.text.tokenizer import Tokenizer\nimport safetensors.torch",
    ),
    ("model_core/data/corpus.py", "from model_core.data.lines import excerpt\nfrom model_core.text.cleaning import x"),
    ("model_core/translator.py", "from model_core.search.decoding import greedy\nfrom model_core import sentence"),
    ("model_core/experiments/masks.py", "from model_core.translator import Translator\nfrom model_core import data"),
    ("model_core/training/loop.py", "import sacrebleu\nfrom model_core.building import make_model"),
    ("model_core/training/loop.py", "from model_core.experiments.heads import head_statistics"),
    ("model_core/cli/commands.py", "def train():\n    from model_core.training import loop"),
    ("model_core/__main__.py", "import sys\nfrom model_core.cli.commands import main"),
    ("model_core/__init__.py", "if TYPE_CHECKING:\n    from model_core.translator import Translator"),
    ("app.py", "import streamlit as st\nfrom viz.navigation import pages"),
    ("viz/figures/heatmap.py", "import plotly.graph_objects as go\nfrom model_core.text.words import merge"),
    ("viz/figures/heatmap.py", "from viz.theme import escape\nfrom viz.wording import counted\nfrom . import axes"),
    ("viz/figures/heatmap.py", "from model_core.experiments.heads import HeadStatistics"),
    ("viz/components/grid/__init__.py", "import streamlit as st\nfrom model_core.trace import SITES"),
    ("viz/link.py", "from model_core.config import Strategy\nfrom viz.link_kinds import Kind"),
    ("viz/linked.py", "import streamlit as st\nfrom viz.link import SITE"),
    ("viz/pages/translate.py", "from model_core.translator import Translator\nfrom viz.panels.masks import panel"),
    ("viz/panels/learn/panel.py", "from model_core.training.live import LiveRun\nfrom viz import figures, components"),
    ("viz/translators.py", "import torch\nfrom model_core.translator import Translator"),
]


@pytest.mark.parametrize(("path", "source"), BROKEN)
def test_an_import_out_of_the_room_is_found(path: str, source: str) -> None:
    faults = room_faults(path, source)
    assert faults and all(fault.startswith(path) for fault in faults)


@pytest.mark.parametrize(("path", "source"), KEPT)
def test_the_imports_of_the_room_are_left_alone(path: str, source: str) -> None:
    assert room_faults(path, source) == []


def test_no_room_is_shadowed_by_another() -> None:
    """The first room that fits counts, so a wider one must stand further down."""
    places = [where for room in ROOMS for where in room.where]
    assert not [
        later for index, earlier in enumerate(places) for later in places[index + 1 :] if later.startswith(earlier)
    ]


BACK = {
    "eager": "import viz.a",
    "in a function": "def f():\n    import viz.a",
    "for types": "if TYPE_CHECKING:\n    from viz.a import x",
    "by name": "def f():\n    return import_module('viz.a')",
}


@pytest.mark.parametrize("back", BACK.values(), ids=list(BACK))
def test_a_circle_is_found_however_it_is_hidden(back: str) -> None:
    there = {"viz/a.py": "from viz.b import x", "viz/b.py": "from viz import c"}
    assert circle_faults(there | {"viz/c.py": back}) == ["Imports go in a circle: viz.a -> viz.b -> viz.c -> viz.a."]
    assert circle_faults(there | {"viz/c.py": "def f():\n    import viz.d", "viz/d.py": ""}) == []


def test_each_of_two_circles_is_found() -> None:
    circles = {"viz/a.py": "import viz.b\nimport viz.c", "viz/b.py": "import viz.a", "viz/c.py": "import viz.a"}
    assert circle_faults(circles) == [
        "Imports go in a circle: viz.a -> viz.b -> viz.a.",
        "Imports go in a circle: viz.a -> viz.c -> viz.a.",
    ]


def test_a_package_and_its_own_files_make_a_circle_too() -> None:
    package = {"viz/p/__init__.py": "from viz.p.a import x", "viz/p/a.py": "from viz.p import b", "viz/p/b.py": ""}
    assert circle_faults(package) == []
    assert circle_faults(package | {"viz/p/b.py": "from viz.p import x"}) == [
        "Imports go in a circle: viz.p -> viz.p.a -> viz.p.b -> viz.p."
    ]


def test_a_heavy_library_is_found_behind_other_modules() -> None:
    light = {"viz/figures/a.py": "from model_core.experiments.b import Result"}
    plain = {"model_core/experiments/b.py": "import numpy"}
    heavy = {"model_core/experiments/b.py": "def f():\n    import model_core.c", "model_core/c.py": "import torch.nn"}
    assert reach_faults(light | plain) == []
    assert reach_faults(light | heavy) == [
        "viz.figures.a -> model_core.experiments.b -> model_core.c imports torch.nn."
    ]
