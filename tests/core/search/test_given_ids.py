"""Beginnings and targets that are given as ids: what is made of them, and what is refused."""

import numpy as np
import pytest
import torch

from model_core.config import BOS_ID, EOS_ID, DecodingConfig
from model_core.search.forced_pass import ForcedPass
from model_core.search.hypotheses import ranks
from model_core.text.ids import check_ids
from model_core.translator import InputError, Translator
from tests.small_models import NEVER_WRITTEN, next_log_probabilities, random_source, small_model

TEXT = "How old are you?"
STRATEGIES = [
    DecodingConfig(),
    DecodingConfig(strategy="beam", beam_width=3, n_best=3),
    DecodingConfig(strategy="sample", temperature=1.3, top_k=11, top_p=0.9, seed=7),
]


@pytest.mark.parametrize("decoding", STRATEGIES, ids=lambda config: config.strategy)
def test_a_translation_goes_on_from_its_forced_beginning(translator: Translator, decoding: DecodingConfig) -> None:
    beginning = (17, 205, 33, 9, 101)
    translation = translator.translate(TEXT, decoding, prefix=beginning)
    assert translation.prefix == beginning
    assert all(found.ids[:5] == beginning and len(found.ids) > 5 for found in translation.n_best)
    replayed = translator.replay(translation)
    for step, found in zip(replayed.decoding, translation.best.steps, strict=False):
        assert step.chosen_id == found.chosen_id
        assert step.log_probability == pytest.approx(found.log_probability, abs=1e-4)


def test_what_is_forced_is_exactly_what_a_search_would_do_from_there(translator: Translator) -> None:
    plain = translator.translate(TEXT)
    assert len(plain.best.ids) > 3
    for length in range(1, len(plain.best.ids)):
        again = translator.translate(TEXT, prefix=plain.best.ids[:length])
        assert again.best.ids == plain.best.ids, f"forcing its own first {length} pieces changed the translation"


@pytest.mark.parametrize(
    ("beginning", "message"),
    [
        ((17, EOS_ID), "holds </s>"),
        ((17, BOS_ID), "has id 1 at piece 2"),
        ((0,), "has id 0 at piece 1"),
        ((17, 33, 3), "has id 3 at piece 3"),
        ((311,), "has id 311 at piece 1.*from 4 to 310"),
        ((-5,), "has id -5"),
        ((17,) * 7, "has 7 pieces, but this translation may have 7 in all, </s> included: force no more than 6"),
    ],
)
def test_an_impossible_beginning_is_refused_in_a_sentence(
    translator: Translator, beginning: tuple[int, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        translator.translate(TEXT, DecodingConfig(max_length=7), prefix=beginning)


def test_a_target_of_ids_is_recorded_as_it_is(translator: Translator) -> None:
    ids = (17, 205, 33)
    for given in (ids, (*ids, EOS_ID)):
        trace = translator.trace(TEXT, target=given)
        assert [token.id for token in trace.predicted_tokens] == [17, 205, 33, EOS_ID]
        assert trace.strategy == "forced"
    nothing = translator.trace(TEXT, target=())
    assert [token.id for token in nothing.predicted_tokens] == [EOS_ID]


def test_typed_text_and_its_ids_give_one_trace(translator: Translator) -> None:
    text = "Quel âge as-tu ?"
    typed, given = (translator.trace(TEXT, target=t) for t in (text, translator.tokenizer.encode(text)))
    np.testing.assert_array_equal(typed.cross.weights, given.cross.weights)
    assert translator.ranks(TEXT, text) == translator.ranks(TEXT, translator.tokenizer.encode(text))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ((17, EOS_ID, 33), "goes on after its </s>, at piece 2"),
        ((17, 3), "has id 3 at piece 2"),
        ((17,) * 32, "has 32 pieces; at most 31"),
    ],
)
def test_an_impossible_target_is_refused_in_a_sentence(
    translator: Translator, target: tuple[int, ...], message: str
) -> None:
    for ask in (translator.ranks, lambda text, ids: translator.trace(text, target=ids)):
        with pytest.raises(InputError, match=message):
            ask(TEXT, target)


def most_ids(translator: Translator, text: str) -> int:
    """The most ids that a search for its translation writes: twice its pieces plus 10."""
    return 2 * len(translator.tokenizer.encode(text)) + 10


def test_as_many_ids_as_a_search_may_write_are_a_target(translator: Translator) -> None:
    """More than `max_pieces`, which a typed text is held to; cut off by the limit, so that </s> comes on top."""
    text = " ".join(["you?"] * 9)
    most = most_ids(translator, text)
    assert most > translator.max_pieces + 5
    target = [17, 205, 33, 9] * most
    sample = STRATEGIES[2]
    trace = translator.trace(text, target=target[:most], decoding=sample)
    assert [token.id for token in trace.predicted_tokens] == [*target[:most], EOS_ID]
    assert trace.cross.weights.shape[-2] == trace.decoder_states.shape[1] == most + 1
    assert len(translator.ranks(text, target[:most])) == most + 1
    drawn = translator.drawn_from(text, target[:most], [[4, EOS_ID]] * (most + 1), sample)
    assert len(drawn) == most + 1 and all(len(step.shares) == 2 for step in drawn)
    for ask in (
        lambda ids: translator.trace(text, target=ids),
        lambda ids: translator.ranks(text, ids),
        lambda ids: translator.drawn_from(text, ids, [[]] * len(ids), sample),
    ):
        with pytest.raises(InputError, match=f"has {most + 1} pieces; at most {most} are allowed.* larger max_length"):
            ask(target[: most + 1])
    with pytest.raises(InputError, match=r"The translation has \d+ pieces; at most 31"):
        translator.trace(text, target=" ".join(["you?"] * 20))


@pytest.mark.parametrize("decoding", STRATEGIES, ids=lambda config: config.strategy)
def test_a_translation_as_long_as_it_may_be_can_be_looked_at(
    translator: Translator, monkeypatch: pytest.MonkeyPatch, decoding: DecodingConfig
) -> None:
    """The model never ends it: its trace is the same whether it is replayed or given by its ids."""
    bias = translator.checkpoint.model.generator.bias
    monkeypatch.setattr(bias, "data", bias.data.clone())
    bias.data[EOS_ID] -= 100.0
    text = " ".join(["you?"] * 9)
    translation = Translator(translator.checkpoint, max_pieces=31).translate(text, decoding)
    assert len(translation.best.ids) == most_ids(translator, text) and not translation.best.finished
    replayed = translator.replay(translation)
    given = translator.trace(text, target=translation.best.ids, decoding=decoding)
    np.testing.assert_array_equal(replayed.cross.weights, given.cross.weights)
    ids = tuple(token.id for token in replayed.predicted_tokens)
    assert len(translator.drawn_from(text, ids, [[4]] * len(ids), decoding)) == len(ids)


def test_a_larger_max_length_lets_more_ids_in(translator: Translator) -> None:
    ids = (17, 205, 33) * 20
    with pytest.raises(InputError, match="has 60 pieces; at most 31 are allowed"):
        translator.trace(TEXT, target=ids)
    assert len(translator.trace(TEXT, target=ids, decoding=DecodingConfig(max_length=60)).predicted_tokens) == 61
    assert len(translator.ranks(TEXT, ids, DecodingConfig(max_length=60))) == 61


def test_ranks_are_places_among_what_may_be_written() -> None:
    model, source, target = small_model(5), random_source(7, seed=2), [4, 9, 10, 4, 7]
    found = ForcedPass(model, source, keep=False).ranks(target)
    for step, id_ in enumerate(target):
        row = next_log_probabilities(model, source, target[:step])
        better = [i for i in range(len(row)) if i not in NEVER_WRITTEN and row[i] > row[id_]]
        assert found[step] == 1 + len(better)


def test_equal_probabilities_share_the_better_rank() -> None:
    row = torch.tensor([[0.3, 0.3, 0.0, 0.3, 0.05, 0.02, 0.02, 0.01]]).log()
    assert [ranks([id_], row)[0] for id_ in (4, 5, 6, 7)] == [1, 2, 2, 4]
    assert ranks([2], row) == (5,), "padding, <s> and <unk> are no competitors"


def test_a_beam_tells_the_steps_after_its_best_translation_too(translator: Translator) -> None:
    translation = translator.translate(TEXT, DecodingConfig(strategy="beam", beam_width=5, n_best=5))
    best = translation.best
    assert len(best.beam) >= max(len(found.ids) for found in translation.n_best)
    assert tuple(step.hypotheses for step in best.steps) == best.beam[: len(best.ids)]
    assert {found.beam for found in translation.n_best} == {best.beam}
    assert translator.translate(TEXT).best.beam == ()


def test_a_source_may_hold_more_ids_than_a_translation_and_both_are_refused_alike() -> None:
    check_ids("Source 3", [BOS_ID, 3, 10, EOS_ID], 11)
    check_ids("The translation", [4, 10, EOS_ID], 11, written=True)
    with pytest.raises(InputError, match=r"^Source 3 has id 0 at position 1: ids run from 1 to 10 \(0 is padding\)\.$"):
        check_ids("Source 3", [5, 0], 11)
    with pytest.raises(InputError, match=r"^Source 3 has id 11 at position 0"):
        check_ids("Source 3", [11], 11)
    for refused in (-1, 0, 1, 3, 11):
        with pytest.raises(InputError, match=rf"id {refused} at piece 2, which no .* are 2 and those from 4 to 10\.$"):
            check_ids("The translation", [4, refused], 11, written=True)
