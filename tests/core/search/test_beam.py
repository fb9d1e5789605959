"""Beam search: the tree of hypotheses, what is pruned, and when it stops."""

import math

import pytest

from model_core.config import EOS_ID, DecodingConfig
from model_core.search.beam import Beam
from model_core.search.decoding import Decoded, decode
from model_core.search.hypotheses import Path, penalised
from model_core.trace import Alternative, DecodingStep
from tests.small_models import random_source, small_model

SOURCES = [random_source(pieces, pieces) for pieces in (5, 1, 7)]


def test_the_beams_hypotheses_form_a_tree_that_leads_to_the_translations() -> None:
    config = DecodingConfig("beam", beam_width=3, n_best=3, length_penalty=0.7)
    for found in decode(small_model(5, end=0.0), SOURCES, config, prefix=[6]):
        for one in found:
            check_tree(one, config)


def check_tree(one: Decoded, config: DecodingConfig) -> None:
    place, total = -1, 0.0
    for length, step in enumerate(one.steps, start=1):
        total += step.log_probability
        places = [
            index for index, entry in enumerate(step.hypotheses) if (entry.parent, entry.id) == (place, step.chosen_id)
        ]
        assert len(places) == 1, "a hypothesis is its parent and its last id: there is one of each"
        place = places[0]
        chosen = step.hypotheses[place]
        assert chosen.kept
        assert chosen.finished == (step.chosen_id == EOS_ID)
        assert chosen.log_probability == pytest.approx(total)
        assert chosen.score == pytest.approx(penalised(total, length, config.length_penalty))
    check_steps(one, config.beam_width)


def check_steps(one: Decoded, width: int) -> None:
    for earlier, step in zip(one.steps, one.steps[1:], strict=False):
        parents = [earlier.hypotheses[entry.parent] for entry in step.hypotheses]
        assert all(parent.kept and not parent.finished for parent in parents)
        sums = [entry.log_probability for entry in step.hypotheses]
        assert sums == sorted(sums, reverse=True)
        living = [entry for entry in step.hypotheses if entry.kept and not entry.finished]
        assert len(living) <= width
        best_pruned = max((e.log_probability for e in step.hypotheses if not (e.kept or e.finished)), default=-math.inf)
        assert all(entry.log_probability >= best_pruned for entry in living)


def alternatives(**values: float) -> list[Alternative]:
    return [Alternative(int(name[1:]), value) for name, value in values.items()]


def test_a_beam_of_two_step_by_step() -> None:
    beam = Beam(Path(limit=5), DecodingConfig("beam", beam_width=2, n_best=2, length_penalty=0.0, alternatives=1))
    assert beam.advance([alternatives(i5=-1.0, i6=-1.5, i2=-1.75, i7=-2.0)]) == [0, 0]
    assert [path.ids for path in beam.live] == [(5,), (6,)]
    assert [(h.id, h.parent, h.kept, h.finished) for h in beam.history[0]] == [
        (5, -1, True, False),
        (6, -1, True, False),
        (2, -1, False, True),  # ends, but only third
        (7, -1, False, False),
    ]
    rows = [alternatives(i8=-3.0, i2=-3.5, i9=-4.0), alternatives(i2=-1.0, i9=-1.125, i5=-9.0)]
    assert beam.advance(rows) == [1, 0]
    assert [path.ids for path in beam.live] == [(6, 9), (5, 8)]
    assert [path.ids for path in beam.finished] == [(6, 2)]
    assert [(h.id, h.parent, h.log_probability, h.kept) for h in beam.history[1]] == [
        (2, 1, -2.5, True),
        (9, 1, -2.625, True),
        (8, 0, -4.0, True),
        (2, 0, -4.5, False),
    ]
    assert not beam.done
    assert beam.live[0].steps[1] == DecodingStep(9, -1.125, (Alternative(2, -1.0),))
    assert beam.advance([alternatives(i2=-0.25, i5=-5.0), alternatives(i5=-1.0, i2=-2.0)]) == [1, 0]
    assert beam.done  # two are finished
    assert [(one.ids, one.log_probability) for one in beam.results()] == [((6, 2), -2.5), ((6, 9, 2), -2.875)]


def test_a_beam_stops_when_nothing_alive_can_win_any_more() -> None:
    beam = Beam(Path(limit=7), DecodingConfig("beam", beam_width=3, n_best=1, length_penalty=0.0))
    beam.advance([alternatives(i2=-1.0, i5=-1.5, i6=-2.0)])
    assert beam.done and [one.ids for one in beam.results()] == [(EOS_ID,)]
    # With a penalty a longer one may still win: -1.5 over 7 ids weighs less than -1 over 1.
    patient = Beam(Path(limit=7), DecodingConfig("beam", beam_width=3, n_best=1, length_penalty=1.0))
    patient.advance([alternatives(i2=-1.0, i5=-1.5, i6=-2.0)])
    assert not patient.done


def test_finished_translations_come_before_those_that_the_limit_cut() -> None:
    beam = Beam(Path(limit=1), DecodingConfig("beam", beam_width=3, n_best=3))
    beam.advance([alternatives(i5=-1.0, i6=-2.0, i2=-3.0)])
    assert [(one.ids, one.finished) for one in beam.results()] == [((2,), True), ((5,), False), ((6,), False)]


def test_a_larger_length_penalty_prefers_longer_translations() -> None:
    assert penalised(-6.0, 7, 0.0) == -6.0
    assert penalised(-6.0, 7, 1.0) == pytest.approx(-3.0)
    assert penalised(-6.0, 1, 1.0) == pytest.approx(-6.0)
