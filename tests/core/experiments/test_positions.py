"""Sentences whose positions or words are moved: against whole passes that are built by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model_core.checkpoint import Checkpoint
from model_core.config import BOS_ID, DecodingConfig
from model_core.experiments.positions import (
    PositionChange,
    PositionOutcome,
    cosines,
    encoding_table,
    input_norms,
    moved_attention,
    run_experiment,
    shuffled_order,
    with_positions,
    word_groups,
    words_in_order,
)
from model_core.model.positions import sinusoidal_encoding
from model_core.trace import TranslationTrace
from model_core.translator import Translator
from tests.small_traces import make_tokens

SEARCH = DecodingConfig(strategy="beam", beam_width=3, max_length=11)


@pytest.fixture(scope="module")
def trace(checkpoint: Checkpoint) -> TranslationTrace:
    return Translator(checkpoint).trace("How old is the station?", target="Quel âge ?")


def run(checkpoint: Checkpoint, trace: TranslationTrace, change: PositionChange) -> PositionOutcome:
    return run_experiment(checkpoint, trace, change, SEARCH)


def by_hand(checkpoint: Checkpoint, trace: TranslationTrace, source_rows: torch.Tensor, target_rows: torch.Tensor):
    """Log-probabilities of the trace's target with these encodings added, from plain calls of the two stacks."""
    model = checkpoint.model
    source = torch.tensor([[token.id for token in trace.source_tokens]])
    target = [token.id for token in trace.predicted_tokens]
    read = torch.tensor([[BOS_ID, *target[:-1]]])
    with torch.no_grad():
        memory = model.encoder(model.source_embedding(source) + source_rows, None)
        length = read.shape[1]
        allowed = torch.ones(length, length, dtype=torch.bool).tril()
        states = model.decoder(model.target_embedding(read) + target_rows, memory, allowed, None)
        return model.generator(states)[0, torch.arange(length), torch.tensor(target)].numpy()


@pytest.mark.parametrize("decoder", [False, True])
@pytest.mark.parametrize(("placing", "shift"), [("kept", 0), ("off", 0), ("shifted", 7), ("shifted", 600)])
def test_the_original_is_scored_with_the_positions_asked_for(
    checkpoint: Checkpoint, trace: TranslationTrace, placing, shift: int, decoder: bool
) -> None:
    found = run(checkpoint, trace, PositionChange(placing, shift, decoder=decoder))
    sizes = len(trace.source_tokens), len(trace.predicted_tokens)
    d_model = checkpoint.model.config.d_model
    plain = [sinusoidal_encoding(size, d_model) for size in sizes]
    changed = plain
    if placing == "off":
        changed = [torch.zeros(size, d_model) for size in sizes]
    elif placing == "shifted":
        changed = [sinusoidal_encoding(size, d_model, start=shift) for size in sizes]
    expected = by_hand(checkpoint, trace, changed[0], changed[1] if decoder else plain[1])
    np.testing.assert_allclose(found.original, expected, atol=2e-5)


def test_nothing_changed_is_what_was_traced(checkpoint: Checkpoint, trace: TranslationTrace) -> None:
    found = run(checkpoint, trace, PositionChange())
    np.testing.assert_allclose(found.attention, trace.encoder_self.weights, atol=1e-6)
    np.testing.assert_allclose(found.states, trace.encoder_states, atol=1e-5)
    assert float(found.original.sum()) == pytest.approx(trace.log_probability, abs=1e-4)
    assert found.source_text == trace.source_text
    translation = Translator(checkpoint).translate(trace.source_text, SEARCH)
    assert (found.text, found.finished) == (translation.text, translation.best.finished)
    assert found.log_probability == pytest.approx(translation.best.log_probability, abs=1e-4)


def test_the_search_uses_the_changed_positions(checkpoint: Checkpoint, trace: TranslationTrace) -> None:
    """What is found is scored the same when it is given as the target."""
    change = PositionChange("shifted", 5, decoder=True)
    found = run(checkpoint, trace, change)
    moved = Translator(Checkpoint(**{**vars(checkpoint), "model": with_positions(checkpoint.model, change)}))
    again = moved.translate(trace.source_text, SEARCH)
    assert found.text == again.text
    assert found.log_probability == pytest.approx(again.best.log_probability, abs=1e-4)
    ids = again.best.ids
    given = Translator(checkpoint).trace(trace.source_text, target=ids)  # has </s> too where the search was cut off
    scored = run(checkpoint, given, change).original[: len(ids)]
    assert float(scored.sum()) == pytest.approx(found.log_probability, abs=1e-4)
    assert abs(given.log_probability - found.log_probability) > 0.1, "the plain positions must say something else"


def test_without_positions_the_encoder_is_permutation_equivariant(
    checkpoint: Checkpoint, trace: TranslationTrace
) -> None:
    off = run(checkpoint, trace, PositionChange("off"))
    both = run(checkpoint, trace, PositionChange("off", shuffle=3))
    assert both.order != tuple(range(len(both.order)))
    np.testing.assert_allclose(both.states_put_back(), off.states, atol=2e-5)
    np.testing.assert_allclose(both.attention_put_back(), off.attention, atol=1e-5)
    np.testing.assert_allclose(both.original, off.original, atol=1e-4)
    shuffled = run(checkpoint, trace, PositionChange(shuffle=3))
    assert np.abs(shuffled.states_put_back() - trace.encoder_states).max() > 0.1


def test_putting_back_undoes_the_order(checkpoint: Checkpoint, trace: TranslationTrace) -> None:
    found = run(checkpoint, trace, PositionChange(shuffle=5))
    for now, before in enumerate(found.order):
        np.testing.assert_array_equal(found.states_put_back()[:, before], found.states[:, now])
        for key, key_before in enumerate(found.order):
            here = found.attention_put_back()[:, :, before, key_before]
            np.testing.assert_array_equal(here, found.attention[:, :, now, key])


def test_the_shared_model_is_left_as_it_is(checkpoint: Checkpoint, trace: TranslationTrace) -> None:
    model = checkpoint.model
    positions, before = model.positions, model.positions.table.clone()
    twin = with_positions(model, PositionChange("off"))
    assert twin.positions is not positions and model.positions is positions
    assert torch.equal(positions.table, before) and positions.table.shape[0] == 512
    assert twin.encoder is model.encoder and twin.generator is model.generator
    assert with_positions(model, PositionChange(shuffle=3)) is model
    run(checkpoint, trace, PositionChange("shifted", 9, decoder=True))
    np.testing.assert_allclose(run(checkpoint, trace, PositionChange()).states, trace.encoder_states, atol=1e-5)


def test_a_model_in_training_mode_is_refused(checkpoint: Checkpoint, trace: TranslationTrace) -> None:
    checkpoint.model.train()
    try:
        with pytest.raises(ValueError, match="training mode"):
            run(checkpoint, trace, PositionChange())
    finally:
        checkpoint.model.eval()


def test_words_and_marks_are_groups_of_pieces_between_the_first_and_the_last(trace: TranslationTrace) -> None:
    tokens = trace.source_tokens
    groups = word_groups(tokens)
    assert [place for group in groups for place in group] == list(range(1, len(tokens) - 1))
    assert ["".join(tokens[place].piece for place in group) for group in groups] == [
        "▁How",
        "▁old",
        "▁is",
        "▁the",
        "▁station",
        "?",
    ]
    assert max(map(len, groups)) > 1, "the test needs a word of several pieces"


def test_shuffled_words_keep_their_pieces_and_the_ends_stay(trace: TranslationTrace) -> None:
    tokens, seen = trace.source_tokens, set[tuple[int, ...]]()
    inside = [tuple(group) for group in word_groups(tokens)]
    for seed in range(40):
        order = shuffled_order(tokens, seed)
        assert sorted(order) == list(range(len(tokens))) and order != tuple(range(len(tokens)))
        assert order[0] == 0 and order[-1] == len(tokens) - 1
        assert all(any(order[i : i + len(group)] == group for i in range(len(order))) for group in inside)
        assert order == shuffled_order(tokens, seed)
        seen.add(order)
    assert len(seen) > 20


def test_two_words_always_change_places_and_one_cannot() -> None:
    pair = make_tokens(["<s>", "a", "b", "</s>"])
    assert {shuffled_order(pair, seed) for seed in range(7)} == {(0, 2, 1, 3)}
    assert shuffled_order(make_tokens(["<s>", "a", "</s>"]), 3) == (0, 1, 2)
    with pytest.raises(ValueError, match="not -1"):
        shuffled_order(pair, -1)


def test_impossible_changes_are_refused() -> None:
    with pytest.raises(ValueError, match="not 'gone'"):
        PositionChange("gone")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="not by -3"):
        PositionChange("shifted", -3)


def test_the_norms_are_of_what_is_added(checkpoint: Checkpoint, trace: TranslationTrace) -> None:
    table, scaled, encoding = input_norms(checkpoint, trace.source_tokens)
    model = checkpoint.model
    for place, token in enumerate(trace.source_tokens):
        row = model.source_embedding.weight[token.id].detach().numpy()
        assert table[place] == pytest.approx(float(np.linalg.norm(row)), rel=1e-5)
    np.testing.assert_allclose(scaled, table * 20**0.5, rtol=1e-5)
    np.testing.assert_allclose(encoding, [(20 / 2) ** 0.5] * len(trace.source_tokens), rtol=1e-5)


def test_the_table_is_the_models_own(checkpoint: Checkpoint) -> None:
    np.testing.assert_array_equal(encoding_table(7, 20, 10000.0), checkpoint.model.positions.table[:7].numpy())


def test_moved_attention_is_half_of_what_differs() -> None:
    before = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], dtype=np.float32)
    after = np.array([[0.5, 0.5, 0.0], [0.5, 0.3, 0.2], [0.0, 0.0, 1.0]], dtype=np.float32)
    np.testing.assert_allclose(moved_attention(before, after), [0.0, 0.3, 1.0], atol=1e-7)


def test_cosines_are_per_vector_and_nothing_has_none() -> None:
    before = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 3.0], [0.0, 0.0]], dtype=np.float32)
    after = np.array([[7.0, 0.0], [1.0, 0.0], [0.0, -1.0], [1.0, 0.0]], dtype=np.float32)
    np.testing.assert_allclose(cosines(before, after), [1.0, 0.5**0.5, -1.0, 0.0], atol=1e-7)


@pytest.mark.parametrize(
    ("original", "changed", "kept"),
    [
        ("a b c d e", "a b c d e", "11111"),
        ("a b c d e", "e a b x d", "01101"),
        ("a b", "", ""),
        ("", "a b c", "000"),
        ("a a b", "a b a", "110"),
        ("le chat voit le chien", "le chien voit le chat", "00011"),  # the longest run, not the most words
    ],
)
def test_words_in_order_are_those_that_both_have_in_one_order(original: str, changed: str, kept: str) -> None:
    assert "".join("01"[word] for word in words_in_order(original.split(), changed.split())) == kept
