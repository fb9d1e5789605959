"""One name stands for one thing, and packages and docstrings say what they are; the rules are shown to find faults."""

from __future__ import annotations

import pytest

from tests.architecture.conftest import Repository
from tests.architecture.rules import names

PACKAGES = ("model_core/", "viz/")
FOLLOWED = (names.Protocol("page", "viz/pages/", "an example"),)


def test_no_public_name_stands_for_two_things(files: Repository) -> None:
    faults = names.clash_faults(files.sources(PACKAGES))
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("protocol", names.PROTOCOLS, ids=lambda protocol: protocol.name)
def test_an_allowance_is_needed_and_has_a_reason(protocol: names.Protocol, files: Repository) -> None:
    others = tuple(other for other in names.PROTOCOLS if other != protocol)
    faults = names.clash_faults(files.sources((protocol.folder,)), others)
    assert [fault for fault in faults if f"define {protocol.name}:" in fault] and protocol.reason


def test_no_docstring_begins_with_what(files: Repository) -> None:
    chosen = files.sources(PACKAGES)
    faults = [fault for path, source in chosen.items() for fault in names.docstring_faults(path, source)]
    assert not faults, "\n".join(faults)


def test_every_package_says_what_it_holds(files: Repository) -> None:
    faults = names.package_faults(files.sources(PACKAGES))
    assert not faults, "\n".join(faults)


def test_a_clash_names_both_places() -> None:
    sources = {
        "model_core/a.py": "\nclass Choice: ...\ndef run(): ...",
        "viz/b/c.py": "def _run(): ...\ndef Choice(): ...",
    }
    assert names.clash_faults(sources) == ["model_core/a.py:2, viz/b/c.py:2 all define Choice: one name, one thing."]


@pytest.mark.parametrize("definition", ["class load: ...", "async def load(): ...", "def load(): ..."])
def test_every_kind_of_definition_counts(definition: str) -> None:
    assert names.clash_faults({"viz/a.py": "def load(): ...", "viz/b.py": definition})


@pytest.mark.parametrize("other", ["class C:\n    def load(self): ...", "def _load(): ...", "from viz.a import load"])
def test_methods_private_names_and_imports_do_not_count(other: str) -> None:
    assert names.clash_faults({"viz/a.py": "def load(): ...", "viz/b.py": other}) == []


def test_overloads_in_one_file_are_one_thing() -> None:
    assert names.clash_faults({"viz/a.py": "@overload\ndef f(): ...\ndef f(): ..."}) == []


def test_a_protocol_holds_in_its_folder_only() -> None:
    pages = {"viz/pages/a.py": "def page(): ...", "viz/pages/b.py": "def page(): ..."}
    assert names.clash_faults(pages, FOLLOWED) == []
    assert names.clash_faults(pages | {"viz/panels/c.py": "def page(): ..."}, FOLLOWED)
    assert names.clash_faults(pages, ())


@pytest.mark.parametrize(
    "source",
    [
        '"""What pages say."""',
        'class C:\n    """What\n    it is."""',
        'class C:\n    async def f(self):\n        """What it does."""',
    ],
)
def test_a_docstring_that_begins_with_what_is_found(source: str) -> None:
    (fault,) = names.docstring_faults("viz/a.py", source)
    assert fault.startswith("viz/a.py:")


@pytest.mark.parametrize("source", ['"""Whatever is left."""', 'x = 1\n"""What now."""', 'def f():\n    return "What"'])
def test_other_strings_are_left_alone(source: str) -> None:
    assert names.docstring_faults("viz/a.py", source) == []


def test_a_package_without_an_introduction_is_found() -> None:
    sources = {"viz/__init__.py": '"""The screen."""', "viz/pages/a.py": "", "viz/panels/__init__.py": "x = 1"}
    assert names.package_faults(sources) == [
        "viz/pages/ has no __init__.py.",
        "viz/panels/__init__.py has no docstring: say what the package holds.",
    ]
    introduced = {"viz/pages/__init__.py": '"""Pages."""', "viz/panels/__init__.py": '"""Panels."""'}
    assert names.package_faults(sources | introduced) == []
