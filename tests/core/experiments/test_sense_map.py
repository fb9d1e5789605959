"""The plane that senses are drawn in, and how often a sentence lies nearest to its own sense."""

from __future__ import annotations

import numpy as np
import pytest

from model_core.experiments.sense_map import (
    fit_probe,
    nearest_own_sense,
    places_between_senses,
    planes_by_layer,
    told_sense,
    turned_like,
    widest_plane,
)

N, D, LAYERS = 11, 7, 3


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(5)


def test_the_plane_is_that_of_the_covariance(generator: np.random.Generator) -> None:
    vectors = generator.normal(size=(N, D)) * np.arange(1, D + 1)
    plane = widest_plane(vectors)
    values, directions = np.linalg.eigh(np.cov(vectors.T))
    np.testing.assert_allclose(plane.explained, values[-2:].sum() / values.sum(), rtol=1e-9)
    np.testing.assert_allclose(np.abs(plane.axes @ directions[:, [-1, -2]]), np.eye(2), atol=1e-9)
    np.testing.assert_allclose(plane.coordinates(vectors).mean(axis=0), 0, atol=1e-9)


def test_points_of_a_plane_are_explained_whole(generator: np.random.Generator) -> None:
    vectors = generator.normal(size=(N, 2)) @ generator.normal(size=(2, D)) + 3
    plane = widest_plane(vectors)
    assert plane.explained == pytest.approx(1)
    flat = plane.coordinates(vectors)
    np.testing.assert_allclose(np.linalg.norm(flat[3] - flat[8]), np.linalg.norm(vectors[3] - vectors[8]))
    assert widest_plane(np.ones((N, D))).explained == 1


def test_turning_finds_back_a_turned_and_mirrored_map(generator: np.random.Generator) -> None:
    vectors = generator.normal(size=(N, D))
    plane = widest_plane(vectors)
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])
    wanted = plane.coordinates(vectors) @ turn
    turned = turned_like(plane, wanted, vectors)
    np.testing.assert_allclose(turned.coordinates(vectors), wanted, atol=1e-9)
    np.testing.assert_allclose(turned.axes @ turned.axes.T, np.eye(2), atol=1e-9)
    assert turned.explained == plane.explained


def test_layers_that_differ_by_a_mirror_stand_still(generator: np.random.Generator) -> None:
    first = generator.normal(size=(N, D))
    planes = planes_by_layer(np.stack([first, -first, first[:, ::-1]]))
    places = [plane.coordinates(layer) for plane, layer in zip(planes, (first, -first, first[:, ::-1]), strict=True)]
    assert len(planes) == LAYERS
    np.testing.assert_allclose(places[1], places[0], atol=1e-9)
    np.testing.assert_allclose(places[2], places[0], atol=1e-9)


@pytest.mark.parametrize("shape", [(2, D), (N, 1), (D,)])
def test_too_little_for_a_plane_is_told(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"at least \[3, 2\]"):
        widest_plane(np.ones(shape))


def test_nearest_own_sense_is_what_a_loop_finds(generator: np.random.Generator) -> None:
    vectors = generator.normal(size=(N, D))
    senses = ["a", "b", "c", "a", "b", "c", "a", "a", "b", "c", "a"]
    right = 0
    for row in range(N):
        rest = [i for i in range(N) if i != row]
        centroids = {s: vectors[[i for i in rest if senses[i] == s]].mean(axis=0) for s in "abc"}
        right += min("abc", key=lambda s: float(np.linalg.norm(vectors[row] - centroids[s]))) == senses[row]
    assert nearest_own_sense(vectors, senses) == pytest.approx(right / N)
    assert 0 < right < N


def test_leaving_one_out_does_not_let_a_sentence_vouch_for_itself() -> None:
    """Two senses of two far-away sentences each, mixed: with its own vector in the centroid each would be right."""
    vectors = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 1.0], [10.0, 1.0]])
    assert nearest_own_sense(vectors, ["a", "a", "b", "b"]) == 0
    assert nearest_own_sense(vectors, ["a", "b", "a", "b"]) == 1


@pytest.mark.parametrize("names", ["abc", "cba"])
def test_equally_near_senses_share_a_sentence_whatever_they_are_called(
    generator: np.random.Generator, names: str
) -> None:
    """As in layer 0, where one word at one place has one vector. Sums of other lengths round otherwise."""
    same = np.repeat(generator.normal(size=(1, D)), 9, axis=0)
    senses = [*[names[0]] * 2, *[names[1]] * 3, *[names[2]] * 4]
    assert nearest_own_sense(same, senses) == pytest.approx(1 / 3)
    assert nearest_own_sense(np.zeros((9, D)), senses) == pytest.approx(1 / 3)
    apart = same + 5.0 * (np.array(senses) == names[2])[:, None]
    assert nearest_own_sense(apart, senses) == pytest.approx((5 / 2 + 4) / 9)


@pytest.mark.parametrize("senses", [["a"] * 4, ["a", "a", "a", "b"]])
def test_senses_that_cannot_be_compared_are_told(senses: list[str]) -> None:
    with pytest.raises(ValueError, match="At least 2 senses of 2 sentences"):
        nearest_own_sense(np.eye(4), senses)


def test_a_left_out_score_is_that_of_a_probe_without_the_row(generator: np.random.Generator) -> None:
    """Against regression in the primal: on the same scaled points, without row 4."""
    vectors = generator.normal(size=(N, D))
    senses = ["a", "b", "c", "a", "b", "c", "a", "a", "b", "c", "a"]
    probe = fit_probe(vectors, senses, ridge=0.3)
    centred = vectors - vectors.mean(axis=0)
    points = np.column_stack([centred / np.sqrt((centred**2).sum(axis=1).mean()), np.ones(N)])
    wanted = np.array([[1.0 if sense == name else -1.0 for name in "abc"] for sense in senses])
    rest = [i for i in range(N) if i != 4]
    for rows, scores in ((rest, probe.left_out[4]), (list(range(N)), probe.scores(vectors[4]))):
        gram = points[rows].T @ points[rows] + 0.3 * np.eye(D + 1)
        np.testing.assert_allclose(scores, points[4] @ np.linalg.solve(gram, points[rows].T @ wanted[rows]), atol=1e-9)
    assert told_sense(probe, np.array([[0.1, 0.9, 0.2], [0.5, -1, 0.4]])) == ["b", "a"]
    with pytest.raises(ValueError, match="at least 2 senses"):
        fit_probe(vectors, ["a"] * N)


def test_senses_are_corners() -> None:
    np.testing.assert_allclose(
        places_between_senses(np.array([[1.0, -1], [-1, 1], [0, 0]])), [[-1, 0], [1, 0], [0, 0]], atol=1e-12
    )
    places = places_between_senses(2 * np.eye(3) - 1)
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), 1)
    np.testing.assert_allclose(places.sum(axis=0), 0, atol=1e-12)
