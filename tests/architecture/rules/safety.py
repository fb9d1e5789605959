"""Things that the code must not handle: files that run code, tensors on a page, tokens as markup, foreign paths."""

from __future__ import annotations

import ast
import re

from tests.architecture.rules.source import imports, is_in, nodes, strings

OF_TENSORS = ("numpy", "detach", "cpu", "cuda")  # methods that tensors have and arrays have not
LINKED = "viz/linked.py"  # the one module that reads and writes the address of the page
UNSAFE_MODULES = ("pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "torch.load")
UNSAFE_CALLS = {"load": "torch.load", "read_pickle": "read_pickle"}  # name -> how its dotted name ends
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|\beval\(|new Function\("
)
NAMESPACE = "http://www.w3.org/"  # createElementNS needs the names; nothing is fetched
ADDRESS = re.compile(r"(?:\b(?:https?|wss?)://|(?<=[\"'`(])//)[^\s\"'`)]+")
MACHINE_PATH = re.compile(rb"(?<![\w./~$}-])/(?:work|root|home/\w+|Users/\w+)/[\w-]*")


def unsafe_faults(path: str, source: str) -> list[str]:
    """Ways to run code that a file contains: pickle and the functions that read it."""
    faults = [
        f"{path}:{item.line} imports {item.module}, which can run code that a file holds."
        for item in imports(path, source)
        if any(is_in(item.module, module) for module in UNSAFE_MODULES)
    ]
    for node in nodes(source):
        ending = UNSAFE_CALLS.get(node.attr) if isinstance(node, ast.Attribute) else None
        if isinstance(node, ast.Attribute) and ending and ast.unparse(node).endswith(ending):
            faults.append(f"{path}:{node.lineno} uses {ast.unparse(node)}, which reads pickle.")
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
            faults.append(f"{path}:{node.value.lineno} allows pickle.")
    return faults


def tensor_faults(path: str, source: str) -> list[str]:
    """Where something that pages see handles a tensor: the code that makes an array of one stands in model_core."""
    if not path.startswith("viz/"):
        return []
    return [
        f"{path}:{node.lineno} calls .{node.func.attr}() of a tensor; ask model_core for an array."
        for node in nodes(source)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in OF_TENSORS
    ]


def link_faults(path: str, source: str) -> list[str]:
    """Where something else than the link's own module touches the link."""
    if path == LINKED:
        return []
    lines = [
        node.lineno for node in nodes(source) if isinstance(node, ast.Attribute) and node.attr.endswith("query_params")
    ]
    lines += [item.line for item in imports(path, source) if item.module.endswith("query_params")]
    return [f"{path}:{line} touches st.query_params; {LINKED} reads and writes the link." for line in lines]


def markup_faults(path: str, source: str) -> list[str]:
    """In code that runs in the page: ways to turn a token into markup or code, and addresses that could be fetched."""
    texts = [source] if not path.endswith(".py") else strings(source)
    matches = [match.group() for text in texts for match in (*MARKUP.finditer(text), *ADDRESS.finditer(text))]
    return [
        f"{path} holds {text}; use textContent, and fetch nothing."
        for text in matches
        if not text.startswith(NAMESPACE)
    ]


def machine_path_faults(path: str, content: bytes) -> list[str]:
    """Paths that exist on somebody's machine only. Works on bytes, so that checkpoints and pictures are read too."""
    return [f"{path} names {match.decode()}, a path of one machine." for match in MACHINE_PATH.findall(content)]
