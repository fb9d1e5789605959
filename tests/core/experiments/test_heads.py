"""What a head's statistics say of maps whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from model_core.experiments.heads import (
    BADGE_SHARE,
    SHARES,
    badges,
    diagonal_share,
    entropy_in_nats,
    head_statistics,
    site_statistics,
)
from model_core.trace import SITES, AttentionMaps, Site
from tests.small_traces import make_tokens, small_trace


def maps_of(
    weights: NDArray[np.float64], allowed: NDArray[np.bool_] | None = None, site: Site = "encoder_self"
) -> AttentionMaps:
    """One layer of heads: `weights [H, Q, K]`."""
    queries, keys = weights.shape[1:]
    everything = np.ones((queries, keys), dtype=np.bool_) if allowed is None else allowed
    names = [make_tokens([f"t{i}" for i in range(size)]) for size in (queries, keys)]
    return AttentionMaps(site, weights[None].astype(np.float32), everything, *names)


def column(size: int, at: int) -> NDArray[np.float64]:
    """Every row of `[size, size]` looks at one key."""
    return np.tile(np.eye(size)[at], (size, 1))


def test_each_statistic_knows_its_head() -> None:
    same, even = np.eye(5), np.full((5, 5), 0.2)
    previous = np.eye(5, k=-1)
    previous[0, 0] = 1
    found = head_statistics(maps_of(np.stack([same, even, previous, column(5, 0), column(5, 4)])))
    assert found["same"][0].tolist() == pytest.approx([1, 0.2, 0.2, 0.2, 0.2])
    assert found["previous"][0].tolist() == pytest.approx([0, 0.2, 1, 0.25, 0])
    assert found["first"][0].tolist() == pytest.approx([0.2, 0.2, 0.4, 1, 0])
    assert found["last"][0].tolist() == pytest.approx([0.2, 0.2, 0, 0, 1])
    assert found["entropy"][0].tolist() == pytest.approx([0, 1, 0, 0, 0], abs=1e-6)


def test_masked_keys_do_not_count_as_chances_missed() -> None:
    allowed = np.tril(np.ones((5, 5), dtype=np.bool_))
    even = allowed / allowed.sum(axis=1, keepdims=True)
    found = head_statistics(maps_of(even[None], allowed, "decoder_self"))
    assert found["entropy"][0, 0] == pytest.approx(1.0)
    assert found["last"][0, 0] == pytest.approx(np.mean([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]))
    assert entropy_in_nats(maps_of(even[None], allowed))[0, 0] == pytest.approx(np.mean(np.log([2, 3, 4, 5])))


def test_entropy_in_nats_is_that_of_the_rows() -> None:
    sharp, even = np.eye(7)[:3], np.full((3, 7), 1 / 7)
    assert entropy_in_nats(maps_of(np.stack([sharp, even]))).tolist() == [pytest.approx([0.0, np.log(7)], abs=1e-6)]


def test_a_row_without_a_choice_has_no_entropy() -> None:
    only = maps_of(np.ones((2, 1, 1)))
    assert entropy_in_nats(only).tolist() == [[0.0, 0.0]]
    assert head_statistics(only)["entropy"].tolist() == [[0.0, 0.0]]
    assert head_statistics(only)["previous"].tolist() == diagonal_share(only).tolist() == [[0.0, 0.0]]


def test_the_diagonal_is_one_key_further_and_may_leave_the_map() -> None:
    aside = np.zeros((1, 5, 3))  # more queries than keys: rows 0 and 1 have a key t + 1, the others have none
    aside[0, 0, 1], aside[0, 1, 2], aside[0, 2:, 0] = 1.0, 0.5, 1.0
    assert diagonal_share(maps_of(aside, site="cross"))[0, 0] == pytest.approx(0.75)
    long = np.eye(7, k=1)[None, :3]
    assert diagonal_share(maps_of(long, site="cross"))[0, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("site", SITES)
def test_a_site_shows_what_means_something_there(site: Site) -> None:
    maps = small_trace().maps(site)
    found = site_statistics(maps)
    assert tuple(found) == ("nats", "entropy", *SHARES[site])
    assert all(values.shape == maps.weights.shape[:2] for values in found.values())


def test_a_badge_needs_its_share() -> None:
    nearly = BADGE_SHARE * column(5, 0) + (1 - BADGE_SHARE) * column(5, 3)
    not_quite = nearly - 0.01 * column(5, 0) + 0.01 * column(5, 3)
    found = site_statistics(maps_of(np.stack([nearly + 1e-6 * column(5, 0), not_quite, np.eye(5)])))
    assert [badges(found, 0, head) for head in range(3)] == [["first token"], [], ["itself"]]
