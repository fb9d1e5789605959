"""One head taken apart: every number agrees with the trace and with the layer's own modules."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest
import torch

from model_core.building import make_model
from model_core.checkpoint import load_checkpoint, save_checkpoint
from model_core.config import ModelConfig, Norm, Sharing
from model_core.experiments.anatomy import HeadAnatomy, dissect
from model_core.experiments.sizes import part_sizes
from model_core.model.layers import DecoderLayer, EncoderLayer
from model_core.model.masks import causal_mask
from model_core.model.transformer import Transformer
from model_core.trace import SITES, Site, TraceError, TranslationTrace
from model_core.translator import Translator
from tests.small_checkpoint import small_tokenizer
from tests.small_models import randomise


def random_model(norm: Norm, sharing: Sharing = "all") -> Transformer:
    model = make_model(ModelConfig(311, 311, 3, 20, 28, 5, norm=norm, sharing=sharing), seed=3)
    randomise(model, 3, spread=2.0)
    return model.eval()


@pytest.fixture(scope="module", params=["pre", "post"])
def traced(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Transformer, TranslationTrace]:
    """A random model in either arrangement of the norm, and a trace of it: 3 layers, 5 heads, S and T differ."""
    folder: Path = tmp_path_factory.mktemp(request.param)
    save_checkpoint(
        folder, random_model(request.param), small_tokenizer(), name="small", card="", training={}, metrics={}
    )
    translator = Translator(load_checkpoint(folder))
    trace = translator.trace("How old are you?", target="Je ne parle pas français.")
    assert len(trace.source_tokens) != len(trace.decoder_input_tokens)
    return translator.checkpoint.model, trace


def layer_output(model: Transformer, trace: TranslationTrace, anatomy: HeadAnatomy) -> np.ndarray:
    """What the layer gives back `[Q, D]`, from its own forward pass over the recorded states."""
    with torch.inference_mode():
        if anatomy.site == "encoder_self":
            block = cast(EncoderLayer, model.encoder.layers[anatomy.layer])
            return block(torch.tensor(trace.encoder_states[anatomy.layer])[None], None)[0].numpy()
        states = torch.tensor(trace.decoder_states[anatomy.layer])[None]
        memory = torch.tensor(trace.encoder_states[-1])[None]
        return cast(DecoderLayer, model.decoder.layers[anatomy.layer])(
            states, memory, causal_mask(states.shape[1]), None
        )[0].numpy()


def finish_layer(model: Transformer, trace: TranslationTrace, anatomy: HeadAnatomy) -> np.ndarray:
    """The layer's sublayers after the dissected one, applied to its result."""
    with torch.inference_mode():
        result = torch.tensor(anatomy.result)[None]
        if anatomy.site == "encoder_self":
            block = cast(EncoderLayer, model.encoder.layers[anatomy.layer])
            return block.residuals[1](result, block.feed_forward)[0].numpy()
        decoder = cast(DecoderLayer, model.decoder.layers[anatomy.layer])
        memory = torch.tensor(trace.encoder_states[-1])[None]
        if anatomy.site == "decoder_self":
            result = decoder.residuals[1](result, lambda x: decoder.cross_attention(x, memory))
        return decoder.residuals[2](result, decoder.feed_forward)[0].numpy()


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize(("layer", "head"), [(0, 0), (1, 3), (2, 4)])
def test_the_weights_are_those_of_the_trace(
    traced: tuple[Transformer, TranslationTrace], site: Site, layer: int, head: int
) -> None:
    model, trace = traced
    anatomy = dissect(model, trace, site, layer, head)
    np.testing.assert_allclose(anatomy.weights, trace.maps(site).weights[layer, head], atol=1e-5)
    np.testing.assert_array_equal(anatomy.allowed, trace.maps(site).allowed)


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("layer", [0, 1, 2])
def test_the_result_is_what_the_layer_goes_on_with(
    traced: tuple[Transformer, TranslationTrace], site: Site, layer: int
) -> None:
    model, trace = traced
    anatomy = dissect(model, trace, site, layer, 1)
    wanted = layer_output(model, trace, anatomy)
    np.testing.assert_allclose(finish_layer(model, trace, anatomy), wanted, atol=1e-4)
    states = trace.encoder_states if site == "encoder_self" else trace.decoder_states
    if layer < 2:  # the last recorded state has gone through the final norm
        np.testing.assert_allclose(wanted, states[layer + 1], atol=1e-4)


def close(actual: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(actual, wanted, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("site", SITES)
def test_each_number_follows_from_those_before_it(traced: tuple[Transformer, TranslationTrace], site: Site) -> None:
    a = dissect(*traced, site, 1, 3)
    d_k = 4
    assert a.d_head == d_k and a.w_query.shape == (20, d_k)
    close(a.query, a.queries @ a.w_query + a.b_query)
    close(a.key, a.keys @ a.w_key + a.b_key)
    close(a.value, a.keys @ a.w_value + a.b_value)
    close(a.products, a.query @ a.key.T)
    close(a.scaled, a.products / 2)
    np.testing.assert_array_equal(a.masked, np.where(a.allowed, a.scaled, -np.inf))
    grown = np.exp(a.masked.astype(np.float64))
    close(a.weights, grown / grown.sum(axis=1, keepdims=True))
    close(a.head_output, a.weights @ a.value)
    close(a.heads[:, 3 * d_k : 4 * d_k], a.head_output)
    close(a.output, a.heads @ a.w_output + a.b_output)
    close(a.added, a.stream + a.output)
    assert not a.weights.flags.writeable


@pytest.mark.parametrize("site", SITES)
def test_the_input_is_the_norm_of_the_stream_only_in_the_pre_norm_arrangement(
    traced: tuple[Transformer, TranslationTrace], site: Site
) -> None:
    model, trace = traced
    a = dissect(model, trace, site, 1, 0)
    wide = a.stream.astype(np.float64)
    spread = np.sqrt(wide.var(axis=1, keepdims=True) + a.norm_epsilon)
    normed = (wide - wide.mean(axis=1, keepdims=True)) / spread * a.norm_weight + a.norm_bias
    assert a.pre_norm == (model.config.norm == "pre")
    np.testing.assert_allclose(a.queries, normed if a.pre_norm else wide, atol=1e-4)
    np.testing.assert_array_equal(a.keys, trace.encoder_states[-1] if site == "cross" else a.queries)


def test_what_is_not_there_is_refused_with_its_number(traced: tuple[Transformer, TranslationTrace]) -> None:
    model, trace = traced
    with pytest.raises(TraceError, match=r"no layer 3 .* 0 to 2"):
        dissect(model, trace, "cross", 3, 0)
    with pytest.raises(TraceError, match=r"no head -1 .* 0 to 4"):
        dissect(model, trace, "cross", 0, -1)
    with pytest.raises(TraceError, match="no site 'memory'"):
        dissect(model, trace, cast(Site, "memory"), 0, 0)
    other = make_model(ModelConfig(311, 311, 3, 30, 28, 5), seed=0).eval()
    with pytest.raises(TraceError, match="20 dimensions, the model 3 and 30"):
        dissect(other, trace, "cross", 0, 0)


def test_a_model_in_training_mode_is_refused(traced: tuple[Transformer, TranslationTrace]) -> None:
    model, trace = traced
    model.train()
    try:
        with pytest.raises(ValueError, match=r"training mode.*model\.eval"):
            dissect(model, trace, "cross", 0, 0)
    finally:
        model.eval()


@pytest.mark.parametrize("sharing", ["none", "output", "all"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_parts_sum_to_the_whole(norm: Norm, sharing: Sharing) -> None:
    model = random_model(norm, sharing)
    sizes = part_sizes(model)
    assert sum(size.own for size in sizes) == model.parameter_count()
    named = {(size.stack, size.layer, size.part): size for size in sizes}
    assert len(named) == len(sizes)
    assert named["decoder", 2, "cross-attention"].own == 4 * (20 * 20 + 20)
    assert named["encoder", 0, "feed-forward"].own == 20 * 28 + 28 + 28 * 20 + 20
    assert named["decoder", 1, "norms"].own == 3 * 2 * 20
    assert named["encoder", None, "final norm"].own == (40 if norm == "pre" else 0)
    assert named["ends", None, "generator"].shared == (0 if sharing == "none" else 311 * 20)
    assert named["ends", None, "target embedding"].shared == (311 * 20 if sharing == "all" else 0)
