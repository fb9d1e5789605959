"""Every named point is passed once, in order, holds what its name says, and is refused where it does not exist."""

from __future__ import annotations

import copy
import math
from typing import cast

import pytest
import torch
from torch import Tensor

from model_core.config import ModelConfig
from model_core.interventions import Change, HeadKnockout, PointError, Record, make_call, point_names
from model_core.model.cache import KeyValueCache
from model_core.model.layers import DecoderLayer, Residual
from tests.small_models import small_model

# B 2, S 7, T 5, D 12, F 7, H 3, V 11, d_head 4
SOURCE = torch.tensor([[1, 5, 6, 7, 8, 9, 2], [1, 7, 7, 10, 2, 0, 0]])
TARGET = torch.tensor([[1, 5, 6, 4, 3], [1, 9, 8, 0, 0]])


@pytest.fixture(scope="module")
def everything() -> Record:
    model, record = small_model(layers=2), Record("*")
    with torch.no_grad():
        model(SOURCE, TARGET, call=make_call(model.config, record))
    return record


def test_all_points_are_passed_in_their_order(everything: Record) -> None:
    names = point_names(small_model().config)
    assert set(everything.kept) == set(names)
    assert len(names) == 2 * (10 + 4) + 2 * (10 + 10 + 4) + 5
    before = [name for name in everything.kept if name.endswith("residual_before")]
    assert before == [name for name in names if name.endswith("residual_before")]


def test_the_shapes_are_those_that_are_written_down(everything: Record) -> None:
    shapes = {
        "queries": (2, 3, 5, 4), "keys": (2, 3, 7, 4), "values": (2, 3, 7, 4), "scores": (2, 3, 5, 7),
        "mask": (2, 3, 5, 7), "weights": (2, 3, 5, 7), "heads": (2, 3, 5, 4), "output": (2, 5, 12),
        "residual_before": (2, 5, 12), "residual_after": (2, 5, 12),
    }  # fmt: skip
    assert {name: tuple(everything[f"decoder.1.cross_attention.{name}"].shape) for name in shapes} == shapes
    assert everything["decoder.0.feed_forward.hidden"].shape == (2, 5, 7)
    assert everything["encoder.embedding"].shape == (2, 7, 12)
    assert everything["decoder.logits"].shape == (2, 5, 11)


def test_the_values_belong_together(everything: Record) -> None:
    """What the formulas of one decoder layer make of one point is what stands at the next."""
    layer = small_model().decoder.layers[1]
    assert isinstance(layer, DecoderLayer)
    at = {name: everything[f"decoder.1.cross_attention.{name}"] for name in ("queries", "keys", "values", "scores")}
    at |= {name: everything[f"decoder.1.cross_attention.{name}"] for name in ("mask", "weights", "heads", "output")}
    torch.testing.assert_close(at["scores"], at["queries"] @ at["keys"].mT / math.sqrt(4))
    assert at["mask"].dtype == torch.bool
    torch.testing.assert_close(at["weights"], at["scores"].masked_fill(~at["mask"], -math.inf).softmax(-1))
    torch.testing.assert_close(at["heads"], at["weights"] @ at["values"])
    joined = at["heads"].transpose(1, 2).reshape(2, 5, 12)
    torch.testing.assert_close(at["output"], layer.cross_attention.output(joined))
    before, after = (everything[f"decoder.1.cross_attention.residual_{side}"] for side in ("before", "after"))
    torch.testing.assert_close(after, before + at["output"])
    torch.testing.assert_close(after, everything["decoder.1.feed_forward.residual_before"])
    norm = cast(Residual, layer.residuals[2]).norm
    hidden = layer.feed_forward.inner(norm(after)).relu()
    torch.testing.assert_close(everything["decoder.1.feed_forward.hidden"], hidden)


def test_encoder_points_stand_at_position_0_whatever_the_decoder_has_cached() -> None:
    starts: list[tuple[str, int]] = []

    class Starts(Change):
        def change(self, point: str, value: Tensor, start: int) -> Tensor:
            starts.append((point, start))
            return value

    model = small_model()
    call = make_call(model.config, [Starts("*.0.self_attention.weights", lambda value: value)])
    cache = KeyValueCache.empty(2)
    memory = model.encode(SOURCE, call=call)
    for position in range(3):
        model.decode(TARGET[:, position : position + 1], memory, call=call.with_cache(cache))
    assert starts == [("encoder.0.self_attention.weights", 0)] + [
        ("decoder.0.self_attention.weights", position) for position in range(3)
    ]


@pytest.mark.parametrize(
    ("point", "sentence"),
    [
        ("crosss", "A point's name begins with encoder or decoder"),
        ("decoder.40.cross_attention.weights", "The decoder has layers 0 to 1, and no layer 40"),
        ("encoder.0.cross_attention.weights", "A layer of the encoder consists of self_attention, feed_forward"),
        ("decoder.0.feed_forward.weights", "The points of decoder.0.feed_forward are hidden, residual_before"),
        ("encoder.logits", "The points of the whole encoder are encoder.embedding, encoder.final_norm"),
    ],
)
def test_a_point_that_does_not_exist_is_refused_by_a_sentence(point: str, sentence: str) -> None:
    model = small_model()
    with pytest.raises(PointError, match=sentence.replace(".", r"\.")):
        make_call(model.config, Change(point, lambda value: value))


@pytest.mark.parametrize(
    ("knockout", "sentence"),
    [
        (("crosss", 0, 0), "There is no site 'crosss'; the sites are encoder_self, decoder_self, cross"),
        (("cross", 40, 0), "The decoder has layers 0 to 1, and no layer 40"),
        (("cross", 0, 3), "There is no head 3 in layer 0 of cross: it has heads 0 to 2"),
    ],
)
def test_a_knockout_of_nothing_is_refused(knockout: tuple[str, int, int], sentence: str) -> None:
    with pytest.raises(PointError, match=sentence):
        make_call(small_model().config, HeadKnockout(*knockout))  # type: ignore[arg-type]


def test_an_intervention_tells_where_it_acted_and_how_much_it_changed() -> None:
    model = small_model()
    shift = Change("encoder.*.feed_forward.hidden", lambda hidden: hidden + torch.tensor([0.0, 0.25] + [0.0] * 5))
    nothing = Change("decoder.logits", lambda logits: logits.clone())
    with torch.no_grad():
        model(SOURCE, TARGET, call=make_call(model.config, [shift, nothing]))
    assert shift.changes == pytest.approx({f"encoder.{layer}.feed_forward.hidden": 0.25 for layer in range(2)})
    assert shift.largest_change == pytest.approx(0.25)
    assert nothing.changes == {"decoder.logits": 0.0}
    assert Change("decoder.logits", torch.abs).largest_change == 0.0


def test_points_of_a_model_with_unequal_stacks() -> None:
    names = point_names(ModelConfig(11, 11, 2, 12, 7, 3, encoder_layers=1, decoder_layers=3))
    assert {name.split(".")[1] for name in names if name.startswith("encoder.") and name.count(".") > 2} == {"0"}
    assert {name.split(".")[1] for name in names if name.startswith("decoder.") and name.count(".") > 2} == {
        "0",
        "1",
        "2",
    }


def test_a_copied_model_keeps_its_addresses() -> None:
    model = small_model()
    twin = copy.deepcopy(model)
    for module, copied in zip(model.modules(), twin.modules(), strict=True):
        assert getattr(module, "address", None) == getattr(copied, "address", None)
    record = Record("decoder.1.cross_attention.weights")
    twin(SOURCE, TARGET, call=make_call(twin.config, record))
    assert list(record.kept) == ["decoder.1.cross_attention.weights"]
