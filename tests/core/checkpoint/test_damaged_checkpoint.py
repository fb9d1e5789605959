"""Checkpoints that are damaged, foreign or meant to harm: one sentence that names the file."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from model_core.checkpoint import (
    CheckpointError,
    load_checkpoint,
    read_config,
    read_file,
)
from model_core.checkpoint.files import sha256
from model_core.text.tokenizer import word_tokenizer
from tests.small_checkpoint import save_small

FILES = ("model.safetensors", "tokenizer.model", "metrics.json", "README.md")


def change_config(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_bytes())
    change(config)
    path.write_text(json.dumps(config), encoding="utf-8")


def replace_file(folder: Path, file: str, data: bytes) -> None:
    """Another content whose SHA-256 config.json vouches for: what somebody who means harm would do."""
    (folder / file).write_bytes(data)
    change_config(folder, lambda config: config["sha256"].update({file: sha256(data)}))


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    tensors = load_tensors((folder / "model.safetensors").read_bytes())
    change(tensors)
    replace_file(folder, "model.safetensors", save_tensors(tensors))


def assert_names(folder: Path, file: str, *more: str) -> None:
    """Loading gives one sentence, on one line, with the file's path and what else is asked for."""
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(folder)
    message = str(caught.value)
    assert str(folder / file) in message and "\n" not in message and message.endswith(".")
    assert all(part in message for part in more), message


@pytest.mark.parametrize("file", ("config.json", *FILES))
def test_a_missing_file(folder: Path, file: str) -> None:
    (folder / file).unlink()
    assert_names(folder, file, "missing")


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("left", [0, 1, -1])
def test_a_file_that_was_cut_short(folder: Path, file: str, left: int) -> None:
    data = (folder / file).read_bytes()
    (folder / file).write_bytes(data[:left])
    assert_names(folder, file, "cut short", sha256(data)[:12])


@pytest.mark.parametrize("file", FILES)
def test_a_single_flipped_bit(folder: Path, file: str) -> None:
    data = bytearray((folder / file).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / file).write_bytes(data)
    assert_names(folder, file, "changed")


def test_the_weights_of_another_checkpoint(folder: Path, tmp_path: Path) -> None:
    other = save_small(tmp_path / "other", seed=5)
    (folder / "model.safetensors").write_bytes((other / "model.safetensors").read_bytes())
    assert_names(folder, "model.safetensors", "another checkpoint")


@pytest.mark.parametrize("file", ("config.json", *FILES))
def test_a_link_is_not_followed(folder: Path, tmp_path: Path, file: str) -> None:
    (folder / file).rename(tmp_path / "elsewhere")
    (folder / file).symlink_to(tmp_path / "elsewhere")
    assert_names(folder, file, "symbolic link")


@pytest.mark.parametrize("file", ("config.json", *FILES))
def test_a_folder_or_a_pipe_in_place_of_a_file(folder: Path, file: str) -> None:
    (folder / file).unlink()
    (folder / file).mkdir()
    assert_names(folder, file, "no plain file")
    (folder / file).rmdir()
    os.mkfifo(folder / file)  # reading it would wait for ever
    assert_names(folder, file, "no plain file")


@pytest.mark.parametrize(
    "name", ["../outside", "sub/file", "..", ".", "", ".hidden", "/etc/hostname", "a\\b", "C:x", "a\x00b", "a\n"]
)
def test_a_listed_name_that_leaves_the_folder_is_refused(folder: Path, name: str) -> None:
    (folder.parent / "outside").write_bytes(b"secret")
    config = read_config(folder)
    change_config(folder, lambda config: config["sha256"].update({name: sha256(b"secret")}))
    assert_names(folder, "config.json", "no name of a file")
    with pytest.raises(CheckpointError, match="does not list"):
        read_file(folder, name, {**config, "sha256": {name: sha256(b"secret")}})


def test_a_file_that_is_not_listed_is_not_read(folder: Path) -> None:
    (folder / "notes.txt").write_bytes(b"x")
    with pytest.raises(CheckpointError, match=r"does not list a file named 'notes\.txt'"):
        read_file(folder, "notes.txt", read_config(folder))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "not valid JSON"),
        (b'{"format": ', "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[]", "JSON object"),
        (b"{}", "format None"),
        (b'{"format": "regard-checkpoint-2"}', "regard-checkpoint-2"),
    ],
)
def test_a_config_that_is_none(folder: Path, data: bytes, told: str) -> None:
    (folder / "config.json").write_bytes(data)
    assert_names(folder, "config.json", told)


CHANGES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda config: config.pop("model"), "'model'"),
    (lambda config: config.update(sha256=[]), "'sha256'"),
    (lambda config: config.update(name=3), "'name'"),
    (lambda config: config.update(name="\ud800"), "can't be shown"),
    (lambda config: config.update(name=""), "can't be shown"),
    (lambda config: config["sha256"].pop("README.md"), "README.md"),
    (lambda config: config["sha256"].update({"README.md": None}), "README.md"),
    (lambda config: config["sha256"].update({"README.md": "0" * 63}), "README.md"),
    (lambda config: config["model"].update(width=7), "width"),
    (lambda config: config["model"].update(heads=7), "heads"),
    (lambda config: config["model"].update(layers="3"), "layers"),
    (lambda config: config["model"].update(dropout="a lot"), "wrong kind"),
]


@pytest.mark.parametrize(("change", "told"), CHANGES)
def test_a_config_with_a_wrong_entry(folder: Path, change: Callable[[dict[str, Any]], object], told: str) -> None:
    change_config(folder, change)
    assert_names(folder, "config.json", told)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"layers": 4}, "missing"),
        ({"layers": 2}, "foreign"),
        ({"d_ff": 32}, "[20, 28]"),
        ({"d_model": 10**9, "heads": 10**6}, "shape"),
        ({"d_ff": 10**30}, "132 tensors"),
        ({"layers": 10**12}, "1,000,000,000,000 layers"),
        ({"sharing": "none"}, "missing"),
    ],
)
def test_settings_that_the_weights_do_not_fit(folder: Path, settings: dict[str, Any], told: str) -> None:
    """Among them some that no memory could hold: the weights' file is asked first."""
    change_config(folder, lambda config: config["model"].update(settings))
    assert_names(folder, "model.safetensors", told)


def test_a_vocabulary_that_the_tokenizer_does_not_have(folder: Path) -> None:
    change_config(folder, lambda config: config["model"].update(source_vocabulary=312, target_vocabulary=312))
    assert_names(folder, "tokenizer.model", "311", "312")


@pytest.mark.parametrize(
    ("file", "data", "told"),
    [
        ("model.safetensors", b"", "safetensors"),
        ("model.safetensors", b"\x08\0\0\0\0\0\0\0{}      ", "0 tensors"),
        ("model.safetensors", b"\x80\x04\x95pickle", "safetensors"),
        ("tokenizer.model", b"", "SentencePiece"),
        ("tokenizer.model", b"\x80\x04\x95pickle", "SentencePiece"),
        ("tokenizer.model", word_tokenizer(["a", "b"]).serialized, "6 pieces"),
        ("metrics.json", b"[]", "JSON object"),
        ("metrics.json", b"{", "not valid JSON"),
    ],
)
def test_a_wrong_content_that_config_vouches_for(folder: Path, file: str, data: bytes, told: str) -> None:
    replace_file(folder, file, data)
    assert_names(folder, file, told)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda tensors: tensors.pop("generator.bias"), "1 are missing (generator.bias)"),
        (lambda tensors: tensors.update(more=torch.zeros(3)), "1 are foreign (more)"),
        (lambda tensors: tensors.update({"generator.bias": torch.zeros(310)}), "[310]"),
        (lambda tensors: tensors.update({"generator.bias": torch.zeros(311, dtype=torch.int32)}), "int32"),
        (lambda tensors: tensors["generator.bias"].fill_(float("nan")), "not finite"),
        (lambda tensors: tensors["generator.bias"].fill_(float("-inf")), "not finite"),
    ],
)
def test_wrong_weights_that_config_vouches_for(
    folder: Path, change: Callable[[dict[str, torch.Tensor]], object], told: str
) -> None:
    change_weights(folder, change)
    assert_names(folder, "model.safetensors", told)


def test_no_folder_at_all(tmp_path: Path) -> None:
    assert_names(tmp_path / "nowhere", "config.json", "missing", "no checkpoint folder")
    (tmp_path / "file").write_bytes(b"")
    assert_names(tmp_path / "file", "config.json", "no checkpoint folder")


def test_nothing_that_is_read_is_a_pickle(folder: Path, tmp_path: Path) -> None:
    """A pickle that would leave a mark when it is loaded, in the place of each file: no mark is left."""
    mark = tmp_path / "mark"
    evil = f"cos\nsystem\n(S'touch {mark}'\ntR.".encode()
    for file in FILES:
        before = (folder / file).read_bytes()
        replace_file(folder, file, evil)
        if file != "README.md":
            assert_names(folder, file)
        replace_file(folder, file, before)
    assert load_checkpoint(folder).name == "small" and not mark.exists()


@pytest.mark.parametrize(
    ("about", "named"),
    [
        ([], "JSON object"),
        ({"kind": "decoder"}, "kind"),
        ({"task": "sing"}, "task"),
        ({"task": ["copy"]}, "task"),
        ({"source_language": "fr"}, "source_language"),
        ({"target_language": {"code": "fr"}}, "target_language"),
        ({"target_language": {"code": "fr", "name": ""}}, "name"),
        ({"target_language": {"code": "f\nr", "name": "French"}}, "code"),
        ({"examples": "How are you?"}, "examples"),
        ({"examples": ["", "x"]}, "examples"),
        ({"examples": [7]}, "examples"),
        ({"tongue": "fr"}, "tongue"),
    ],
)
def test_an_impossible_purpose_is_named(folder: Path, about: object, named: str) -> None:
    change_config(folder, lambda config: config.update(about=about))
    assert_names(folder, "config.json", named)
