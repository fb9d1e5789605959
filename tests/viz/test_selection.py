"""What a link selects, whatever it says."""

from __future__ import annotations

import pytest

from model_core.trace import TranslationTrace
from tests.small_traces import small_trace
from viz.link import HEAD, LAYER, SITE
from viz.selection import Selection, selection_of

DEFAULT = Selection("cross", 1, None)


@pytest.fixture(scope="module")
def trace() -> TranslationTrace:
    return small_trace(encoder=(2, 3), decoder=(3, 5))


def selected(query: dict[str, str], trace: TranslationTrace, default: Selection) -> Selection:
    texts = {name: [text] for name, text in query.items()}
    site, layer, head = (SITE.value(texts.get("site", [])), LAYER.value(texts.get("layer", [])), texts.get("head", []))
    return selection_of(site, layer, HEAD.value(head), trace, default)


@pytest.mark.parametrize("head", [None, 0, 4])
def test_a_selection_survives_the_link(trace: TranslationTrace, head: int | None) -> None:
    selection = Selection("decoder_self", 2, head)
    query = {change.key.name: change.texts[0] for change in selection.changes()}
    assert selected(query, trace, DEFAULT) == selection


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"site": "nowhere"},
        {"layer": "0", "head": "0"},
        {"layer": "4", "head": "6"},
        {"layer": "²", "head": "-1"},
        {"layer": "9" * 5000},
        {"layer": "000001" + "0" * 5000},
        {"layer": "0000019"},
    ],
)
def test_nonsense_gives_the_default(trace: TranslationTrace, query: dict[str, str]) -> None:
    assert selected(query, trace, DEFAULT) == DEFAULT


def test_what_another_trace_has_is_replaced(trace: TranslationTrace) -> None:
    assert selected({"site": "encoder_self"}, trace, Selection("cross", 5, 4)) == Selection("encoder_self", 1, None)
