"""Engines: rows may be dropped, copied and moved at any moment, and each keeps to its own source and past."""

import threading

import pytest
import torch

from model_core.interventions import record_attention
from model_core.search.engine import Cancelled, LiftedEngine, ModuleEngine, padded_sources
from tests.small_models import next_log_probabilities, random_source, small_model

SOURCES = [random_source(pieces, pieces) for pieces in (5, 1, 5)]
PREFIX = [7, 4]
SELECTIONS = [[0, 1, 2], [2, 1, 0], [1], [1, 1, 1], [0, 2, 2], [2, 0, 2, 1, 0]]


def test_sources_are_padded_only_where_they_differ_in_length() -> None:
    ids, mask = padded_sources(SOURCES, torch.device("cpu"))
    assert ids.shape == (3, 7) and ids[1].tolist() == [*SOURCES[1], 0, 0, 0, 0]
    assert mask is not None and mask[1, 0, 0].tolist() == [True] * 3 + [False] * 4
    assert padded_sources(SOURCES[::2], torch.device("cpu"))[1] is None


@pytest.mark.parametrize("kind", ["lifted", "modules", "watched modules"])
@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("rows", SELECTIONS)
@pytest.mark.parametrize("sources", [SOURCES, [*SOURCES[::2], random_source(5, 9)]], ids=["padded", "equal"])
@torch.inference_mode()
def test_selected_rows_go_on_as_if_alone(sources: list[list[int]], rows: list[int], early: bool, kind: str) -> None:
    """`early`: rows are selected before the first step too, as sampling does."""
    model = small_model(1)
    engine_type = LiftedEngine if kind == "lifted" else ModuleEngine
    engine = engine_type(model, sources, record_attention() if kind == "watched modules" else ())
    if early:
        engine.select(rows)
        sources, rows = [sources[row] for row in rows], list(reversed(range(len(rows))))
    first = engine.begin(PREFIX)
    assert first.shape == (len(sources), 3, 11)
    written = [[*PREFIX, 5 + row] for row in range(len(sources))]
    engine.advance([ids[-1] for ids in written])
    engine.select(rows)
    written = [[*written[row], 4 + place] for place, row in enumerate(rows)]
    found = engine.advance([ids[-1] for ids in written])
    for place, row in enumerate(rows):
        expected = next_log_probabilities(model, sources[row], written[place])
        torch.testing.assert_close(found[place], expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("engine_type", [LiftedEngine, ModuleEngine])
def test_it_stops_before_it_computes_when_told_to(engine_type: type[ModuleEngine]) -> None:
    stop = threading.Event()
    engine = engine_type(small_model(), SOURCES, cancelled=stop)
    engine.begin([])
    stop.set()
    with pytest.raises(Cancelled):
        engine.advance([5, 5, 5])
    assert engine.cache.length == 1
    with pytest.raises(Cancelled):
        engine_type(small_model(), SOURCES, cancelled=stop)
