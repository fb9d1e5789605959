"""The rules of the house as functions: a file's path and text in, sentences about what is wrong out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 60


@dataclass(frozen=True)
class Import:
    """`module` is the full dotted name, with what is taken from it: "model_core.trace.Token".

    `lazy`: in a function or under TYPE_CHECKING, so that importing the file does not run it.
    """

    module: str
    line: int
    lazy: bool


@dataclass(frozen=True)
class Layer:
    """What the files whose path starts with `where` may import. The first layer that fits a file is the file's."""

    where: str
    never: tuple[str, ...] = ()
    only: tuple[tuple[str, tuple[str, ...]], ...] = ()  # of this package only these modules

    def holds(self, path: str) -> bool:
        return path.startswith(self.where)


PLAIN = ("model_core.trace", "model_core.words")  # types and word rules for everybody: numpy at most
TRACE_PARTS = (*PLAIN, "model_core.trace_checks", "model_core.trace_file")
WORDS = ("viz.theme", "viz.wording")  # how labels, numbers and counts are written, for everybody on the screen's side
SCREEN = ("streamlit", "plotly", "viz", "app")
# What pages ask: each answers with numbers and tokens, so that no page handles tensors or knows the model's parts.
ASKED = ("translator", "config", "checkpoint", "anatomy", "mask_experiment", "position_experiment", "meaning")
ASKED_ABOUT_WORDS = ("homographs", "sense_map", "word_spans", "aligned_words")
ASKED_BY_PAGES = (
    *(f"model_core.{name}" for name in (*ASKED, *ASKED_ABOUT_WORDS, "head_statistics", "training.live")),
    *PLAIN,
)
LAYERS = (
    Layer("app.py", never=("torch", "plotly", "model_core")),
    Layer(
        "viz/figures/",
        never=("streamlit", "torch", "app"),
        only=(("model_core", PLAIN), ("viz", ("viz.figures", *WORDS))),
    ),
    Layer(
        "viz/components/",
        never=("torch", "app"),
        only=(("model_core", PLAIN), ("viz", ("viz.components", *WORDS))),
    ),
    Layer("viz/theme.py", never=("streamlit", "torch", "app", "model_core"), only=(("viz", ()),)),
    Layer("viz/wording.py", never=("streamlit", "torch", "app", "model_core"), only=(("viz", ()),)),
    # It loads the models, and says with how many threads they work.
    Layer("viz/translators.py", never=("app",), only=(("model_core", ASKED_BY_PAGES),)),
    Layer("viz/", never=("torch", "app"), only=(("model_core", ASKED_BY_PAGES),)),
    Layer("model_core/__init__.py", never=(*SCREEN, "torch"), only=(("model_core", PLAIN),)),
    Layer("model_core/trace", never=(*SCREEN, "torch"), only=(("model_core", TRACE_PARTS),)),
    Layer("model_core/words.py", never=(*SCREEN, "torch"), only=(("model_core", TRACE_PARTS),)),
    Layer("model_core/", never=SCREEN),
)
# Inside model_core: a module imports none that stands further left.
CHAIN = (
    ("__main__",),
    ("translator",),
    ("decoding",),
    ("transformer",),
    ("layers",),
    ("attention",),
    ("masks", "positions"),
)
OF_TENSORS = ("numpy", "detach", "cpu", "cuda")  # methods that tensors have and arrays have not
UNSAFE_MODULES = ("pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "torch.load")
UNSAFE_CALLS = ("torch.load", "read_pickle")
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|\beval\(|new Function\("
)
NAMESPACE = "http://www.w3.org/"  # createElementNS needs the names; nothing is fetched
ADDRESS = re.compile(r"(?:\b(?:https?|wss?)://|(?<=[\"'`(])//)[^\s\"'`)]+")
MACHINE_PATH = re.compile(rb"(?<![\w./~$}-])/(?:work|root|home/\w+|Users/\w+)/[\w-]*")


def is_in(module: str, package: str) -> bool:
    """True if the dotted name is the package or lies in it."""
    return module == package or module.startswith(package + ".")


def imports(path: str, source: str) -> list[Import]:
    """All imports of a file, wherever they stand, relative ones resolved, `import_module("...")` included."""
    found: list[Import] = []

    def visit(node: ast.AST, lazy: bool) -> None:
        found.extend(Import(name, getattr(node, "lineno", 0), lazy) for name in _names(path, node))
        inside = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        inside = inside or (isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"))
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(source, path), False)
    return found


def _names(path: str, node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = ".".join(PurePosixPath(path).parts[: -node.level or None]) if node.level else ""
        module = ".".join(part for part in (base, node.module) if part)
        yield from (f"{module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = ast.unparse(node.func).rpartition(".")[2]
        if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
            yield node.args[0].value


def layer_faults(path: str, source: str) -> list[str]:
    """Imports that point the wrong way between app, viz and model_core."""
    layer = next((layer for layer in LAYERS if layer.holds(path)), None)
    return [] if layer is None else [
        f"{path}:{found.line} imports {found.module}, which {layer.where} must not."
        for found in imports(path, source)
        if any(is_in(found.module, package) for package in layer.never)
        or any(
            is_in(found.module, package) and not any(is_in(found.module, module) for module in allowed)
            for package, allowed in layer.only
        )
    ]  # fmt: skip


def tensor_faults(path: str, source: str) -> list[str]:
    """Where something that pages see handles a tensor: what makes an array of one stands in model_core."""
    if not path.startswith("viz/"):
        return []
    return [
        f"{path}:{node.lineno} calls .{node.func.attr}() of a tensor; ask model_core for an array."
        for node in ast.walk(ast.parse(source, path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in OF_TENSORS
    ]


def chain_faults(path: str, source: str) -> list[str]:
    """Imports inside model_core that point back: up the chain, or into training (which only __main__ may, lazily)."""
    if not path.startswith("model_core/") or path.startswith("model_core/training/"):
        return []
    own = path.removeprefix("model_core/").removesuffix(".py")
    place = next((index for index, modules in enumerate(CHAIN) if own in modules), len(CHAIN))
    above = [f"model_core.{module}" for modules in CHAIN[:place] for module in modules] if place < len(CHAIN) else []
    faults = []
    for found in imports(path, source):
        if is_in(found.module, "model_core.training") and not (own == "__main__" and found.lazy):
            faults.append(
                f"{path}:{found.line} imports {found.module}: only __main__ may import training, in a function."
            )
        if any(is_in(found.module, module) for module in above):
            faults.append(f"{path}:{found.line} imports {found.module}, which stands above it.")
    return faults


def cycles(sources: Mapping[str, str]) -> list[str]:
    """Modules of the product that import each other in a circle, lazy imports aside. Path -> source text."""
    modules = {path.removesuffix(".py").replace("/", ".").removesuffix(".__init__"): path for path in sources}
    graph = {
        module: {_owner(found.module, modules) for found in imports(path, sources[path]) if not found.lazy}
        - {module, ""}
        for module, path in modules.items()
    }
    faults, done = [], set()

    def walk(module: str, trail: tuple[str, ...]) -> None:
        if module in trail:
            faults.append(f"Imports go in a circle: {' -> '.join((*trail[trail.index(module) :], module))}.")
        elif module not in done:
            for imported in sorted(graph[module]):
                walk(imported, (*trail, module))
            done.add(module)

    for module in sorted(graph):
        walk(module, ())
    return faults


def _owner(name: str, modules: Mapping[str, str]) -> str:
    """The module that a name such as model_core.trace.Token is taken from; empty if it is none of ours."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


def unsafe_faults(path: str, source: str) -> list[str]:
    """Ways to run code that a file contains: pickle and what reads it."""
    faults = [
        f"{path}:{found.line} imports {found.module}, which can run what a file holds."
        for found in imports(path, source)
        if any(is_in(found.module, module) for module in UNSAFE_MODULES)
    ]
    for node in ast.walk(ast.parse(source, path)):
        if isinstance(node, ast.Attribute) and ast.unparse(node).endswith(UNSAFE_CALLS):
            faults.append(f"{path}:{node.lineno} uses {ast.unparse(node)}, which reads pickle.")
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
            faults.append(f"{path}:{node.value.lineno} allows pickle.")
    return faults


def size_faults(path: str, source: str) -> list[str]:
    """Files and Python functions too long to be read in one sitting."""
    lines = len(source.splitlines())
    faults = [f"{path} has {lines} lines; at most {MAX_FILE_LINES} are allowed."] if lines > MAX_FILE_LINES else []
    for node in ast.walk(ast.parse(source, path)) if path.endswith(".py") else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                faults.append(
                    f"{path}:{node.lineno} {node.name} has {length} lines; at most {MAX_FUNCTION_LINES} are allowed."
                )
    return faults


def markup_faults(path: str, source: str) -> list[str]:
    """In what runs in the page: ways to turn a token into markup or code, and addresses that could be fetched."""
    texts = [source] if not path.endswith(".py") else _strings(source)
    found = [match.group() for text in texts for match in (*MARKUP.finditer(text), *ADDRESS.finditer(text))]
    return [
        f"{path} holds {text}; use textContent, and fetch nothing." for text in found if not text.startswith(NAMESPACE)
    ]


def _strings(source: str) -> list[str]:
    """The strings of a Python file, docstrings aside."""
    tree = ast.parse(source)
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
    ]


def machine_path_faults(path: str, content: bytes) -> list[str]:
    """Paths that exist on somebody's machine only. Works on bytes, so that checkpoints and pictures are read too."""
    return [f"{path} names {found.decode()}, a path of one machine." for found in MACHINE_PATH.findall(content)]
