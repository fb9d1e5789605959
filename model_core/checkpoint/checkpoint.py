"""A checkpoint: a folder that holds everything a translator needs, each file vouched for by its SHA-256.

    config.json         format, name, kind, task and languages, the model's settings, how it was trained, and the
                        SHA-256 of every other file
    model.safetensors   the weights; shared tables once
    tokenizer.model     SentencePiece: of both languages, or of the source where there is
    target_tokenizer.model   one for the target alone
    metrics.json        what was measured
    README.md           the model card

Further files (log.csv, moments of the training) are listed in config.json likewise. Nothing here runs code when read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from model_core.checkpoint.about import DEFAULT_ABOUT, CheckpointAbout, about_of
from model_core.checkpoint.files import (
    CARD,
    CONFIG,
    FORMAT,
    METRICS,
    REQUIRED,
    TARGET_TOKENIZER,
    TOKENIZER,
    WEIGHTS,
    CheckpointError,
    json_bytes,
    parse_json,
    read_config,
    read_file,
    sealed,
    write_files,
)
from model_core.config import ConfigError, ModelConfig, from_json, to_json
from model_core.model.transformer import Transformer
from model_core.text.tokenizer import Tokenizer, TokenizerError

__all__ = [
    "CARD", "CONFIG", "FORMAT", "METRICS", "REQUIRED", "TOKENIZER", "WEIGHTS", "Checkpoint", "CheckpointAbout",
    "CheckpointError", "load_checkpoint", "read_config", "read_file", "save_checkpoint", "update_checkpoint",
]  # fmt: skip


@dataclass(frozen=True, repr=False)
class Checkpoint:
    """A checkpoint as loaded. `id` is its name and the first digits of its weights' SHA-256.

    `tokenizer` is that of both languages, or of the source where `target` is the target's own.
    """

    name: str
    id: str
    model: Transformer
    tokenizer: Tokenizer
    training: Mapping[str, Any]
    metrics: Mapping[str, Any]
    about: CheckpointAbout = DEFAULT_ABOUT
    target: Tokenizer | None = None

    @property
    def target_tokenizer(self) -> Tokenizer:
        return self.tokenizer if self.target is None else self.target

    def __repr__(self) -> str:
        config = self.model.config
        return (
            f"<Checkpoint {self.id}: {self.about.summary}\n"
            f"  {self.model.parameter_count():,} parameters: {config.encoder_depth} + {config.decoder_depth} layers, "
            f"{config.heads} heads, d_model {config.d_model}, d_ff {config.d_ff}, "
            f"{self._pieces()} pieces>"
        )

    def _pieces(self) -> str:
        source = f"{self.tokenizer.vocabulary_size:,}"
        return source if self.target is None else f"{source} + {self.target.vocabulary_size:,}"


def save_checkpoint(
    folder: Path,
    model: Transformer,
    tokenizer: Tokenizer,
    *,
    name: str,
    card: str,
    training: Mapping[str, Any] | None = None,
    metrics: Mapping[str, Any] | None = None,
    extra_files: tuple[str, ...] = (),
    about: CheckpointAbout = DEFAULT_ABOUT,
    target_tokenizer: Tokenizer | None = None,
    dtype: torch.dtype = torch.float16,
) -> None:
    """Writes a checkpoint. `extra_files` are files already in the folder that belong to it; `target_tokenizer` is given
    where the target has a vocabulary of its own.

    Weights are stored as `dtype` and loaded as float32: float16 halves the file.

    Raises:
        CheckpointError: a weight is no finite number as `dtype`, or an extra file is missing.
    """
    contents = {
        WEIGHTS: save_tensors(_stored_weights(model, dtype)),
        TOKENIZER: tokenizer.serialized,
        METRICS: json_bytes(metrics or {}),
        CARD: card.encode(),
    }
    if target_tokenizer is not None:
        contents[TARGET_TOKENIZER] = target_tokenizer.serialized
    config = {
        "format": FORMAT,
        "name": name,
        "about": about.to_json(),
        "model": to_json(model.config),
        "training": dict(training or {}),
        "sha256": dict.fromkeys((*contents, *extra_files), ""),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_files(folder, contents | {CONFIG: json_bytes(sealed(folder, config, contents))})


def _stored_weights(model: Transformer, dtype: torch.dtype) -> dict[str, Tensor]:
    weights = {key: parameter.detach().cpu().to(dtype).contiguous() for key, parameter in model.named_parameters()}
    for key, weight in weights.items():
        if not bool(torch.isfinite(weight).all()):
            raise CheckpointError(f"{key} holds values that are no finite numbers as {dtype}; nothing was saved.")
    return weights


def update_checkpoint(
    folder: Path,
    *,
    metrics: Mapping[str, Any] | None = None,
    card: str | None = None,
    training: Mapping[str, Any] | None = None,
    extra_files: tuple[str, ...] = (),
) -> None:
    """Replaces what was measured, the model card, or what is told of the training, after checking the folder whole.

    `extra_files` are taken as they are in the folder, whether they were listed before or not.

    Raises:
        CheckpointError: a file is missing or is not the one that was saved; nothing was written then.
    """
    config = read_config(folder)
    for file in config["sha256"].keys() - set(extra_files):
        read_file(folder, file, config)
    if training is not None:
        config["training"] = dict(training)
    contents: dict[str, bytes] = {}
    if metrics is not None:
        contents[METRICS] = json_bytes(metrics)
    if card is not None:
        contents[CARD] = card.encode()
    config["sha256"] |= dict.fromkeys(extra_files, "")
    write_files(folder, contents | {CONFIG: json_bytes(sealed(folder, config, contents))})


def load_checkpoint(folder: Path | str) -> Checkpoint:
    """Reads a checkpoint onto the CPU, in float32, in evaluation mode.

    Raises:
        CheckpointError: names the file that is missing, cut short, foreign or tampered with.
    """
    folder = Path(folder)
    config = read_config(folder)
    contents = {file: read_file(folder, file, config) for file in REQUIRED}
    tokenizer = _tokenizer_of(contents[TOKENIZER], folder / TOKENIZER)
    target = None
    if TARGET_TOKENIZER in config["sha256"]:
        target = _tokenizer_of(read_file(folder, TARGET_TOKENIZER, config), folder / TARGET_TOKENIZER)
    metrics = parse_json(contents[METRICS], folder / METRICS)
    try:
        about, shape = about_of(config), from_json(ModelConfig, config["model"])
    except (CheckpointError, ConfigError) as error:
        raise CheckpointError(f"{folder / CONFIG}: {error}") from error
    found = (tokenizer.vocabulary_size, (target or tokenizer).vocabulary_size)
    if found != (shape.source_vocabulary, shape.target_vocabulary):
        second = "" if target is None else f", and {TARGET_TOKENIZER} {found[1]}"
        raise CheckpointError(
            f"{folder / TOKENIZER} has {tokenizer.vocabulary_size} pieces{second}, but {CONFIG} says "
            f"{shape.source_vocabulary} source and {shape.target_vocabulary} target entries."
        )
    model = _model_of(shape, contents[WEIGHTS], folder / WEIGHTS)
    identity = f"{config['name']}@{config['sha256'][WEIGHTS][:12]}"
    return Checkpoint(config["name"], identity, model, tokenizer, config["training"], metrics, about, target)


def _tokenizer_of(data: bytes, path: Path) -> Tokenizer:
    try:
        return Tokenizer(data)
    except TokenizerError as error:
        raise CheckpointError(f"{path}: {error}") from error


def _model_of(shape: ModelConfig, data: bytes, path: Path) -> Transformer:
    """The model with the weights that a safetensors file holds, in evaluation mode."""
    try:
        tensors = load_tensors(data)
    except (SafetensorError, KeyError, ValueError, OverflowError) as error:
        raise CheckpointError(f"{path} is no readable safetensors file: {error}.") from error
    _check_weights(_outline(shape, len(tensors), path), tensors, path)
    model = Transformer(shape)
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            parameter.copy_(tensors[key])
            if not bool(torch.isfinite(parameter).all()):
                raise CheckpointError(f"{path}: {key} holds values that are not finite numbers.")
    return model.eval()


def _outline(shape: ModelConfig, tensors: int, path: Path) -> dict[str, Tensor]:
    """The model's parameters without memory behind them, so that no settings can ask for more than the file holds."""
    try:
        if max(shape.encoder_depth, shape.decoder_depth) > tensors:
            raise ValueError(f"{shape.layers:,} layers")
        with torch.device("meta"):
            return dict(Transformer(shape).named_parameters())
    except (RuntimeError, ValueError, TypeError, OverflowError) as error:
        raise CheckpointError(
            f"{path} holds {tensors:,} tensors, which can't be the model that {CONFIG} describes: "
            f"{str(error).partition(chr(10))[0]}."
        ) from error


def _check_weights(parameters: Mapping[str, Tensor], tensors: Mapping[str, Tensor], path: Path) -> None:
    missing, foreign = sorted(parameters.keys() - tensors.keys()), sorted(tensors.keys() - parameters.keys())
    if missing or foreign:
        raise CheckpointError(
            f"{path} does not hold this model's weights: "
            f"{len(missing)} are missing ({', '.join(missing[:3]) or 'none'}), "
            f"{len(foreign)} are foreign ({', '.join(foreign[:3]) or 'none'})."
        )
    for key, parameter in parameters.items():
        found, wanted = list(tensors[key].shape), list(parameter.shape)
        if found != wanted:
            raise CheckpointError(f"{path}: {key} has shape {found}, the settings ask for {wanted}.")
        if not tensors[key].is_floating_point():
            raise CheckpointError(f"{path}: {key} holds {tensors[key].dtype}, not floating-point numbers.")
