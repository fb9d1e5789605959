"""Decoding: what holds for any model, any sources and any settings."""

from __future__ import annotations

import math
from itertools import chain

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model_core.config import BOS_ID, EOS_ID, PAD_ID, DecodingConfig, Norm
from model_core.model.cache import KeyValueCache
from model_core.model.masks import padding_mask
from model_core.model.points import Call
from model_core.search.decoding import Decoded, decode, teacher_forced_steps
from model_core.search.hypotheses import penalised
from model_core.search.lifted import LiftedDecoder
from tests.small_models import all_translations, greedy_reference, log_probability_of, random_source, small_model

few = settings(max_examples=15, deadline=None, derandomize=True)

seeds = st.integers(0, 999)
norms = st.sampled_from(["pre", "post"])
batches = st.lists(st.tuples(st.integers(0, 7), seeds), min_size=1, max_size=5).map(
    lambda batch: [random_source(pieces, seed) for pieces, seed in batch]
)
configs = st.one_of(
    st.just(DecodingConfig(max_length=11)),
    st.builds(
        lambda width, share, alpha: DecodingConfig(
            "beam", beam_width=width, n_best=min(width, share), length_penalty=alpha, max_length=11
        ),
        st.integers(1, 5),
        st.integers(1, 5),
        st.sampled_from([0.0, 0.6, 1.5]),
    ),
    st.builds(
        lambda temperature, top_k, top_p, seed, samples: DecodingConfig(
            "sample", temperature=temperature, top_k=top_k, top_p=top_p, seed=seed, n_best=samples, max_length=11
        ),
        st.sampled_from([0.5, 1.0, 1.5]),
        st.sampled_from([0, 2, 5]),
        st.sampled_from([0.7, 1.0]),
        seeds,
        st.integers(1, 3),
    ),
)
prefixes = st.lists(st.integers(4, 10), max_size=3)


def assert_same(left: list[list[Decoded]], right: list[list[Decoded]]) -> None:
    """The same ids everywhere, and the same numbers but for rounding."""
    assert [[one.ids for one in found] for found in left] == [[one.ids for one in found] for found in right]
    for one, other in zip(chain(*left), chain(*right), strict=True):
        assert one.finished == other.finished
        assert one.score == pytest.approx(other.score, abs=1e-4)
        assert [step.log_probability for step in one.steps] == pytest.approx(
            [step.log_probability for step in other.steps], abs=1e-4
        )
        assert [len(step.hypotheses) for step in one.steps] == [len(step.hypotheses) for step in other.steps]


@few
@given(seeds, norms, batches)
def test_cached_greedy_search_is_greedy_search_without_a_cache(seed: int, norm: Norm, sources: list[list[int]]) -> None:
    model = small_model(seed, norm=norm)
    found = decode(model, sources, DecodingConfig(max_length=11))
    assert [list(one.ids) for [one] in found] == [greedy_reference(model, source, 11) for source in sources]


@few
@given(seeds, norms, batches, st.lists(st.lists(st.integers(4, 10), min_size=5, max_size=5), min_size=5, max_size=5))
def test_steps_with_a_cache_give_the_states_of_one_whole_pass(
    seed: int, norm: Norm, sources: list[list[int]], columns: list[list[int]]
) -> None:
    model = small_model(seed, norm=norm)
    longest = max(map(len, sources))
    source = torch.tensor([ids + [PAD_ID] * (longest - len(ids)) for ids in sources])
    decoder_input = torch.tensor([[BOS_ID, *columns[row]] for row in range(len(sources))])
    with torch.inference_mode():
        whole = model.states(source, decoder_input)
        allowed = padding_mask(source, PAD_ID)
        memory = model.encode(source, allowed)
        cache, bare = KeyValueCache.empty(2), KeyValueCache.empty(2)
        model.decode(decoder_input[:, :1], memory, allowed, call=Call(cache=bare))
        step = LiftedDecoder(model)
        for position in range(6):
            newest = decoder_input[:, position : position + 1]
            states = model.decode(newest, memory, allowed, call=Call(cache=cache))
            torch.testing.assert_close(states[:, 0], whole[:, position], atol=2e-5, rtol=1e-4)
            if position:
                states = step(decoder_input[:, position], bare, allowed)
                torch.testing.assert_close(states, whole[:, position], atol=2e-5, rtol=1e-4)
        assert cache.length == bare.length == 6


@few
@given(seeds, norms, batches, configs, prefixes)
def test_a_sentences_translation_does_not_depend_on_the_batch_it_is_in(
    seed: int, norm: Norm, sources: list[list[int]], config: DecodingConfig, prefix: list[int]
) -> None:
    model = small_model(seed, norm=norm)
    together = decode(model, sources, config, prefix=prefix)
    assert_same(together, [decode(model, [source], config, prefix=prefix)[0] for source in sources])
    assert_same(together[::-1], decode(model, sources[::-1], config, prefix=prefix))


@few
@given(seeds, batches, st.integers(1, 11), prefixes)
def test_a_beam_of_one_is_greedy_search(seed: int, sources: list[list[int]], limit: int, prefix: list[int]) -> None:
    model, limit = small_model(seed), len(prefix) + limit
    greedy = decode(model, sources, DecodingConfig(max_length=limit), prefix=prefix)
    beam = decode(model, sources, DecodingConfig("beam", beam_width=1, max_length=limit), prefix=prefix)
    assert [one.ids for [one] in beam] == [one.ids for [one] in greedy]
    for [one], [other] in zip(beam, greedy, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-4)
        assert [[entry.id for entry in step.alternatives] for step in one.steps] == [
            [entry.id for entry in step.alternatives] for step in other.steps
        ]


@few
@given(seeds, batches, prefixes, st.sampled_from([{"top_k": 1}, {"top_p": 1e-9}, {"temperature": 1e-4}]))
def test_sampling_with_one_choice_is_greedy_search(
    seed: int, sources: list[list[int]], prefix: list[int], narrow: dict[str, float]
) -> None:
    model = small_model(seed)
    greedy = decode(model, sources, DecodingConfig(max_length=11), prefix=prefix)
    sample = DecodingConfig("sample", max_length=11, seed=seed, **narrow)  # type: ignore[arg-type]
    assert_same(decode(model, sources, sample, prefix=prefix), greedy)


@few
@given(seeds, batches, seeds)
def test_the_same_seed_gives_the_same_sample(seed: int, sources: list[list[int]], draw_seed: int) -> None:
    model = small_model(seed)
    config = DecodingConfig("sample", seed=draw_seed, temperature=1.5, n_best=3, max_length=11)
    first = decode(model, sources, config)
    torch.rand(7)  # the global generator has no say in it
    assert decode(model, sources, config) == first


@few
@given(seeds, norms, st.integers(1, 5), st.sampled_from([0.0, 0.6, 2.0]), st.integers(1, 3))
def test_a_beam_as_wide_as_the_search_space_finds_the_best_of_all_translations(
    seed: int, norm: Norm, pieces: int, alpha: float, limit: int
) -> None:
    vocabulary = 7  # </s> and three pieces may be written: at most 27 paths are alive
    model = small_model(seed, norm=norm, vocabulary=vocabulary)
    source = random_source(pieces, seed, vocabulary)
    scored = sorted(
        (penalised(log_probability_of(model, source, ids), len(ids), alpha), ids)
        for ids in all_translations(vocabulary, limit)
    )[::-1]
    n_best = min(3, len(scored))
    config = DecodingConfig("beam", beam_width=40, n_best=n_best, length_penalty=alpha, max_length=limit)
    [found] = decode(model, [source], config)
    assert [one.score for one in found] == pytest.approx([score for score, _ in scored[:n_best]], abs=1e-4)
    assert all(one.finished for one in found)
    assert {one.ids for one in found} <= {ids for score, ids in scored if score > scored[n_best - 1][0] - 1e-4}


@few
@given(seeds, batches, configs, prefixes)
def test_the_steps_of_a_search_are_those_of_teacher_forcing(
    seed: int, sources: list[list[int]], config: DecodingConfig, prefix: list[int]
) -> None:
    model = small_model(seed)
    for source, found in zip(sources, decode(model, sources, config, prefix=prefix), strict=True):
        for one in found:
            forced = teacher_forced_steps(model, source, one.ids, config.alternatives)
            assert [step.log_probability for step in one.steps] == pytest.approx(
                [step.log_probability for step in forced], abs=1e-4
            )
            for step, other in zip(one.steps, forced, strict=True):
                assert [entry.log_probability for entry in step.alternatives] == pytest.approx(
                    [entry.log_probability for entry in other.alternatives], abs=1e-4
                )


@few
@given(seeds, batches, configs)
def test_every_result_is_well_formed(seed: int, sources: list[list[int]], config: DecodingConfig) -> None:
    for found in decode(small_model(seed), sources, config):
        assert 1 <= len(found) <= config.n_best
        assert config.strategy == "sample" or len({one.ids for one in found}) == len(found)
        for one in found:
            assert 1 <= len(one.ids) <= 11
            assert one.finished == (one.ids[-1] == EOS_ID)
            assert one.finished or len(one.ids) == 11
            assert math.isfinite(one.log_probability) and one.log_probability <= 0.0
            assert all(id_ == EOS_ID or id_ > 3 for id_ in one.ids)
