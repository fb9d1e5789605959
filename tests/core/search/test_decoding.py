"""Decoding: what each strategy promises, on small random models and on models whose wishes are known."""

import math
import threading

import pytest
import torch

from model_core.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID, DecodingConfig
from model_core.interventions import HeadKnockout, record_attention
from model_core.model.transformer import Transformer
from model_core.search.decoding import Cancelled, decode, length_limit, teacher_forced_steps
from model_core.search.hypotheses import forbid, ranked, score_steps
from tests.small_models import log_probability_of, next_log_probabilities, random_source, row_of, small_model

EVERY_STRATEGY = [
    DecodingConfig("greedy"),
    DecodingConfig("beam", beam_width=3, n_best=3),
    DecodingConfig("sample", n_best=3, temperature=1.3, seed=5),
]
STRATEGY_NAMES = [config.strategy for config in EVERY_STRATEGY]
SOURCES = [random_source(pieces, pieces) for pieces in (5, 1, 7)]


def wishing(**wishes: float) -> Transformer:
    """A model that writes what it is told to: the bias of id `iN` is set, whatever the source is."""
    model = small_model(spread=0.0)
    with torch.no_grad():
        model.generator.bias.zero_()
        for name, wish in wishes.items():
            model.generator.bias[int(name[1:])] = wish
    return model


# --- what every strategy promises ---


@pytest.mark.parametrize("config", EVERY_STRATEGY, ids=STRATEGY_NAMES)
def test_the_numbers_of_a_translation_fit_together(config: DecodingConfig) -> None:
    model = small_model(1)
    for source, found in zip(SOURCES, decode(model, SOURCES, config), strict=True):
        assert len(found) == config.n_best
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
        for one in found:
            assert one.log_probability == pytest.approx(log_probability_of(model, source, one.ids), abs=1e-4)
            assert one.log_probability == pytest.approx(sum(step.log_probability for step in one.steps))
            assert one.score == pytest.approx(one.log_probability / ((5 + len(one.ids)) / 6) ** 0.6)
            assert tuple(step.chosen_id for step in one.steps) == one.ids
            assert one.finished == (one.ids[-1] == EOS_ID)
            assert EOS_ID not in one.ids[:-1]


@pytest.mark.parametrize("config", EVERY_STRATEGY, ids=STRATEGY_NAMES)
def test_padding_begin_and_unknown_are_never_written(config: DecodingConfig) -> None:
    model = wishing(i0=30.0, i1=20.0, i3=25.0, i7=1.0)
    for one in (one for found in decode(model, SOURCES, config) for one in found):
        offered = {entry.id for step in one.steps for entry in step.alternatives}
        weighed = {entry.id for step in one.steps for entry in step.hypotheses}
        assert not (set(one.ids) | offered | weighed) & {PAD_ID, BOS_ID, UNK_ID}
        assert one.log_probability < -20.0  # the model's own: nothing is renormalised


@pytest.mark.parametrize("config", EVERY_STRATEGY, ids=STRATEGY_NAMES)
def test_alternatives_are_the_most_probable_ids_of_each_step(config: DecodingConfig) -> None:
    model = small_model(2)
    for one in decode(model, SOURCES[:1], config)[0]:
        for count, step in enumerate(one.steps):
            row = next_log_probabilities(model, SOURCES[0], one.ids[:count])
            row[[PAD_ID, BOS_ID, UNK_ID]] = -math.inf
            values, ids = row.topk(5)
            assert [entry.id for entry in step.alternatives] == ids.tolist()
            assert [entry.log_probability for entry in step.alternatives] == pytest.approx(values.tolist(), abs=1e-5)


@pytest.mark.parametrize("config", EVERY_STRATEGY, ids=STRATEGY_NAMES)
@pytest.mark.parametrize("limit", [1, 3])
def test_a_translation_that_is_cut_says_so_and_gets_no_end(config: DecodingConfig, limit: int) -> None:
    cut = DecodingConfig(config.strategy, beam_width=3, max_length=limit)
    for found in decode(wishing(i7=40.0), SOURCES, cut):
        assert found[0].ids == (7,) * limit
        assert found[0].finished is False


@pytest.mark.parametrize("config", EVERY_STRATEGY, ids=STRATEGY_NAMES)
def test_an_empty_translation_is_just_its_end(config: DecodingConfig) -> None:
    [found] = decode(wishing(i2=40.0), SOURCES[:1], config)
    assert (found[0].ids, found[0].finished) == ((EOS_ID,), True)


def test_without_a_limit_twice_the_pieces_and_ten_may_be_written() -> None:
    found = decode(wishing(i7=40.0), SOURCES, DecodingConfig())
    assert [len(one.ids) for [one] in found] == [20, 12, 24]
    assert [length_limit(source, DecodingConfig()) for source in SOURCES] == [20, 12, 24]


@pytest.mark.parametrize("config", EVERY_STRATEGY, ids=STRATEGY_NAMES)
def test_no_sources_give_no_translations(config: DecodingConfig) -> None:
    assert decode(small_model(), [], config) == []


@pytest.mark.parametrize("config", EVERY_STRATEGY, ids=STRATEGY_NAMES)
def test_a_forced_beginning_is_kept_scored_and_explained(config: DecodingConfig) -> None:
    model = small_model(3)
    prefix = [9, 4, 9]
    for source, found in zip(SOURCES, decode(model, SOURCES, config, prefix=prefix), strict=True):
        for one in found:
            assert list(one.ids[:3]) == prefix and len(one.ids) > 3
            assert one.log_probability == pytest.approx(log_probability_of(model, source, one.ids), abs=1e-4)
            expected = teacher_forced_steps(model, source, one.ids, 5)
            for step, forced in zip(one.steps, expected, strict=True):
                assert [entry.id for entry in step.alternatives] == [entry.id for entry in forced.alternatives]


@pytest.mark.parametrize("config", EVERY_STRATEGY, ids=STRATEGY_NAMES)
def test_progress_is_shown_at_every_step(config: DecodingConfig) -> None:
    seen: list[list[list[int]]] = []
    found = decode(small_model(1), SOURCES, config, on_step=seen.append)
    assert all(len(step) == len(SOURCES) for step in seen)
    assert [len(step[0]) for step in seen[:2]] == [1, 2]
    final = [[list(one.ids) for one in of_source] for of_source in found]
    assert all(shown in translations for shown, translations in zip(seen[-1], final, strict=True))


@pytest.mark.parametrize("config", EVERY_STRATEGY, ids=STRATEGY_NAMES)
def test_a_search_can_be_stopped(config: DecodingConfig) -> None:
    stop, steps = threading.Event(), []

    def stop_after_two(ids: list[list[int]]) -> None:
        steps.append(ids)
        if len(steps) == 2:
            stop.set()

    with pytest.raises(Cancelled):
        decode(wishing(i7=40.0), SOURCES, config, on_step=stop_after_two, cancelled=stop)
    assert len(steps) == 2
    with pytest.raises(Cancelled):
        decode(wishing(i7=40.0), SOURCES, config, on_step=stop_after_two, cancelled=stop)
    assert len(steps) == 2


@pytest.mark.parametrize("config", EVERY_STRATEGY, ids=STRATEGY_NAMES)
def test_an_intervention_that_changes_nothing_changes_nothing(config: DecodingConfig) -> None:
    model, record = small_model(4), record_attention()
    plain, watched = decode(model, SOURCES, config), decode(model, SOURCES, config, interventions=record)
    assert [[one.ids for one in found] for found in plain] == [[one.ids for one in found] for found in watched]
    assert record.weights("encoder_self").shape == (2, 3, 3, 9, 9)
    assert record.weights("cross").shape[-2:] == (1, 9)  # the last step's only query


def test_an_intervention_that_takes_a_head_away_changes_the_scores() -> None:
    model = small_model(4)
    [[plain]] = decode(model, SOURCES[:1], DecodingConfig())
    [[without]] = decode(model, SOURCES[:1], DecodingConfig(), interventions=HeadKnockout("cross", 1, 2))
    assert abs(plain.steps[0].log_probability - without.steps[0].log_probability) > 1e-3


def test_decoding_leaves_gradients_and_the_global_generator_as_they_were() -> None:
    state = torch.random.get_rng_state()
    decode(small_model(1), SOURCES, EVERY_STRATEGY[2])
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    assert torch.equal(torch.random.get_rng_state(), state)


# --- what is refused ---


@pytest.mark.parametrize(
    ("sources", "config", "prefix", "message"),
    [
        ([[5, 6, 2]], DecodingConfig(), (), "Source 0 must begin with <s>"),
        ([[1, 5, 2], [1, 5, 6]], DecodingConfig(), (), "Source 1 must begin with <s>"),
        ([[]], DecodingConfig(), (), "Source 0 must begin"),
        ([[1, 5, 11, 2]], DecodingConfig(), (), "id 11 at position 2: ids run from 1 to 10"),
        ([[1, 0, 2]], DecodingConfig(), (), "id 0 at position 1"),
        ([[1, 5, 2]], DecodingConfig(), (12,), "forced beginning has id 12"),
        ([[1, 5, 2]], DecodingConfig(), (5, 2), "without <s>"),
        (
            [[1, 5, 2]],
            DecodingConfig(max_length=3),
            (5, 6, 7),
            "has 3 pieces, but .* 0 may have 3 in all, .*: raise max_length, or force no more than 2",
        ),
        ([[1, 5, 2]], DecodingConfig(n_best=3), (), "one translation, not 3"),
    ],
)
def test_impossible_requests_are_refused_in_a_sentence(
    sources: list[list[int]], config: DecodingConfig, prefix: tuple[int, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        decode(small_model(), sources, config, prefix=prefix)


def test_a_model_in_training_mode_is_refused() -> None:
    with pytest.raises(ValueError, match=r"call model\.eval\(\)"):
        decode(small_model().train(), SOURCES, DecodingConfig())
    with pytest.raises(ValueError, match=r"call model\.eval\(\)"):
        teacher_forced_steps(small_model().train(), SOURCES[0], [5], 3)


# --- scores of given ids ---


def test_teacher_forcing_scores_any_target_in_one_pass() -> None:
    model, target = small_model(6), [7, 4, 4, 10, EOS_ID]
    steps = teacher_forced_steps(model, SOURCES[2], target, 3)
    assert [step.chosen_id for step in steps] == target
    for count, step in enumerate(steps):
        row = next_log_probabilities(model, SOURCES[2], target[:count])
        assert step.log_probability == pytest.approx(float(row[step.chosen_id]), abs=1e-5)
        assert len(step.alternatives) == 3
    without_end = teacher_forced_steps(model, SOURCES[2], target[:3], 3)
    assert [step.log_probability for step in without_end] == pytest.approx(
        [step.log_probability for step in steps[:3]], abs=1e-5
    )


@pytest.mark.parametrize(("target", "message"), [([], "no pieces"), ([5, 0], "id 0 at position 1"), ([11], "id 11")])
def test_impossible_targets_are_refused(target: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        teacher_forced_steps(small_model(), SOURCES[0], target, 3)


def test_steps_name_the_chosen_id_even_if_it_is_improbable() -> None:
    rows = torch.cat((row_of(0.3, 0.5, 0.2), row_of(0.1, 0.2, 0.7)))
    steps = score_steps([6, UNK_ID], rows, 2)
    assert [step.chosen_id for step in steps] == [6, UNK_ID]
    assert [step.log_probability for step in steps] == pytest.approx([math.log(0.2), math.log(1e-9)])
    assert [[entry.id for entry in step.alternatives] for step in steps] == [[5, 4], [6, 5]]
    assert score_steps([6], rows[:1], 0)[0].alternatives == ()


def test_no_more_ids_are_ranked_than_may_be_written() -> None:
    [best] = ranked(row_of(0.3, 0.7), 50)
    assert [entry.id for entry in best] == [5, 4, EOS_ID]
    row = row_of(0.3, 0.7)
    assert forbid(row)[0].isinf().tolist() == [True, True, False, True, False, False]
    assert not row.isinf().any()
