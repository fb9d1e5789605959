"""Checkpoints: what is saved comes back, and an update vouches for nothing that it did not see whole."""

import json
from pathlib import Path

import pytest
import torch

from model_core.checkpoint import (
    CheckpointAbout,
    CheckpointError,
    Language,
    load_checkpoint,
    read_config,
    read_file,
    save_checkpoint,
    update_checkpoint,
)
from model_core.checkpoint.files import sha256
from tests.small_checkpoint import CARD, SHAPE, small_model, small_tokenizer

FILES = ("model.safetensors", "tokenizer.model", "metrics.json", "README.md")


def test_a_checkpoint_comes_back_as_it_was_saved(folder: Path) -> None:
    checkpoint, model = load_checkpoint(folder), small_model()
    assert checkpoint.name == "small"
    assert checkpoint.id == f"small@{sha256((folder / 'model.safetensors').read_bytes())[:12]}"
    assert checkpoint.tokenizer.serialized == small_tokenizer().serialized
    assert (checkpoint.training, checkpoint.metrics) == ({"steps": 7}, {"bleu": 1.5})
    assert checkpoint.model.config == SHAPE and not checkpoint.model.training
    loaded = dict(checkpoint.model.named_parameters())
    for name, parameter in model.named_parameters():
        assert loaded[name].dtype == torch.float32
        assert torch.equal(loaded[name], parameter.half().float()), name
    assert checkpoint.model.parameter_count() == model.parameter_count(), "shared tables stay shared"
    assert (folder / "README.md").read_text(encoding="utf-8") == CARD


def test_float32_weights_come_back_bit_for_bit(tmp_path: Path) -> None:
    model = small_model()
    save_checkpoint(tmp_path, model, small_tokenizer(), name="small", card="", dtype=torch.float32)
    for (name, loaded), parameter in zip(
        load_checkpoint(tmp_path).model.named_parameters(), model.parameters(), strict=True
    ):
        assert torch.equal(loaded, parameter), name


def test_the_folder_holds_the_files_that_config_lists_and_no_remains(folder: Path) -> None:
    config = read_config(folder)
    assert set(config["sha256"]) == set(FILES)
    assert {path.name for path in folder.iterdir()} == {"config.json", *FILES}
    for file in FILES:
        assert sha256(read_file(folder, file, config)) == config["sha256"][file]


def test_weights_that_float16_cannot_hold_are_not_saved(tmp_path: Path) -> None:
    model = small_model()
    with torch.no_grad():
        model.generator.bias[5] = 70000.0
    with pytest.raises(CheckpointError, match=r"generator\.bias .*float16.*nothing was saved"):
        save_checkpoint(tmp_path / "new", model, small_tokenizer(), name="small", card="")
    assert not (tmp_path / "new").exists()


def test_an_update_changes_what_it_is_given_and_nothing_else(folder: Path) -> None:
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "log.csv").write_bytes(b"step\n7\n")
    update_checkpoint(folder, metrics={"bleu": 2.5}, card="new", training={"steps": 11}, extra_files=("log.csv",))
    checkpoint, config = load_checkpoint(folder), read_config(folder)
    assert (checkpoint.metrics, checkpoint.training) == ({"bleu": 2.5}, {"steps": 11})
    assert read_file(folder, "README.md", config) == b"new"
    assert read_file(folder, "log.csv", config) == b"step\n7\n"
    assert (folder / "model.safetensors").read_bytes() == weights
    (folder / "log.csv").write_bytes(b"step\n7\n9\n")
    update_checkpoint(folder, extra_files=("log.csv",))  # given again: taken as it is now
    assert read_file(folder, "log.csv", read_config(folder)) == b"step\n7\n9\n"


@pytest.mark.parametrize("file", FILES)
def test_an_update_vouches_for_no_file_that_was_changed(folder: Path, file: str) -> None:
    before = (folder / "config.json").read_bytes()
    (folder / file).write_bytes(b"{}")
    with pytest.raises(CheckpointError, match=file):
        update_checkpoint(folder, training={"steps": 11})
    assert (folder / "config.json").read_bytes() == before


ABOUT = CheckpointAbout(
    source_language=Language.of_code("en"), target_language=Language.of_code("zh"), examples=("a b",)
)


def test_a_checkpoint_says_its_task_languages_and_examples(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, small_model(), small_tokenizer(), name="small", card="", about=ABOUT)
    assert load_checkpoint(tmp_path).about == ABOUT
    assert ABOUT.target_language == Language("zh", "Chinese")
    update_checkpoint(tmp_path, metrics={"bleu": 2.5})
    assert load_checkpoint(tmp_path).about == ABOUT, "an update keeps it"


@pytest.mark.parametrize(("training", "task"), [({"steps": 7}, "translate"), ({"task": "copy"}, "copy")])
def test_a_checkpoint_without_the_entry_opens_as_before(folder: Path, training: dict[str, object], task: str) -> None:
    update_checkpoint(folder, training=training)
    config = json.loads((folder / "config.json").read_bytes())
    del config["about"]
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    about = load_checkpoint(folder).about
    assert (about.task, about.source_language, about.target_language, about.examples) == (task, None, None, ())


@pytest.mark.parametrize(
    ("code", "name"), [("fr", "French"), ("pt-BR", "Portuguese"), ("zh_Hans", "Chinese"), ("tlh", "tlh")]
)
def test_a_language_is_named_by_its_code(code: str, name: str) -> None:
    assert Language.of_code(code) == Language(code, name)
