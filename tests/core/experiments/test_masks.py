"""Changed masks: one full pass against the model's own passes, and a search against one full pass."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model_core.config import BOS_ID, PAD_ID, DecodingConfig, ModelConfig
from model_core.experiments.masks import (
    ChangedMasks,
    MaskCell,
    MaskedPass,
    MaskSetting,
    Padded,
    masked_pass,
    masked_search,
    shifts,
)
from model_core.interventions import (
    Change,
    HeadKnockout,
    Intervention,
    make_call,
    point_names,
    record_attention,
    site_of,
)
from model_core.search.decoding import decode
from model_core.trace import Site
from tests.small_models import random_source, small_model

LONG, SHORT = random_source(7, seed=3), random_source(3, seed=4)  # 9 and 5 ids
PADDED = Padded(tuple(SHORT), len(LONG))
TARGET = [5, 8, 4, 10, 6, 2]  # T 6
LAYERS, HEADS = 2, 3
USUAL = MaskSetting()


def run(setting: MaskSetting = USUAL, site: Site = "cross", layer: int = 1, seed: int = 0) -> MaskedPass:
    return masked_pass(small_model(seed), PADDED, TARGET, setting, site, layer)


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    """Sources `[2, 9]` and decoder inputs `[2, 6]`; the second source is the padded one."""
    sources = torch.tensor([LONG, [*SHORT, *[PAD_ID] * 4]])
    return sources, torch.tensor([[BOS_ID, 7, 7, 7, 7, 7], [BOS_ID, *TARGET[:-1]]])


@torch.no_grad()
def test_the_usual_masks_are_those_of_a_padded_batch() -> None:
    wanted = small_model()(*batch())[1].numpy()
    np.testing.assert_allclose(run().log_probabilities, wanted, atol=1e-5)


@torch.no_grad()
def test_padding_off_attends_to_padding() -> None:
    model, (sources, inputs) = small_model(), batch()
    memory = model.encode(sources, None)
    causal = torch.ones(6, 6, dtype=torch.bool).tril()
    wanted = model.generator(model.decode(inputs, memory, target_mask=causal))[1].numpy()
    found = run(MaskSetting(padding=False))
    np.testing.assert_allclose(found.log_probabilities, wanted, atol=1e-5)
    assert found.allowed.all() and (found.weights[:, :, 5:] > 0).all()
    assert not run().allowed[:, :, 5:].any() and not run().weights[:, :, 5:].any()


@torch.no_grad()
def test_causal_off_sees_the_future() -> None:
    model, (_, inputs) = small_model(), batch()
    seen = torch.tensor(SHORT)[None]
    wanted = model.generator(model.decode(inputs[1:], model.encode(seen)))[0].numpy()
    found = run(MaskSetting(causal=False), "decoder_self")
    np.testing.assert_allclose(found.log_probabilities, wanted, atol=1e-5)
    assert found.allowed.all() and not np.allclose(wanted, run().log_probabilities, atol=1e-2)


def test_scores_mask_and_weights_belong_together() -> None:
    found = run(MaskSetting(forbidden=frozenset({MaskCell("cross", 2, 3)})))
    assert found.scores.shape == found.weights.shape == found.allowed.shape == (HEADS, 6, 9)
    exponentials = np.where(found.allowed, np.exp(found.scores.astype(np.float64)), 0.0)
    np.testing.assert_allclose(found.weights, exponentials / exponentials.sum(-1, keepdims=True), atol=1e-6)
    assert np.isfinite(found.scores).all(), "scores are those before the mask"
    with pytest.raises(ValueError, match="read-only"):
        found.weights[0, 0, 0] = 1.0


class Reference(Intervention):
    """Forbids a cell after the softmax: weight 0, and the row made to sum to 1 again."""

    def __init__(self, cell: MaskCell) -> None:
        super().__init__()
        self.cell = cell

    def points(self, config: ModelConfig) -> list[str]:
        weights = [point for point in point_names(config) if point.endswith(".weights")]
        return [point for point in weights if self.cell.is_in(*site_of(point))]

    def change(self, point: str, value: torch.Tensor, start: int) -> torch.Tensor:
        changed = value.clone()
        heads = slice(None) if self.cell.head is None else self.cell.head
        changed[:, heads, self.cell.query, self.cell.key] = 0.0
        return changed / changed.sum(-1, keepdim=True)


@pytest.mark.parametrize(
    "cell",
    [
        MaskCell("cross", 2, 3),
        MaskCell("cross", 4, 3, layer=1, head=2),
        MaskCell("decoder_self", 4, 1, layer=0),
        MaskCell("encoder_self", 1, 4, layer=1, head=1),
    ],
)
@torch.no_grad()
def test_a_forbidden_cell_acts_exactly_where_it_should(cell: MaskCell) -> None:
    model, (_, inputs) = small_model(), batch()
    call = make_call(model.config, Reference(cell))
    wanted = model(torch.tensor(SHORT)[None], inputs[1:], call=call)[0].numpy()
    found = run(MaskSetting(forbidden=frozenset({cell})))
    np.testing.assert_allclose(found.log_probabilities, wanted, atol=1e-5)
    changed = np.abs(wanted - run().log_probabilities).max(axis=1) > 1e-4
    first = 0 if cell.site == "encoder_self" else cell.query
    assert not changed[:first].any() and changed[first]


def test_one_cell_of_the_future_can_be_permitted() -> None:
    cell = MaskCell("decoder_self", 1, 4, layer=1, head=2)
    found = run(MaskSetting(permitted=frozenset({cell})), "decoder_self")
    wanted = np.tril(np.ones((HEADS, 6, 6), dtype=bool))
    wanted[2, 1, 4] = True
    assert np.array_equal(found.allowed, wanted)
    assert found.weights[2, 1, 4] > 0


@pytest.mark.parametrize("strategy", ["greedy", "beam"])
@pytest.mark.parametrize("seed", [0, 1, 5])
def test_a_search_acts_as_one_full_pass_does(strategy: str, seed: int) -> None:
    """Cells of row t act at step t: what the search says of its translation, one pass says too."""
    model = small_model(seed, end=-2.0)
    cells = {
        MaskCell("cross", 0, 2), MaskCell("cross", 3, 1, 0), MaskCell("cross", 4, 1, 1, 2),
        MaskCell("decoder_self", 2, 0), MaskCell("decoder_self", 4, 4, 1, 0), MaskCell("encoder_self", 1, 3),
    }  # fmt: skip
    setting = MaskSetting(forbidden=frozenset(cells))
    config = DecodingConfig(strategy, beam_width=3, max_length=7)  # pyright: ignore[reportArgumentType]
    found = masked_search(model, PADDED, 6, setting, config)
    assert len(found.ids) >= 5, "the cells must have acted"
    whole = masked_pass(model, PADDED, found.ids, setting, "cross", 0)
    steps = [step.log_probability for step in found.steps]
    np.testing.assert_allclose(whole.log_probabilities[range(len(steps)), found.ids], steps, atol=1e-5)
    usual = masked_pass(model, PADDED, found.ids, MaskSetting(), "cross", 0)
    assert not np.allclose(usual.log_probabilities[range(len(steps)), found.ids], steps, atol=1e-3)


def test_a_padded_search_under_the_usual_masks_is_the_plain_one() -> None:
    model, config = small_model(2), DecodingConfig("beam", beam_width=3)
    found = masked_search(model, PADDED, 1, MaskSetting(), config)
    plain = decode(model, [SHORT], config)[0][0]
    assert found.ids == plain.ids and found.log_probability == pytest.approx(plain.log_probability, abs=1e-5)


def test_the_future_does_not_exist_in_a_search() -> None:
    model, config = small_model(2, end=-2.0), DecodingConfig(max_length=7)
    setting = MaskSetting(causal=False, permitted=frozenset({MaskCell("decoder_self", 1, 3)}))
    assert masked_search(model, PADDED, 5, setting, config).ids == decode(model, [SHORT], config)[0][0].ids


def test_shifts_join_the_most_probable_of_both() -> None:
    before, after = run(), run(MaskSetting(forbidden=frozenset({MaskCell("cross", 2, 3)})))
    found = shifts(before, after, 2, 3)
    top = {int(np.argmax(passed.log_probabilities[2])) for passed in (before, after)}
    assert top <= {shift.id for shift in found} and 3 <= len(found) <= 6
    for shift in found:
        assert shift.before == pytest.approx(np.exp(before.log_probabilities[2, shift.id]))
        assert shift.difference == pytest.approx(np.exp(after.log_probabilities[2, shift.id]) - shift.before)
    larger = [max(shift.before, shift.after) for shift in found]
    assert larger == sorted(larger, reverse=True)


def test_masks_and_weights_can_be_changed_together() -> None:
    model, record = small_model(), record_attention()
    masks = ChangedMasks(MaskSetting(forbidden=frozenset({MaskCell("cross", 1, 2)})), Padded(tuple(SHORT), 5))
    with torch.inference_mode():
        call = make_call(model.config, (HeadKnockout("cross", 0, 1), masks, record))
        model(torch.tensor([SHORT]), batch()[1][1:], call=call)
    weights = record.weights("cross")[:, 0]
    assert not weights[:, :, 1, 2].any() and not weights[0, 1].any() and weights[1, 1, 1, 3] > 0


def test_of_two_changed_masks_the_second_is_given_that_of_the_first() -> None:
    """Cells that only the first forbids stay forbidden if the second changes the mask that it is given."""

    def forbid_one_more(mask: torch.Tensor) -> torch.Tensor:
        used = mask.clone()
        used[..., 3, 4] = False
        return used

    model, record = small_model(), record_attention(["cross"])
    masks = ChangedMasks(MaskSetting(forbidden=frozenset({MaskCell("cross", 1, 2)})), Padded(tuple(SHORT), 5))
    more = Change("decoder.*.cross_attention.mask", forbid_one_more)
    with torch.inference_mode():
        model(torch.tensor([SHORT]), batch()[1][1:], call=make_call(model.config, (masks, more, record)))
    zero = record.weights("cross")[:, 0] == 0
    wanted = torch.zeros(6, 5, dtype=torch.bool)
    wanted[1, 2] = wanted[3, 4] = True
    assert torch.equal(zero, wanted.expand(LAYERS, HEADS, 6, 5))


def test_the_sum_of_a_target_counts_every_id() -> None:
    found = run()
    assert found.log_probability(TARGET) == pytest.approx(
        sum(float(found.log_probabilities[row, id_]) for row, id_ in enumerate(TARGET)), abs=1e-5
    )


def test_masks_are_changed_in_every_layer_of_every_site_and_nowhere_else() -> None:
    config = small_model().config
    wanted = {point for point in point_names(config) if point.endswith(".mask")}
    assert set(ChangedMasks(USUAL, PADDED).points(config)) == wanted and len(wanted) == 3 * LAYERS


def test_masks_that_were_changed_say_where() -> None:
    """A cell of one layer changes the mask of that layer; the masks of the others are those of the model."""
    model = small_model()
    masks = ChangedMasks(MaskSetting(forbidden=frozenset({MaskCell("cross", 1, 2, layer=1)})), Padded(tuple(SHORT), 5))
    with torch.inference_mode():
        model(torch.tensor([SHORT]), batch()[1][1:], call=make_call(model.config, masks))
    assert [point for point, change in masks.changes.items() if change] == ["decoder.1.cross_attention.mask"]
    assert len(masks.changes) == 3 * LAYERS
