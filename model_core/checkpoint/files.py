"""The files of a checkpoint folder, and the SHA-256 by which config.json vouches for each of the others."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from model_core.files import write_together

FORMAT = "regard-checkpoint-1"
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.model"
TARGET_TOKENIZER = "target_tokenizer.model"  # of a checkpoint whose two languages have a vocabulary each
METRICS, CARD = "metrics.json", "README.md"
REQUIRED = (WEIGHTS, TOKENIZER, METRICS, CARD)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # a file of this folder: no path, nothing hidden
_SHA256 = re.compile(r"[0-9a-f]{64}")


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message names the file and what is wrong with it."""


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def json_bytes(data: Mapping[str, Any]) -> bytes:
    return (json.dumps(dict(data), ensure_ascii=False, indent=2) + "\n").encode()


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Writes all files beside their places, then moves them in, in the order given: nobody ever reads half a file."""
    write_together({folder / file: data for file, data in contents.items()})


def sealed(folder: Path, config: Mapping[str, Any], contents: Mapping[str, bytes]) -> dict[str, Any]:
    """The config with the SHA-256 of every file that it lists: of its new content, or else of what is on disk."""
    hashes = {
        file: sha256(contents[file] if file in contents else plain_bytes(folder / file)) for file in config["sha256"]
    }
    return {**config, "sha256": hashes}


def plain_bytes(path: Path) -> bytes:
    """The content of a plain file.

    Raises:
        CheckpointError: it is missing, unreadable, a link, or no file.
    """
    if path.is_symlink():
        raise CheckpointError(f"{path} is a symbolic link; a checkpoint's files have to stand in its own folder.")
    if path.exists() and not path.is_file():
        raise CheckpointError(f"{path} is no plain file.")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise CheckpointError(f"{path} is missing.") from None
    except OSError as error:
        raise CheckpointError(f"{path} can't be read: {error.strerror or error}.") from error


def parse_json(data: bytes, path: Path) -> dict[str, Any]:
    """A JSON object. Raises CheckpointError, which names the file, where the bytes are none."""
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(parsed, dict):
        raise CheckpointError(f"{path} has to hold a JSON object; it holds a {type(parsed).__name__}.")
    return parsed


def read_config(folder: Path) -> dict[str, Any]:
    """config.json, checked for its shape.

    Raises:
        CheckpointError: it is missing, no JSON, of another format, or lacks an entry.
    """
    path = folder / CONFIG
    if not path.exists() and not path.is_symlink():
        raise CheckpointError(f"{path} is missing: {folder} is no checkpoint folder.")
    config = parse_json(plain_bytes(path), path)
    if config.get("format") != FORMAT:
        raise CheckpointError(f"{path} says format {config.get('format')!r}; this version reads {FORMAT!r}.")
    for key, kind in (("name", str), ("model", dict), ("training", dict), ("sha256", dict)):
        if not isinstance(config.get(key), kind):
            raise CheckpointError(f"{path} lacks a proper {key!r} entry.")
    if not config["name"].isprintable() or not config["name"]:
        raise CheckpointError(f"{path} has the name {config['name']!r}, which can't be shown.")
    _check_listing(path, config["sha256"])
    return config


def _check_listing(path: Path, listing: Mapping[str, Any]) -> None:
    for file, digest in listing.items():
        if not _NAME.fullmatch(file):
            raise CheckpointError(f"{path} lists {file!r}, which is no name of a file in its own folder.")
        if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
            raise CheckpointError(f"{path} has no proper SHA-256 for {file}; it is 64 hexadecimal digits.")
    missing = [file for file in REQUIRED if file not in listing]
    if missing:
        raise CheckpointError(f"{path} has no SHA-256 for {', '.join(missing)}.")


def read_file(folder: Path, file: str, config: Mapping[str, Any]) -> bytes:
    """A file of the checkpoint, if it is the one that config.json (as `read_config` gave it) vouches for.

    Raises:
        CheckpointError: it is not listed, missing, unreadable, a link, or changed since the checkpoint was written.
    """
    expected = config["sha256"].get(file)
    if expected is None or not _NAME.fullmatch(file):
        raise CheckpointError(f"{folder / CONFIG} does not list a file named {file!r}.")
    data = plain_bytes(folder / file)
    found = sha256(data)
    if found != expected:
        raise CheckpointError(
            f"{folder / file} ({len(data):,} bytes) is not the file that {CONFIG} describes: its SHA-256 starts with "
            f"{found[:12]}, expected {expected[:12]}. It was changed, cut short, or belongs to another checkpoint."
        )
    return data
