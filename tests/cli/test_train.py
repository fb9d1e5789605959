"""`train`: every setting is an option, and reaches the training."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from model_core.checkpoint import CheckpointAbout, Language
from model_core.cli import training_commands
from model_core.cli.parser import MODEL_HELP, TRAINING_HELP, VOCABULARIES, make_parser
from model_core.config import ModelConfig, TrainingConfig
from model_core.training.copy_run import CopyResult
from model_core.training.copy_task import COPY_MODEL, COPY_TRAINING
from model_core.training.state import Progress
from tests.cli.answer import Ask
from tests.small_checkpoint import SHAPE

CHOICES = {
    "norm": "post", "sharing": "none", "schedule": "cosine", "precision": "fp32", "positions": "rotary",
    "activation": "swiglu", "initialisation": "normal",
}  # fmt: skip
SWITCHES = ("final_norm", "scaled", "residuals")


def test_every_setting_has_an_option_with_a_help() -> None:
    parser = make_parser()
    for kind, help in ((ModelConfig, MODEL_HELP), (TrainingConfig, TRAINING_HELP)):
        names = [field.name for field in fields(kind) if field.name not in VOCABULARIES]
        assert sorted(help) == sorted(names)
        for name in names:
            value = CHOICES.get(name, "7")
            given = [f"--no-{name.replace('_', '-')}"] if name in SWITCHES else [f"--{name.replace('_', '-')}", value]
            parsed = vars(parser.parse_args(["train", *given]))
            assert str(parsed[name]) in (value, f"{value}.0") or (name in SWITCHES and parsed[name] is False), name
            assert f"{name.replace('_', '-')} " not in vars(parser.parse_args(["train"])), name
    assert not set(vars(parser.parse_args(["train"]))) & {*MODEL_HELP, *TRAINING_HELP}


def test_help_shows_every_option_and_its_default(ask: Ask) -> None:
    found = ask("train", "--help")
    assert found.code == 0
    for name in (*MODEL_HELP, *TRAINING_HELP):
        assert f"--{name.replace('_', '-')}" in found.out
    assert "(default 0.998)" in found.out


def test_given_options_reach_the_training_and_copy_keeps_its_own_defaults(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[Any] = []

    def train_copy(out: Path, shape: ModelConfig, *, config: TrainingConfig) -> CopyResult:
        seen.extend([out, shape, config])
        return CopyResult(Progress(step=3), 0.5)

    monkeypatch.setattr(training_commands, "train_copy", train_copy)
    found = ask("train", "--task", "copy", "--out", tmp_path, "--layers", 3, "--learning-rate", 0.5, "--no-positions")
    assert seen == [
        tmp_path,
        ModelConfig(**{**vars(COPY_MODEL), "layers": 3, "positions": "none"}),
        TrainingConfig(**{**vars(COPY_TRAINING), "learning_rate": 0.5}),
    ]
    assert found.code == 0
    assert (
        found.out
        == "50.0% of the held-out sequences are copied exactly.\nStep 3 of 1,200. There is no checkpoint yet.\n"
    )


def test_corpus_options_reach_the_training(ask: Ask, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    seen: list[Any] = []

    def train_corpus(*arguments: Any, **options: Any) -> Progress:
        seen.append((*arguments, options))
        return Progress(step=7)

    monkeypatch.setattr(training_commands, "train_corpus", train_corpus)
    paths = ["--corpus", "a.tsv", "--valid", "b.tsv", "--out", folder]
    found = ask("train", *paths, "--vocabulary", 500, "--steps", 900, "--homographs")
    purpose = ["--source-language", "en", "--target-language", "zh", "--example", "One.", "--example", "Two."]
    assert ask("train", *paths, *purpose).code == 0
    assert found.out == f"Step 7 of 900. The checkpoint is {folder}.\n"
    assert ask("train", *paths, "--start-from", folder, "--dropout", 0.25).code == 0
    shape = ModelConfig(source_vocabulary=500, target_vocabulary=500)
    options = {"config": TrainingConfig(steps=900), "homographs": True, "start_from": None, "about": CheckpointAbout()}
    assert seen[0] == (Path("a.tsv"), Path("b.tsv"), folder, shape, options)
    about = CheckpointAbout(
        source_language=Language("en", "English"), target_language=Language("zh", "Chinese"), examples=("One.", "Two.")
    )
    assert seen[1][4]["about"] == about
    assert seen[2][3] == ModelConfig(**{**vars(SHAPE), "dropout": 0.25}) and seen[2][4]["start_from"] == folder


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "--corpus and --valid and --out"),
        (["--corpus", "a.tsv", "--out", "x"], "--valid"),
        (["--task", "copy", "--corpus", "a.tsv", "--vocabulary", "9"], "--corpus, --vocabulary"),
        (["--task", "copy", "--source-language", "en", "--example", "a"], "leave out --source-language, --example"),
        (["--corpus", "a", "--valid", "b", "--out", "x", "--target-language", " "], "language's code"),
        (["--task", "copy", "--layers", "0"], "layers must be a positive whole number, not 0"),
        (["--task", "copy", "--d-model", "30"], "does not split evenly over 4 heads"),
        (["--task", "copy", "--steps", "20"], "100 warm-up and 0 cool-down steps do not fit in 20 steps"),
        (["--task", "paste"], "invalid choice: 'paste'"),
        (["--norm", "middle"], "invalid choice: 'middle'"),
        (["--corpus", "nowhere.tsv", "--valid", "nowhere.tsv", "--out", "x"], "nowhere.tsv cannot be read"),
        (["--corpus", "a", "--valid", "b", "--out", "x", "--start-from", "nowhere"], "config.json is missing"),
    ],
)
def test_trainings_that_cannot_be(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Sequence[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ask("train", *options).one_sentence(told)
    assert list(tmp_path.iterdir()) == []


def test_a_run_whose_folder_is_a_file(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    ask("train", "--task", "copy", "--out", tmp_path / "file").one_sentence(str(tmp_path / "file"))
