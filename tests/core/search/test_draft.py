"""The 8-bit draft: near the model, right about its past, renewed with the weights, absent where it would not pay."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from model_core.building import make_model
from model_core.config import BOS_ID, EOS_ID, ModelConfig
from model_core.search.draft import Draft, Drafting, LazyDraft, PackedLinear, can_draft, pack_linears
from model_core.search.engine import Cancelled
from model_core.search.forced_pass import ForcedPass
from model_core.tensors.linear import Linear
from tests.small_models import draftable_model, random_source, randomise, small_model

LIMIT = 13


def drafting_of(seed: int = 1, cancelled: threading.Event | None = None) -> Drafting:
    model = draftable_model(seed)
    return Drafting(Draft(model), ForcedPass(model, random_source(5, seed), keep=False).memory_heads(), cancelled)


@pytest.mark.parametrize(("d_in", "d_out"), [(32, 11), (32, 311), (96, 7), (64, 32)])
def test_a_packed_linear_is_the_linear_but_for_rounding(d_in: int, d_out: int) -> None:
    linear = Linear(d_in, d_out)
    randomise(linear, 3)
    rows = torch.randn(1, d_in, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        wanted, found = linear(rows), pack_linears(linear)(rows.bfloat16())
        narrow = pack_linears(linear, dtype=torch.bfloat16)(rows.bfloat16())
    assert (found.dtype, narrow.dtype) == (torch.float32, torch.bfloat16)
    torch.testing.assert_close(narrow.float(), found, atol=0.05, rtol=0.02)
    assert float((found - wanted).norm() / wanted.norm()) < 0.02


def test_linears_packed_together_give_their_outputs_side_by_side() -> None:
    linears = [Linear(32, 5), Linear(32, 7)]
    for seed, linear in enumerate(linears):
        randomise(linear, seed)
    rows = torch.randn(1, 32, generator=torch.Generator().manual_seed(1)).bfloat16()
    with torch.inference_mode():
        apart = torch.cat([pack_linears(linear)(rows) for linear in linears], dim=1)
        torch.testing.assert_close(pack_linears(*linears)(rows), apart)


def test_a_column_of_zeros_stays_zero() -> None:
    weight, bias = torch.randn(32, 5), torch.arange(5.0)
    weight[:, 3] = 0.0
    assert float(PackedLinear.of(weight, bias)(torch.randn(1, 32).bfloat16())[0, 3]) == 3.0


def test_a_draft_that_is_corrected_goes_on_from_the_correction() -> None:
    for seed in range(11):
        drafting = drafting_of(seed)
        with torch.inference_mode():
            guess = drafting.extend([], LIMIT)
            for kept in (4, 2, 0):
                if kept < len(guess):
                    written = [*guess[:kept], 7]
                    guess = drafting.extend(written, LIMIT)
                    assert guess == from_the_start(drafting_of(seed), written)


def from_the_start(fresh: Drafting, written: list[int]) -> list[int]:
    """`written` fed one by one to a draft that has seen nothing, and what it writes then."""
    ids = [BOS_ID, *written]
    for id_ in ids[:-1]:
        fresh.draft.next_id(id_, fresh.pasts, fresh.memory)
    while len(ids) <= LIMIT and ids[-1] != EOS_ID:
        ids.append(fresh.draft.next_id(ids[-1], fresh.pasts, fresh.memory))
    return ids[1:]


def test_a_draft_ends_with_its_end_or_at_the_limit() -> None:
    with torch.inference_mode():
        guesses = [drafting_of(seed).extend([], LIMIT) for seed in range(11)]
        assert all(EOS_ID not in guess[:-1] and (guess[-1] == EOS_ID or len(guess) == LIMIT) for guess in guesses)
        assert {guess[-1] == EOS_ID for guess in guesses} == {True, False}
        assert drafting_of().extend([7, EOS_ID], LIMIT) == [7, EOS_ID]


def test_a_draft_stops_when_told_to() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        drafting_of(cancelled=stop).extend([], LIMIT)


def test_a_draft_is_made_once_and_again_after_the_weights_changed() -> None:
    model = draftable_model()
    lazy = LazyDraft(model)
    with ThreadPoolExecutor(5) as pool:
        drafts = {id(draft): draft for draft in pool.map(lambda _: lazy.get(), range(11))}
    assert list(drafts.values()) == [lazy.get()]
    with torch.no_grad():
        model.decoder.layers[1].feed_forward.outer.bias += 1.0  # type: ignore[union-attr, operator]
    assert lazy.get() is not next(iter(drafts.values()))
    assert lazy.get() is lazy.get()


def test_there_is_a_draft_only_where_the_product_is_fast_and_the_widths_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    for capability, fast in (("AVX2", True), ("AVX512", True), ("DEFAULT", False), ("SVE256", False)):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda capability=capability: capability)
        assert can_draft(draftable_model()) is fast
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    assert not can_draft(small_model())
    assert not can_draft(make_model(ModelConfig(11, 11, 1, 32, 65, 4)))
    assert not can_draft(draftable_model().double())
    monkeypatch.delattr(torch, "_weight_int8pack_mm")
    assert not can_draft(draftable_model())
