"""The front door: what a notebook types first works as it is typed."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import model_core
from model_core import DecodingConfig, TranslationTrace, Translator, load, make_model
from model_core.checkpoint import CheckpointError, load_checkpoint
from model_core.checkpoint.shipped import find_checkpoint
from model_core.config import ConfigError
from model_core.model.transformer import Transformer
from model_core.shipped import shipped_folder
from model_core.text.source import EmptyInput, InputError
from model_core.translation import Translation
from tests.small_checkpoint import SENTENCES, save_small

TEXT, OTHER = "How old are you?", "I don't speak French."
SEARCHES = [
    {},
    {"beam": 3, "n_best": 3},
    {"temperature": 0.8, "seed": 7, "n_best": 2},
    {"beam": 3, "length_penalty": 0.0, "max_length": 7},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_small(tmp_path_factory.mktemp("front") / "small")


@pytest.fixture(scope="module")
def translator(folder: Path) -> Translator:
    return load(str(folder))


# --- names ---


def test_the_front_door_is_light_until_something_heavy_is_asked_for(repository: Path) -> None:
    code = (
        "import sys, model_core; from model_core import DecodingConfig, ModelConfig, TranslationTrace;"
        "assert 'torch' not in sys.modules, 'torch'; from model_core import load, make_model, Translator;"
        "assert 'torch' in sys.modules; print(sorted(set(model_core.__all__) - set(dir(model_core))))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_every_name_of_the_front_door_is_there_and_no_other() -> None:
    for name in model_core.__all__:
        assert getattr(model_core, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'translate_everything'"):
        _ = model_core.translate_everything  # type: ignore[attr-defined]


def test_a_shipped_checkpoint_is_found_by_its_name_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    translator = load("copy")
    assert translator.checkpoint.name == "copy" and translator.translate("b a d").text == "b a d"
    assert (
        find_checkpoint("en-fr") == shipped_folder() / "checkpoints" / "en-fr" == repository / "checkpoints" / "en-fr"
    )
    with pytest.raises(CheckpointError, match=r"en-xx.config\.json is missing.*copy, en-fr"):
        load("en-xx")
    for outside in ("..", "../secret", Path("en-fr")):  # a path is a path, never a shipped name
        with pytest.raises(CheckpointError, match=r"config\.json is missing"):
            load(outside)


def test_a_folder_comes_before_a_shipped_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_small(tmp_path / "copy")
    monkeypatch.chdir(tmp_path)
    assert load("copy").checkpoint.name == "small"


def test_a_model_is_made_from_the_front_door() -> None:
    assert isinstance(make_model(model_core.ModelConfig(layers=1, d_model=16, d_ff=20, heads=2)), Transformer)


# --- searches by keyword ---


@pytest.mark.parametrize(
    ("options", "config"),
    [
        ({}, DecodingConfig()),
        ({"beam": 5}, DecodingConfig("beam", beam_width=5)),
        ({"beam": 1}, DecodingConfig("greedy", beam_width=1)),
        ({"temperature": 0.8}, DecodingConfig("sample", temperature=0.8)),
        ({"top_k": 3, "seed": 5}, DecodingConfig("sample", top_k=3, seed=5)),
        ({"strategy": "beam"}, DecodingConfig("beam")),
        ({"strategy": "sample"}, DecodingConfig("sample")),
        ({"max_length": 3}, DecodingConfig(max_length=3)),
    ],
)
def test_keywords_say_the_same_as_a_config(translator: Translator, options: dict, config: DecodingConfig) -> None:
    found = translator.translate(TEXT, **options)
    assert found.decoding == config
    assert found.text == translator.translate(TEXT, config).text
    trace = translator.trace(TEXT, **options)
    assert (trace.strategy, trace.target_text) == (config.strategy, found.text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam": 5, "temperature": 0.8}, "width of 5 asks for beam search, but temperature for sampling"),
        ({"strategy": "greedy", "beam": 5}, 'beam would have no effect on a search with strategy "greedy"'),
        ({"strategy": "beam", "top_k": 5, "seed": 1}, "top_k and seed would have no effect"),
        ({"strategy": "sample", "beam": 5}, "beam would have no effect"),
        ({"decoding": DecodingConfig(), "beam": 5}, "either a DecodingConfig or the keywords beam"),
        ({"beam": 65}, "beam_width must be 1 to 64, not 65"),
    ],
)
def test_contradicting_keywords_are_refused_in_a_sentence(translator: Translator, options: dict, message: str) -> None:
    for ask in (translator.translate, translator.trace):
        with pytest.raises(ConfigError, match=message):
            ask(TEXT, **options)


def test_an_unknown_keyword_is_named(translator: Translator) -> None:
    with pytest.raises(TypeError, match="no option bean; the options of a search are strategy, beam"):
        translator.translate(TEXT, bean=5)  # type: ignore[call-overload]


# --- several texts ---


@pytest.mark.parametrize("options", SEARCHES)
def test_a_list_gives_each_text_what_it_gets_alone(translator: Translator, options: dict) -> None:
    alone, together = (
        [translator.translate(text, **options) for text in SENTENCES],
        translator.translate(SENTENCES, **options),
    )
    assert [one.text for one in together] == [one.text for one in alone]
    for one, other in zip(together, alone, strict=True):
        assert (one.source, one.decoding) == (other.source, other.decoding)
        assert [found.ids for found in one.n_best] == [found.ids for found in other.n_best]
        for found, wanted in zip(one.n_best, other.n_best, strict=True):
            assert found.score == pytest.approx(wanted.score, abs=1e-4)


@pytest.mark.parametrize("options", SEARCHES)
def test_traces_of_a_list_are_those_of_its_texts(translator: Translator, options: dict) -> None:
    traces = translator.trace((TEXT, OTHER, TEXT), **options)
    for text, trace in zip((TEXT, OTHER, TEXT), traces, strict=True):
        alone = translator.trace(text, **options)
        assert (trace.source_text, trace.target_text, trace.strategy) == (text, alone.target_text, alone.strategy)
        assert trace.score == pytest.approx(alone.score, abs=1e-4)
        assert abs(trace.cross.weights - alone.cross.weights).max() < 1e-5


def test_each_text_of_a_list_has_its_own_target(translator: Translator) -> None:
    traces = translator.trace([TEXT, OTHER], target=["Quel âge as-tu ?", [5, 6, 7]])
    assert traces[0].target_text == "Quel âge as-tu ?"
    assert [token.id for token in traces[1].predicted_tokens] == [5, 6, 7, 2]
    for target in ("Quel âge", ["Quel âge"], []):
        count = 1 if target else 0
        with pytest.raises(InputError, match=f"2 texts but {count} targets"):
            translator.trace([TEXT, OTHER], target=target)


def test_no_text_gives_no_translation_and_a_bad_one_is_numbered(translator: Translator) -> None:
    assert translator.translate([]) == [] and translator.trace([]) == []
    with pytest.raises(EmptyInput, match="Sentence 2 is empty"):
        translator.translate([TEXT, " "])
    with pytest.raises(InputError, match="one sentence only"):
        translator.translate([TEXT], on_text=print)  # type: ignore[call-overload]


# --- a beginning ---


@pytest.mark.parametrize("options", SEARCHES)
def test_a_beginning_is_text_as_well_as_ids(translator: Translator, options: dict) -> None:
    ids = translator.tokenizer.encode("La gare")
    for prefix in ("La gare", ids, tuple(ids)):
        found = translator.translate([TEXT, OTHER], prefix=prefix, **options)
        assert [one.text for one in found] == [
            translator.translate(text, prefix="La gare", **options).text for text in (TEXT, OTHER)
        ]
        assert all(one.prefix == tuple(ids) == one.best.ids[: len(ids)] for one in found)
    with pytest.raises(EmptyInput, match="The beginning is empty"):
        translator.translate(TEXT, prefix=" ")


# --- what is printed ---


def test_a_translation_prints_as_its_text(translator: Translator, capsys: pytest.CaptureFixture[str]) -> None:
    found = translator.translate(TEXT, beam=3)
    print(found)
    assert capsys.readouterr().out == f"{found.text}\n"
    assert isinstance(found, Translation) and len(repr(found)) < 300 and repr(found.text) in repr(found)


def test_reprs_are_a_few_lines(translator: Translator) -> None:
    trace = translator.trace(TEXT, beam=3)
    assert isinstance(trace, TranslationTrace) and len(repr(trace).splitlines()) == 4 and len(repr(trace)) < 500
    assert repr(TEXT) in repr(trace) and repr(trace.target_text) in repr(trace)
    queries, keys = len(trace.predicted_tokens), len(trace.source_tokens)
    assert repr(trace.cross) == f"<AttentionMaps cross: 3 layers, 5 heads, {queries} queries, {keys} keys>"
    assert repr(load("copy").checkpoint).startswith("<Checkpoint copy@6cafad6cb34b: copies letters\n")
    assert repr(translator.checkpoint).splitlines()[0] == f"<Checkpoint {translator.checkpoint.id}: translates"
    assert "cpu" in repr(translator) and translator.checkpoint.id in repr(translator) and len(repr(translator)) < 500


def test_a_checkpoint_names_its_languages() -> None:
    assert load_checkpoint(find_checkpoint("en-fr")).about.summary == "translates from English to French"


# --- devices and paths ---


def test_a_translator_moves_and_a_device_that_is_not_there_is_named(folder: Path) -> None:
    translator = load(folder)
    before = translator.translate(TEXT).text
    assert translator.to("cpu") is translator and translator.to(torch.device("cpu")).translate(TEXT).text == before
    with pytest.raises(ConfigError, match="The model can't be moved to 'abacus'"):
        translator.to("abacus")


def test_paths_are_text_everywhere(tmp_path: Path, translator: Translator) -> None:
    file = str(tmp_path / "x.trace")
    translator.trace(TEXT).save(file)
    assert TranslationTrace.load(file).source_text == TEXT
