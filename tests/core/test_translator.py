"""The translator: what it finds, what it records, and that nobody gets in another's way."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from model_core.checkpoint import CheckpointError
from model_core.config import BOS_ID, EOS_ID, DecodingConfig
from model_core.interventions import ForcedAlignment, HeadKnockout, make_call, record_attention
from model_core.model.cache import KeyValueCache
from model_core.search.decoding import decode
from model_core.trace import SITES, AttentionMaps, Site, TranslationTrace
from model_core.translator import Cancelled, EmptyInput, InputError, Translator
from tests.small_checkpoint import SENTENCES

TEXT, TARGET = "How old are you?", "Quel âge as-tu ?"
BEAM = DecodingConfig(strategy="beam", beam_width=3, n_best=3)


def all_weights(trace: TranslationTrace) -> list[np.ndarray]:
    return [trace.maps(site).weights for site in SITES]


# --- what is asked for ---


@pytest.mark.parametrize("text", ["", "\x00"])
def test_nothing_is_told_from_something_wrong(translator: Translator, text: str) -> None:
    for ask in (translator.translate, translator.trace):
        with pytest.raises(EmptyInput, match="The sentence is empty"):
            ask(text)
    with pytest.raises(EmptyInput, match="The translation is empty"):
        translator.trace(TEXT, target=text)


def test_too_much_is_told_with_its_number(translator: Translator) -> None:
    pieces = len(translator.tokenizer.encode("you? " * 31))
    with pytest.raises(InputError, match=f"The sentence has {pieces} pieces; at most 31"):
        translator.trace("you? " * 31)
    with pytest.raises(InputError, match=f"The translation has {pieces} pieces; at most 31"):
        translator.trace(TEXT, target="you? " * 31)


def test_a_folder_without_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"config\.json is missing"):
        Translator.load(tmp_path)


# --- what is found ---


@pytest.mark.parametrize("decoding", [DecodingConfig(), BEAM, DecodingConfig(strategy="sample", seed=7)])
def test_a_translation_is_what_the_search_finds(translator: Translator, decoding: DecodingConfig) -> None:
    translation = translator.translate(TEXT, decoding)
    wanted = decode(translator.checkpoint.model, [translation.source.ids], decoding)[0]
    assert [found.ids for found in translation.n_best] == [found.ids for found in wanted]
    assert translation.best is translation.n_best[0]
    assert translation.text == translator.tokenizer.decode(wanted[0].ids)
    assert translation.decoding == decoding and translation.source.text == TEXT


def test_the_translation_is_told_as_it_grows(translator: Translator) -> None:
    told: list[str] = []
    translation = translator.translate(TEXT, on_text=told.append)
    ids = translation.best.ids
    assert told == [translator.tokenizer.decode(ids[:count]) for count in range(1, len(ids) + 1)]


def test_a_search_can_be_stopped(translator: Translator) -> None:
    stop, told = threading.Event(), []

    def hear(text: str) -> None:
        told.append(text)
        if len(told) == 3:
            stop.set()

    with pytest.raises(Cancelled):
        translator.translate(TEXT, on_text=hear, cancelled=stop)
    assert len(told) == 3


# --- what is recorded ---


def stepwise(translator: Translator, trace: TranslationTrace) -> dict[Site, np.ndarray]:
    """The attention of a trace's sentence with a key/value cache, one target token at a time: `[L, H, Q, K]`."""
    model, first = translator.checkpoint.model, record_attention(["encoder_self"])
    source = torch.tensor([[token.id for token in trace.source_tokens]])
    cache = KeyValueCache.empty(model.config.layers)
    rows: dict[Site, list[np.ndarray]] = {"decoder_self": [], "cross": []}
    with torch.inference_mode():
        memory = model.encode(source, call=make_call(model.config, first))
        for token in trace.decoder_input_tokens:
            record = record_attention()
            model.decode(torch.tensor([[token.id]]), memory, call=make_call(model.config, record, cache))
            for site, kept in rows.items():
                row = record.weights(site)[:, 0].numpy()
                wanted = trace.maps(site).weights.shape[-1]
                kept.append(np.pad(row, [(0, 0)] * 3 + [(0, wanted - row.shape[-1])]))
    found: dict[Site, np.ndarray] = {"encoder_self": first.weights("encoder_self")[:, 0].numpy()}
    found.update({site: np.concatenate(kept, axis=2) for site, kept in rows.items()})
    return found


@pytest.mark.parametrize("target", [None, TARGET])
def test_one_recorded_pass_equals_attention_step_by_step(translator: Translator, target: str | None) -> None:
    trace = translator.trace(TEXT, target=target)
    for site, weights in stepwise(translator, trace).items():
        np.testing.assert_allclose(trace.maps(site).weights, weights, atol=1e-5, rtol=0, err_msg=site)


def test_a_trace_says_what_it_is_of(translator: Translator) -> None:
    trace, tokenizer = translator.trace(TEXT, target=TARGET), translator.tokenizer
    pieces = tokenizer.encode(TARGET)
    assert (trace.source_text, trace.target_text, trace.strategy) == (TEXT, TARGET, "forced")
    assert [token.id for token in trace.source_tokens] == [BOS_ID, *tokenizer.encode(TEXT), EOS_ID]
    assert [token.id for token in trace.decoder_input_tokens] == [BOS_ID, *pieces]
    assert [token.id for token in trace.predicted_tokens] == [*pieces, EOS_ID]
    assert trace.checkpoint == translator.checkpoint.id
    assert trace.encoder_states.shape == (4, len(trace.source_tokens), 20)
    assert trace.decoder_states.shape == (4, len(pieces) + 1, 20)
    for site in SITES:
        assert trace.maps(site).weights.shape[:2] == (3, 5)
        np.testing.assert_allclose(trace.maps(site).weights.sum(axis=-1), 1.0, atol=1e-6)
    assert trace.score == trace.log_probability == sum(step.log_probability for step in trace.decoding)


def test_a_mask_is_the_sites_own_and_masked_cells_are_zero(translator: Translator) -> None:
    trace = translator.trace(TEXT, target=TARGET)
    maps: AttentionMaps = trace.decoder_self
    size = len(trace.predicted_tokens)
    np.testing.assert_array_equal(maps.allowed, np.tril(np.ones((size, size), dtype=bool)))
    assert (maps.weights[..., ~maps.allowed] == 0.0).all() and (maps.weights[..., maps.allowed] > 0.0).all()
    assert trace.cross.allowed.all() and trace.encoder_self.allowed.all()


def test_the_last_states_are_those_the_generator_reads(translator: Translator) -> None:
    trace, model = translator.trace(TEXT, target=TARGET), translator.checkpoint.model
    with torch.inference_mode():
        scores = model.generator(torch.tensor(trace.decoder_states[-1]))
    for row, step in zip(scores, trace.decoding, strict=True):
        assert step.log_probability == pytest.approx(float(row[step.chosen_id]), abs=1e-5)
        assert len(step.alternatives) == 5
    embedded = model.embed(model.source_embedding, torch.tensor([[token.id for token in trace.source_tokens]]))
    np.testing.assert_allclose(trace.encoder_states[0], embedded[0].detach().numpy(), atol=1e-6)


@pytest.mark.parametrize("decoding", [DecodingConfig(), BEAM, DecodingConfig(strategy="sample", seed=7)])
def test_a_replay_confirms_the_search(translator: Translator, decoding: DecodingConfig) -> None:
    translation = translator.translate(TEXT, decoding)
    for rank, found in enumerate(translation.n_best):
        trace = translator.replay(translation, rank)
        assert tuple(step.chosen_id for step in trace.decoding[: len(found.ids)]) == found.ids
        assert trace.strategy == decoding.strategy
        if found.finished:
            assert trace.log_probability == pytest.approx(found.log_probability, abs=1e-4)
            assert trace.score == pytest.approx(found.score, abs=1e-4)
        for step, searched in zip(trace.decoding, found.steps, strict=False):
            assert step.log_probability == pytest.approx(searched.log_probability, abs=1e-4)
            assert step.hypotheses == searched.hypotheses
            assert bool(step.hypotheses) == (decoding.strategy == "beam")


@pytest.mark.parametrize("strategy", ["greedy", "beam"])
def test_a_translation_that_was_cut_off_is_recorded_with_the_end_that_it_missed(
    translator: Translator, strategy: str
) -> None:
    decoding = DecodingConfig(strategy=strategy, beam_width=3, max_length=3)  # type: ignore[arg-type]
    translation = next(found for text in SENTENCES if not (found := translator.translate(text, decoding)).best.finished)
    trace = translator.replay(translation)
    assert len(translation.best.ids) == 3 and len(trace.predicted_tokens) == 4
    assert tuple(token.id for token in trace.predicted_tokens) == (*translation.best.ids, EOS_ID)
    assert trace.decoding[-1].hypotheses == ()
    assert TranslationTrace.from_bytes(trace.to_bytes()).target_text == translation.text


# --- what an intervention changes ---


@pytest.mark.parametrize("site", SITES)
def test_a_head_that_is_knocked_out_is_recorded_so_and_changes_what_follows(translator: Translator, site: Site) -> None:
    plain = translator.trace(TEXT, target=TARGET)
    changed = translator.trace(TEXT, target=TARGET, interventions=HeadKnockout(site, 1, 2))
    weights, before = changed.maps(site).weights, plain.maps(site).weights
    assert (weights[1, 2] == 0.0).all() and (before[1, 2].sum(axis=-1) > 0.99).all()
    np.testing.assert_allclose(weights[0], before[0], atol=1e-6)
    np.testing.assert_allclose(weights[1, [0, 1, 3, 4]], before[1, [0, 1, 3, 4]], atol=1e-6)
    assert np.abs(weights[2] - before[2]).max() > 1e-4
    assert changed.log_probability != plain.log_probability


def test_an_intervention_acts_on_the_search_too(translator: Translator) -> None:
    knockouts = [HeadKnockout("cross", layer, head) for layer in range(3) for head in range(5)]
    found = [translator.translate(TEXT, interventions=knockout).best for knockout in knockouts]
    assert any(one.ids != translator.translate(TEXT).best.ids for one in found)
    for knockout, one in zip(knockouts, found, strict=True):
        trace = translator.trace(TEXT, interventions=knockout)
        steps = trace.decoding[: len(one.ids)]
        assert tuple(step.chosen_id for step in steps) == one.ids
        assert sum(step.log_probability for step in steps) == pytest.approx(one.log_probability, abs=1e-4)


def test_a_forced_alignment_with_a_target_changes_its_row_only(translator: Translator) -> None:
    plain = translator.trace(TEXT, target=TARGET)
    changed = translator.trace(TEXT, target=TARGET, interventions=ForcedAlignment("cross", 0, 3, 2))
    row = changed.cross.weights[0, :, 3]
    assert (row[:, 2] == 1.0).all() and (np.delete(row, 2, axis=-1) == 0.0).all()
    np.testing.assert_allclose(changed.cross.weights[:, :, :3], plain.cross.weights[:, :, :3], atol=1e-6)


# --- many at once ---


def test_threads_share_one_translator(translator: Translator) -> None:
    """Each thread gets what it would get alone."""

    def work(text: str) -> TranslationTrace:
        assert torch.is_grad_enabled()  # the thread's own mode, which the translator leaves alone
        trace = translator.trace(text, decoding=BEAM)
        assert torch.is_grad_enabled()
        return trace

    alone = [work(text) for text in SENTENCES]
    with ThreadPoolExecutor(5) as pool:
        together = list(pool.map(work, SENTENCES * 5))
    for number, trace in enumerate(together):
        wanted = alone[number % len(SENTENCES)]
        assert (trace.target_text, trace.score) == (wanted.target_text, wanted.score)
        for mine, other in zip(all_weights(trace), all_weights(wanted), strict=True):
            np.testing.assert_array_equal(mine, other)


def test_a_trace_cannot_change_the_model_or_another_trace(translator: Translator) -> None:
    before = [parameter.clone() for parameter in translator.checkpoint.model.parameters()]
    trace = translator.trace(TEXT, target=TARGET)
    for array in (*all_weights(trace), trace.encoder_states, trace.decoder_states):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0
    assert all(
        torch.equal(now, then) for now, then in zip(translator.checkpoint.model.parameters(), before, strict=True)
    )
