"""The beam tree's Python side: paths, kinds and texts of its nodes."""

from __future__ import annotations

import json

from model_core.trace import Hypothesis
from viz.components.beam_tree import ids_of, pack_tree, places_of

BEAM = (
    (Hypothesis(7, -1, -1.0, -1.0, False, True), Hypothesis(9, -1, -2.0, -2.0, False, True),
     Hypothesis(8, -1, -3.0, -3.0, False, False)),
    (Hypothesis(11, 1, -2.5, -2.1, False, True), Hypothesis(2, 0, -2.75, -2.2, True, True),
     Hypothesis(2, 1, -8.0, -6.9, True, False)),
    (Hypothesis(2, 0, -2.8, -2.0, True, True),),
)  # fmt: skip


def test_a_hypothesis_is_the_ids_along_its_parents() -> None:
    assert ids_of(BEAM, (2, 0)) == (9, 11, 2)
    assert ids_of(BEAM, (1, 1)) == (7, 2)
    assert ids_of(BEAM, (0, 2)) == (8,)


def test_every_hypothesis_is_found_again_by_its_ids() -> None:
    for step, row in enumerate(BEAM):
        for index in range(len(row)):
            places = places_of(BEAM, ids_of(BEAM, (step, index)))
            assert len(places) == step + 1 and (step, index) in places


def test_ids_that_the_beam_has_not_lead_as_far_as_it_has_them() -> None:
    assert places_of(BEAM, (9, 11, 5)) == {(0, 1), (1, 0)}
    assert places_of(BEAM, (9, 11, 2, 2)) == {(0, 1), (1, 0), (2, 0)}
    assert places_of(BEAM, (1,)) == places_of((), (1,)) == frozenset()


def test_nodes_say_what_they_are() -> None:
    pieces = {7: "▁<i>", 9: "▁a", 8: "▁x" * 9, 11: "b", 2: "</s>"}
    packed = pack_tree(
        BEAM, piece=pieces.__getitem__, decode=lambda ids: "".join(map(pieces.__getitem__, ids)), best=(9, 11, 2)
    )
    steps = json.loads(packed)["steps"]
    assert [[node["kind"] for node in row] for row in steps] == [
        ["live", "live", "pruned"],
        ["live", "finished", "pruned"],
        ["finished"],
    ]
    assert [[node["best"] for node in row] for row in steps] == [[False, True, False], [True, False, False], [True]]
    assert steps[0][0]["label"] == "▁<i>" and steps[0][2]["label"].endswith("…")
    assert (steps[1][1]["text"], steps[1][1]["logProbability"], steps[1][1]["score"]) == ("▁<i></s>", -2.75, -2.2)
