"""A run in its folder: signals, settings that may not change, where a tokenizer and a start come from."""

import json
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model_core.building import make_model
from model_core.checkpoint import load_checkpoint, read_config, read_file
from model_core.config import TrainingConfig
from model_core.data.corpus import CorpusError
from model_core.training.run import SettingsError, StopOnSignal, check_settings, run_task, write_settings
from model_core.training.state import Progress
from model_core.training.translation_run import train_corpus
from tests.small_checkpoint import SENTENCES, SHAPE, save_small, small_tokenizer
from tests.training import small_task

CONFIG = TrainingConfig(
    steps=4, warmup_steps=2, tokens_per_batch=100, validate_every=2, save_every=2, precision="fp32", seed=7
)
PAIRS = [*zip(SENTENCES[:4], SENTENCES[4:], strict=True), ("We were here yesterday.", "Nous étions là hier, bien sûr.")]
LINES = "".join(f"{source}\t{target}\tCC-BY\n" for source, target in PAIRS * 7)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text(LINES, encoding="utf-8")
    return path


def train(corpus: Path, out: Path, shape: object = SHAPE, **options: object) -> Progress:
    options = {"config": CONFIG, **options}
    return train_corpus(corpus, corpus, out, shape, **options)  # type: ignore[arg-type]


# --- signals ---


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_and_the_second_interrupts(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    before, asked = signal.getsignal(number), []
    with StopOnSignal(lambda: asked.append(True)):
        os.kill(os.getpid(), number)
        assert asked == [True]
        assert "the same command goes on" in capsys.readouterr().err
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


def test_a_thread_that_is_not_the_main_one_leaves_signals_alone() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with StopOnSignal(lambda: None):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_a_signal_stops_a_run_after_its_step_and_saves(tmp_path: Path) -> None:
    def signal_at_2(model: object, result: object, progress: Progress) -> None:
        if progress.step == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    def go_on(after_step: Callable[[object, object, Progress], None] | None) -> Progress:
        model = make_model(small_task.SHAPE, seed=3)
        return run_task(
            small_task.SmallTask(), model, small_tokenizer(), small_task.CONFIG, tmp_path,
            name="small", summary="", after_step=after_step,
        )  # fmt: skip

    assert go_on(signal_at_2).step == 2
    assert not (tmp_path / "config.json").exists()
    assert go_on(None).step == small_task.CONFIG.steps


# --- what a run leaves ---


def test_a_training_on_pairs_leaves_a_whole_checkpoint(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert train(corpus, out).step == 4
    config, checkpoint = read_config(out), load_checkpoint(out)
    assert checkpoint.name == "run" and checkpoint.model.config == SHAPE
    assert set(checkpoint.metrics["validation"]) == {"validation_loss", "token_accuracy", "bleu", "chrf"}
    assert checkpoint.training["config"]["steps"] == 4 and checkpoint.training["target_tokens"] > 0
    assert "log.csv" in config["sha256"]
    for file in config["sha256"]:
        read_file(out, file, config)
    assert checkpoint.tokenizer.serialized == (out / "training" / "tokenizer.model").read_bytes()
    assert "Trained on pairs.tsv." in (out / "README.md").read_text(encoding="utf-8")


def test_a_name_comes_from_the_folder_whatever_it_is_called(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    train(corpus, Path())
    assert load_checkpoint(tmp_path / "here").name == "here"


# --- what may not change ---


def test_a_run_goes_on_with_the_same_settings_and_another_dropout(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    train(corpus, out)
    tokenizer = (out / "training" / "tokenizer.model").read_bytes()
    progress = train(corpus, out, replace(SHAPE, dropout=0.3), config=replace(CONFIG, steps=6))
    assert progress.step == 6
    assert (out / "training" / "tokenizer.model").read_bytes() == tokenizer
    assert load_checkpoint(out).training["config"]["steps"] == 6


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"layers": 2}, "layers was 3, now 2"),
        ({"norm": "post"}, "norm was 'pre', now 'post'"),
        ({"source_vocabulary": 300, "target_vocabulary": 300}, "source_vocabulary was 311, now 300"),
    ],
)
def test_a_run_does_not_go_on_with_another_model(
    corpus: Path, tmp_path: Path, changes: dict[str, object], told: str
) -> None:
    out = tmp_path / "run"
    train(corpus, out)
    before = (out / "training" / "model.json").read_bytes()
    with pytest.raises(SettingsError, match=rf"{told}.*choose another --out folder"):
        train(corpus, out, replace(SHAPE, **changes))  # type: ignore[arg-type]
    assert (out / "training" / "model.json").read_bytes() == before


@pytest.mark.parametrize("data", [b"", b"{", b"[3]", b"3"])
def test_settings_that_cannot_be_read_are_told(tmp_path: Path, data: bytes) -> None:
    write_settings(tmp_path, SHAPE, {"seed": 3})
    (tmp_path / "training" / "model.json").write_bytes(data)
    with pytest.raises(SettingsError, match=r"model\.json can't be read"):
        check_settings(tmp_path, SHAPE, {"seed": 3})


def test_settings_come_back(tmp_path: Path) -> None:
    check_settings(tmp_path, SHAPE, {"seed": 3})  # a new folder takes any
    write_settings(tmp_path, SHAPE, {"seed": 3})
    check_settings(tmp_path, replace(SHAPE, attention_dropout=0.2), {"seed": 3})
    assert json.loads((tmp_path / "training" / "model.json").read_bytes())["heads"] == 5


def test_a_run_does_not_go_on_with_another_corpus(corpus: Path, tmp_path: Path) -> None:
    train(corpus, tmp_path / "run")
    corpus.write_text(LINES + "Another one.\tUn autre.\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="corpus_sha256 was"):
        train(corpus, tmp_path / "run", config=replace(CONFIG, steps=6))


@pytest.mark.parametrize("name", ["join_share", "vary_share", "tokens_per_batch", "seed"])
def test_a_run_does_not_go_on_with_other_batches(corpus: Path, tmp_path: Path, name: str) -> None:
    out, other = tmp_path / "run", {"join_share": 0.4, "vary_share": 0.5, "tokens_per_batch": 90, "seed": 8}[name]
    train(corpus, out)
    changed = replace(CONFIG, steps=6, **{name: other})
    with pytest.raises(SettingsError, match=rf"{name} was {getattr(CONFIG, name)}, now {other}.*another --out folder"):
        train(corpus, out, config=changed)
    settings = out / "training" / "model.json"
    older = {key: value for key, value in json.loads(settings.read_bytes()).items() if key != name}
    settings.write_text(json.dumps(older))  # as written before runs noted it
    assert train(corpus, out, config=changed).step == 6
    assert json.loads(settings.read_bytes())[name] == other


def test_a_run_does_not_go_on_with_other_data(tmp_path: Path) -> None:
    write_settings(tmp_path, SHAPE, {"seed": 3, "corpus_sha256": "ab"})
    with pytest.raises(SettingsError, match="corpus_sha256 was 'ab', now 'cd'"):
        check_settings(tmp_path, SHAPE, {"seed": 3, "corpus_sha256": "cd"})
    write_settings(tmp_path, SHAPE, {})  # as written before runs noted their data
    check_settings(tmp_path, SHAPE, {"seed": 3, "corpus_sha256": "cd"})


def test_a_finished_checkpoint_is_not_trained_over(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(SettingsError, match="holds a finished checkpoint and no run to go on with"):
        check_settings(tmp_path, SHAPE, {})


# --- where a run starts ---


def test_a_run_starts_from_a_checkpoint(corpus: Path, tmp_path: Path) -> None:
    start = save_small(tmp_path / "start")
    out, idle = tmp_path / "run", replace(CONFIG, steps=1, warmup_steps=0, learning_rate=1e-12, weight_decay=0.0)
    train(corpus, out, start_from=start, config=idle)
    mine, other = load_checkpoint(out), load_checkpoint(start)
    assert mine.tokenizer.serialized == other.tokenizer.serialized
    for name, weight in mine.model.named_parameters():
        torch.testing.assert_close(weight, dict(other.model.named_parameters())[name], atol=1e-5, rtol=1e-3)


def test_a_run_keeps_the_tokenizer_that_it_started_with(corpus: Path, tmp_path: Path) -> None:
    """Gone on with without --start-from, and refused with another start."""
    start, out = save_small(tmp_path / "start"), tmp_path / "run"
    train(corpus, out, start_from=start)
    train(corpus, out, config=replace(CONFIG, steps=6))
    assert load_checkpoint(out).tokenizer.serialized == small_tokenizer().serialized
    train(corpus, tmp_path / "other")
    with pytest.raises(SettingsError, match=r"tokenizer\.model is not the tokenizer of the checkpoint to start from"):
        train(corpus, tmp_path / "other", start_from=start)


def test_a_start_of_another_shape_is_refused(corpus: Path, tmp_path: Path) -> None:
    start = save_small(tmp_path / "start")
    with pytest.raises(SettingsError, match="layers 3, asked for 2"):
        train(corpus, tmp_path / "run", replace(SHAPE, layers=2), start_from=start)
    assert not (tmp_path / "run").exists()


def test_a_corpus_that_is_none_leaves_no_folder(corpus: Path, tmp_path: Path) -> None:
    corpus.write_text("no tab\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="line 1"):
        train(corpus, tmp_path / "run")
    assert not (tmp_path / "run").exists()
