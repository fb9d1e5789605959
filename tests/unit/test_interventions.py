"""Hooks: watching and changing weights, alone and composed."""

import pytest
import torch

from model_core.model.hooks import Compose, ForcedAlignment, HeadKnockout, Recorder, tap_at
from model_core.trace import Site

# B 2, H 3, Q 5, K 7
WEIGHTS = torch.rand(2, 3, 5, 7, generator=torch.Generator().manual_seed(1))


def test_no_hook_is_no_tap() -> None:
    assert tap_at(None, "cross", 3) is None


def test_a_tap_tells_its_hook_where_it_is() -> None:
    seen: list[tuple[Site, int]] = []

    def hook(site: Site, layer: int, weights: torch.Tensor) -> torch.Tensor:
        seen.append((site, layer))
        return weights * 2.0

    tap = tap_at(hook, "decoder_self", 4)
    assert tap is not None
    assert torch.equal(tap(WEIGHTS), WEIGHTS * 2.0)
    assert seen == [("decoder_self", 4)]


def test_a_hook_that_changes_the_shape_is_named() -> None:
    tap = tap_at(lambda site, layer, weights: weights[:, :1], "cross", 1)
    assert tap is not None
    with pytest.raises(ValueError, match=r"shape \[2, 1, 5, 7\] for layer 1 of cross, which has \[2, 3, 5, 7\]"):
        tap(WEIGHTS)


def test_a_recorder_keeps_copies_and_returns_what_it_got() -> None:
    recorder, weights = Recorder(), WEIGHTS.clone()
    assert recorder("cross", 1, weights * 2) is not None
    assert recorder("cross", 0, weights) is weights
    weights.zero_()
    assert recorder.weights("cross").shape == (2, 2, 3, 5, 7)
    assert torch.equal(recorder.weights("cross"), torch.stack((WEIGHTS, WEIGHTS * 2)))  # layers in their order


def test_a_recorder_keeps_float32_without_gradients() -> None:
    recorder = Recorder()
    recorder("cross", 0, WEIGHTS.bfloat16().requires_grad_())
    kept = recorder.weights("cross")
    assert kept.dtype == torch.float32 and not kept.requires_grad


def test_a_recorder_says_what_it_has_not_seen() -> None:
    recorder = Recorder()
    recorder("encoder_self", 0, WEIGHTS)
    with pytest.raises(KeyError, match=r"Nothing was recorded at 'cross'; recorded: \['encoder_self'\]"):
        recorder.weights("cross")


def test_a_knockout_silences_one_head_of_one_layer_and_site() -> None:
    hook, before = HeadKnockout("cross", 1, 2), WEIGHTS.clone()
    assert hook("cross", 0, WEIGHTS) is WEIGHTS and hook("decoder_self", 1, WEIGHTS) is WEIGHTS
    used = hook("cross", 1, WEIGHTS)
    assert not used[:, 2].any()
    assert torch.equal(used[:, :2], WEIGHTS[:, :2])
    assert torch.equal(WEIGHTS, before), "the weights given must not be changed in place"


@pytest.mark.parametrize("head", [3, -1])
def test_a_knockout_of_a_head_that_is_not_there_is_refused(head: int) -> None:
    with pytest.raises(ValueError, match=f"no head {head} in layer 1 of cross: it has 3"):
        HeadKnockout("cross", 1, head)("cross", 1, WEIGHTS)


def test_a_forced_alignment_points_one_row_at_one_key() -> None:
    hook, before = ForcedAlignment("cross", 1, query=3, key=6), WEIGHTS.clone()
    assert hook("cross", 0, WEIGHTS) is WEIGHTS and hook("encoder_self", 1, WEIGHTS) is WEIGHTS
    used = hook("cross", 1, WEIGHTS)
    assert torch.equal(used[:, :, 3], torch.eye(7)[6].expand(2, 3, 7))
    others = [0, 1, 2, 4]
    assert torch.equal(used[:, :, others], WEIGHTS[:, :, others])
    assert torch.equal(WEIGHTS, before)


@pytest.mark.parametrize(("query", "key"), [(5, 0), (0, 7), (-1, 0), (0, -1)])
def test_a_forced_alignment_outside_is_refused(query: int, key: int) -> None:
    with pytest.raises(ValueError, match=f"Query {query} and key {key} lie outside the 5 x 7 weights of cross"):
        ForcedAlignment("cross", 0, query, key)("cross", 0, WEIGHTS)


def test_composed_hooks_act_one_after_the_other() -> None:
    recorder = Recorder()
    hook = Compose([ForcedAlignment("cross", 0, 3, 6), HeadKnockout("cross", 0, 2), recorder])
    used = hook("cross", 0, WEIGHTS)
    assert float(used[0, 1, 3, 6]) == 1.0 and not used[:, 2].any()
    assert torch.equal(recorder.weights("cross")[0], used)
    reverse = Compose([HeadKnockout("cross", 0, 2), ForcedAlignment("cross", 0, 3, 6)])
    assert float(reverse("cross", 0, WEIGHTS)[0, 2, 3, 6]) == 1.0
    assert Compose([])("cross", 0, WEIGHTS) is WEIGHTS


class Masks:
    """Keeps what it is given and answers with a mask of its own."""

    def __init__(self, answer: torch.Tensor | None) -> None:
        self.answer = answer
        self.given: list[tuple[Site, int, torch.Tensor, torch.Tensor | None, int]] = []

    def __call__(self, site: Site, layer: int, weights: torch.Tensor) -> torch.Tensor:
        return weights

    def mask(
        self, site: Site, layer: int, scores: torch.Tensor, allowed: torch.Tensor | None, start: int
    ) -> torch.Tensor | None:
        self.given.append((site, layer, scores, allowed, start))
        return self.answer


def test_composed_mask_hooks_are_given_the_mask_of_the_one_before() -> None:
    models, ones = torch.ones(5, 7, dtype=torch.bool).tril(2), torch.arange(7) < 3
    first, second, third = Masks(ones), Masks(None), Masks(ones & models)
    hook = Compose([first, Recorder(), second, third])
    assert hook.mask("decoder_self", 4, WEIGHTS, models, 6) is third.answer
    assert [hook.given[0][3] for hook in (first, second, third)] == [models, ones, None]
    for one in (first, second, third):
        site, layer, scores, _, start = one.given[0]
        assert (site, layer, start, len(one.given)) == ("decoder_self", 4, 6, 1) and scores is WEIGHTS
    assert Compose([Recorder()]).mask("cross", 0, WEIGHTS, models, 0) is models
