"""The stages of one head: what enters and leaves each, and that every cell's origin adds up to the cell."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

from model_core.building import make_model
from model_core.checkpoint import load_checkpoint, save_checkpoint
from model_core.config import ModelConfig
from model_core.experiments.anatomy import HeadAnatomy, dissect
from model_core.experiments.sizes import part_sizes
from model_core.trace import SITES, Site, TranslationTrace
from model_core.translator import Translator
from tests.small_checkpoint import small_tokenizer
from tests.small_models import randomise
from viz.panels.inside.files import shown_csv, table_csv
from viz.panels.inside.labels import Labels, labels_of, shape_sentence
from viz.panels.inside.model import size_table, stacks_of
from viz.panels.inside.stages import PROJECTIONS, STAGES, stage_at

Anatomies = dict[Site, tuple[HeadAnatomy, Labels]]


@pytest.fixture(scope="module", params=["pre", "post"])
def traced(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Translator, TranslationTrace]:
    model = make_model(ModelConfig(311, 311, 3, 20, 28, 5, norm=request.param), seed=3)
    randomise(model, 3, spread=2.0)
    folder: Path = tmp_path_factory.mktemp(request.param)
    save_checkpoint(folder, model.eval(), small_tokenizer(), name="small", card="", training={}, metrics={})
    translator = Translator(load_checkpoint(folder))
    return translator, translator.trace("How old are you?", target="Je ne parle pas français.")


@pytest.fixture(scope="module")
def anatomies(traced: tuple[Translator, TranslationTrace]) -> Anatomies:
    translator, trace = traced
    model = translator.checkpoint.model
    return {site: (dissect(model, trace, site, 1, 3), labels_of(trace, site, 20, 4)) for site in SITES}


@pytest.mark.parametrize("site", SITES)
def test_labels_fit_every_matrix_of_every_stage(anatomies: Anatomies, site: Site) -> None:
    a, labels = anatomies[site]
    for index in range(len(STAGES)):
        for projection in PROJECTIONS:
            for shown in stage_at(index, a, labels, projection).matrices:
                assert shown.values.shape == (len(shown.rows), len(shown.columns)), shown.name


@pytest.mark.parametrize("site", SITES)
def test_what_leaves_a_stage_is_what_enters_the_next(anatomies: Anatomies, site: Site) -> None:
    a, labels = anatomies[site]
    results = {name: stage_at(index, a, labels).result.values for index, name in enumerate(STAGES)}
    for name, expected in {
        "X": a.queries, "W": a.w_value, "Q, K, V": a.query, "QKᵀ": a.products, "÷ √d": a.scaled, "Mask": a.masked,
        "Softmax": a.weights, "× V": a.head_output, "Concat": a.heads, "W_O": a.output, "Residual": a.result,
    }.items():  # fmt: skip
        np.testing.assert_array_equal(results[name], expected)


@pytest.mark.parametrize("site", SITES)
def test_the_terms_of_a_cell_add_up_to_it(anatomies: Anatomies, site: Site) -> None:
    a, labels = anatomies[site]
    biases = {"Q": a.b_query, "K": a.b_key, "V": a.b_value, "Output": a.b_output}
    seen = 0
    for index in range(len(STAGES)):
        for projection in PROJECTIONS:
            stage = stage_at(index, a, labels, projection)
            if stage.origin is None:
                continue
            row, column = 2, 1
            origin, cell = stage.origin(row, column), stage.result.values[row, column]
            if origin.bars is None or stage.result.name == "Weights":
                continue
            bias = biases[stage.result.name][column] if stage.result.name in biases else 0.0
            scale = float(np.abs(origin.bars).sum())
            assert abs(origin.bars.sum() + bias - cell) < 1e-6 * scale + 1e-5, stage.result.name
            np.testing.assert_allclose(origin.table["product"], origin.bars)
            left, right = (np.asarray(values, dtype=float) for values in list(origin.table.values())[1:3])
            np.testing.assert_allclose(left * right, origin.bars, atol=1e-12)
            assert len(origin.labels) == len(origin.bars)
            seen += 1
    assert seen == 3 + 3 * 3, "Q, K and V; three times QKᵀ, × V and W_O"


@pytest.mark.parametrize("site", SITES)
def test_exponentials_give_the_weight(anatomies: Anatomies, site: Site) -> None:
    a, labels = anatomies[site]
    stage = stage_at(STAGES.index("Softmax"), a, labels)
    assert stage.origin is not None
    origin = stage.origin(2, 1)
    assert origin.bars is not None and origin.marked == 1
    assert origin.bars[1] / origin.bars.sum() == pytest.approx(a.weights[2, 1], abs=1e-6)
    if site == "decoder_self":
        assert (origin.bars[3:] == 0.0).all(), "what is masked has no share"


def last_number(line: str) -> float:
    return float(re.findall(r"[−-]?\d[\d.e−-]*\d|\d", line)[-1].replace("−", "-"))


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("name", ["X", "÷ √d", "Residual"])
def test_equations_end_at_the_cell(anatomies: Anatomies, site: Site, name: str) -> None:
    a, labels = anatomies[site]
    stage = stage_at(STAGES.index(name), a, labels)
    if name == "X" and not a.pre_norm:
        assert stage.origin is None, "nothing is computed where the head reads the stream as it is"
        return
    assert stage.origin is not None
    lines = stage.origin(1, 2).lines
    cell = float(stage.result.values[1, 2])
    assert last_number(lines[-2]) == pytest.approx(cell, rel=1e-4, abs=1e-5)
    assert last_number(lines[-1].rstrip(".")) == pytest.approx(cell, rel=1e-5)


def test_the_mask_says_why(anatomies: Anatomies) -> None:
    index = STAGES.index("Mask")
    later = stage_at(index, *anatomies["decoder_self"]).origin
    whole = stage_at(index, *anatomies["encoder_self"]).origin
    assert later is not None and whole is not None
    assert "Key 3 comes after query 2" in later(1, 2).lines[0] and "exactly 0" in later(1, 2).lines[1]
    assert "does not come after" in later(2, 1).lines[0]
    assert "no padding" in whole(1, 2).lines[0]
    a = anatomies["decoder_self"][0]
    assert f"{int((~a.allowed).sum())} of {a.allowed.size}" in stage_at(index, *anatomies["decoder_self"]).sentence


def test_a_dimension_of_the_concatenation_names_its_head(anatomies: Anatomies) -> None:
    stage = stage_at(STAGES.index("Concat"), *anatomies["cross"])
    assert stage.origin is not None
    assert "dimension 3 of head 4, the chosen head" in stage.origin(0, 14).lines[0]
    assert "dimension 4 of head 3, another head" in stage.origin(0, 11).lines[0]


def test_the_shapes_are_put_into_words(traced: tuple[Translator, TranslationTrace]) -> None:
    _, trace = traced
    source, target = len(trace.source_tokens), len(trace.decoder_input_tokens)
    sentence = shape_sentence(trace, "encoder_self", 20, 5)
    assert sentence == f"{source - 2} tokens + 2 specials: X is {source} × 20, five heads of {source} × 4."
    sentence = shape_sentence(trace, "cross", 20, 5)
    assert f"{target - 1} tokens + 1 special in the decoder: X is {target} × 20." in sentence
    assert f"the memory is {source} × 20" in sentence and f"{target} × 4 (Q) and {source} × 4 (K and V)" in sentence


def test_files_hold_every_number(anatomies: Anatomies) -> None:
    a, labels = anatomies["cross"]
    stage = stage_at(STAGES.index("QKᵀ"), a, labels)
    rows = list(csv.reader(io.StringIO(shown_csv(stage.result))))
    numbers = np.array([[float(value) for value in row[2:]] for row in rows[2:]])
    np.testing.assert_allclose(numbers, a.products, rtol=1e-7)
    assert rows[1][2:] == list(labels.keys) and [row[1] for row in rows[2:]] == list(labels.queries)
    assert stage.origin is not None
    terms = list(csv.DictReader(io.StringIO(table_csv(stage.origin(2, 1)))))
    assert sum(float(term["product"]) for term in terms) == pytest.approx(a.products[2, 1], abs=1e-4)


def test_the_diagram_and_the_table_count_every_parameter_once(traced: tuple[Translator, TranslationTrace]) -> None:
    translator, trace = traced
    sizes, model = part_sizes(translator.checkpoint.model), translator.checkpoint.model
    table = size_table(sizes)
    numbers = [int(str(value)) for value in table["parameters"]]
    assert sum(numbers[:-1]) == numbers[-1] == model.parameter_count()
    titles = [f"Encoder: {len(trace.source_tokens)} tokens", f"Decoder: {len(trace.decoder_input_tokens)} tokens"]
    rows = [str(len(trace.source_tokens)), str(len(trace.decoder_input_tokens))]
    encoder, decoder = stacks_of(sizes, titles, rows, translator.config)
    assert encoder.shape == f"{len(trace.source_tokens)} × 20" and decoder.shape != encoder.shape
    assert [[block.site for block in layer] for layer in decoder.layers] == [["decoder_self", "cross", None]] * 3
    blocks = [*encoder.before, *encoder.after, *decoder.before, *decoder.after]
    blocks += [block for stack in (encoder, decoder) for layer in stack.layers for block in layer]
    norms = sum(size.own for size in sizes if size.part == "norms")
    assert sum(block.count for block in blocks) + norms == model.parameter_count()
