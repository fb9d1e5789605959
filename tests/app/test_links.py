"""Numbers in links: none of them breaks a page, and those that are meant are taken."""

from __future__ import annotations

import ast

import pytest

from tests.app.opened import ROOT, open_app, texts
from viz.panels.learn.settings import PROPOSED

BOXES = [  # page, what its link needs besides, key, default
    ("decode", {}, "beam", 5),
    ("decode", {"strategy": "sample"}, "topk", 0),
    ("decode", {"strategy": "sample"}, "seed", 0),
    ("positions", {"view": "order"}, "order", 1),
    ("positions", {"view": "experiment", "change": "shuffled"}, "seed", 1),
    ("learn", {}, "seed", PROPOSED.seed),
]
COPY = {"checkpoint": "copy", "letters": "c a b"}


@pytest.mark.parametrize("number", ["1e400", "-inf", "nan", "-1", "2.5", "９", "99999999999999999999", ""])
@pytest.mark.parametrize(("page", "query", "key", "default"), BOXES)
def test_a_link_with_a_number_that_is_none_opens_with_the_default(
    page: str, query: dict[str, str], key: str, default: int, number: str
) -> None:
    app = open_app(page, **COPY | query | {key: number})
    assert not app.exception
    assert app.number_input(key=key).value == default


@pytest.mark.parametrize(("page", "query", "key", "default"), BOXES)
def test_a_number_comes_from_the_link_and_goes_into_it(
    page: str, query: dict[str, str], key: str, default: int
) -> None:
    app = open_app(page, **COPY | query | {key: "7"})
    assert not app.exception
    assert app.number_input(key=key).value == 7 and app.query_params[key] == "7"
    app.number_input(key=key).set_value(9).run()
    assert not app.exception
    assert app.number_input(key=key).value == 9 and app.query_params[key] == "9"
    app.number_input(key=key).set_value(default).run()
    assert key not in app.query_params and app.number_input(key=key).value == default


@pytest.mark.parametrize("key", ["penalty", "temperature", "topp", "shift"])
@pytest.mark.parametrize("number", ["1e400", "-inf", "nan"])
def test_other_numbers_in_a_link_may_be_infinite_too(key: str, number: str) -> None:
    if key == "shift":
        app = open_app("positions", **COPY, change="shifted", shift=number)
    else:
        app = open_app("decode", **COPY, strategy="beam" if key == "penalty" else "sample", **{key: number})
    assert not app.exception


def test_a_sentence_may_be_called_infinite() -> None:
    app = open_app("attend", text="inf")
    assert not app.exception
    assert app.text_input(key="text").value == "inf" and "Source: " in texts(app)


def test_no_box_for_whole_numbers_is_bound_by_streamlit() -> None:
    """Streamlit makes an int of what the link says before it looks at it: see `viz.linked.number`."""
    for path in sorted((ROOT / "viz").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".number_input"):
                bound = any(keyword.arg == "bind" for keyword in node.keywords)
                numbers = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
                assert not bound or any(isinstance(number, float) for number in numbers), f"{path}:{node.lineno}"
