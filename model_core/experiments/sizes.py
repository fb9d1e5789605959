"""How large a model of a shape is: its parameters by part, with and without sharing, without building its numbers.

A shape is spelled in the words of the tutorials, or in those of `ModelConfig`, with commas between them:
"src=32000,tgt=32000,N=6,d_model=512,d_ff=2048,h=8".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import torch
from torch import nn

from model_core.config import ConfigError, ModelConfig, from_json, to_json
from model_core.model.layers import DecoderLayer, EncoderLayer, Residual
from model_core.model.transformer import Transformer

BYTES_PER_NUMBER = 4  # float32
MOST_PARAMETERS = 10**13
ALIASES = {
    "src": "source_vocabulary", "src_vocab": "source_vocabulary", "tgt": "target_vocabulary",
    "tgt_vocab": "target_vocabulary", "N": "layers", "h": "heads",
}  # fmt: skip
"""The tutorials' name -> the name in `ModelConfig`."""
PRESETS: dict[str, ModelConfig] = {
    "The paper's base model (37,000 shared pieces)": replace(ModelConfig.of_paper(37_000, 37_000), sharing="all"),
    "The tutorials' model (32,000 + 32,000)": ModelConfig.of_paper(32_000, 32_000),
    "en-fr of this project": ModelConfig(),
    "copy of this project": ModelConfig(20, 20, 2, 64, 256, 4),
}


@dataclass(frozen=True)
class PartSize:
    """How many parameters a part of the model has: `own` are counted here, `shared` at the part that came before.

    `stack` is "encoder", "decoder" or "ends" (embeddings and generator); `layer` counts from 0 and is None for parts
    outside the layers; `part` names it: "self-attention", "cross-attention", "feed-forward", "norms", "final norm",
    "source embedding", "target embedding", "positions", "generator".
    """

    stack: str
    layer: int | None
    part: str
    own: int
    shared: int


@dataclass(frozen=True)
class ModelSize:
    """The parts of a model, its `parameters` (what is shared counted once), and the parameters that it would have if
    every part had its own."""

    parts: tuple[PartSize, ...]

    @property
    def parameters(self) -> int:
        return sum(part.own for part in self.parts)

    @property
    def unshared(self) -> int:
        return sum(part.own + part.shared for part in self.parts)


def size_of(config: ModelConfig) -> ModelSize:
    """The size of a model of this shape, at once: no memory is taken for its numbers.

    Raises:
        ConfigError: no machine could hold such a model.
    """
    layers = config.encoder_depth + config.decoder_depth
    vocabularies = config.source_vocabulary + 2 * config.target_vocabulary
    widest = config.d_model * (vocabularies + layers * (8 * config.d_model + 3 * config.d_ff))
    if widest > MOST_PARAMETERS or layers > 1000:
        raise ConfigError(f"A model of {layers:,} layers and up to {widest:,} parameters is too large to be drawn.")
    with torch.device("meta"):
        return ModelSize(part_sizes(Transformer(config)))


def shape_of(text: str) -> ModelConfig:
    """The shape that a text such as "src=32000,tgt=32000,N=6,d_model=512,d_ff=2048,h=8" spells.

    Settings that it leaves out are those of the paper (`ModelConfig.of_paper`); without `tgt`, both vocabularies have
    the size of `src`.

    Raises:
        ConfigError: names the setting that there is not, or the value that it can't have.
    """
    return from_json(ModelConfig, settings_of(text))


def settings_of(text: str) -> dict[str, Any]:
    """The settings that such a text spells, as `shape_of` reads them; whether a model can have them is not looked at.

    Raises:
        ConfigError: there is no such setting, or its value is of another kind.
    """
    given: dict[str, object] = {}
    kinds = {field.name: str(field.type) for field in fields(ModelConfig)}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        setting = ALIASES.get(name, name)
        if not equals or setting not in kinds:
            others = ", ".join(name for name in kinds if name not in (*ALIASES.values(), "d_model", "d_ff"))
            raise ConfigError(
                f"{part!r} is no setting of a shape: write NAME=VALUE with one of src, tgt, N, d_model, d_ff, "
                f"h, {others}."
            )
        given[setting] = _value(setting, value, kinds[setting])
    source = given.get("source_vocabulary", 32_000)
    settings = to_json(ModelConfig.of_paper(32_000, 32_000))
    return settings | {"source_vocabulary": source, "target_vocabulary": source} | given


def _value(name: str, text: str, kind: str) -> object:
    """A setting's value from its spelling; `kind` is the type that its field is annotated with."""
    if "bool" in kind:
        if text.lower() not in ("true", "false"):
            raise ConfigError(f"{name} is true or false, not {text!r}.")
        return text.lower() == "true"
    try:
        return int(text) if "int" in kind else float(text) if "float" in kind else text
    except ValueError as error:
        raise ConfigError(f"{name} is a number, not {text!r}.") from error


def spelled(settings: Mapping[str, Any]) -> str:
    """The shortest text from which `settings_of` makes these settings (`to_json` gives those of a config)."""
    names = {setting: name for name, setting in reversed(ALIASES.items())}
    paper = to_json(ModelConfig.of_paper(32_000, 32_000))
    shown = ["source_vocabulary", "target_vocabulary", "layers", "d_model", "d_ff", "heads"]
    differing = [name for name in paper if name not in shown and settings[name] != paper[name]]
    return ",".join(f"{names.get(name, name)}={settings[name]}" for name in (*shown, *differing))


def part_sizes(model: Transformer) -> tuple[PartSize, ...]:
    """Every parameter of the model in exactly one part, so that `own` sums to `model.parameter_count()`."""
    seen: set[int] = set()
    sizes: list[PartSize] = []
    for stack, layer, part, modules in _parts(model):
        parameters = {id(p): p.numel() for module in modules for p in module.parameters()}
        own = sum(count for key, count in parameters.items() if key not in seen)
        sizes.append(PartSize(stack, layer, part, own, sum(parameters.values()) - own))
        seen |= parameters.keys()
    return tuple(sizes)


def _parts(model: Transformer) -> Iterator[tuple[str, int | None, str, list[nn.Module]]]:
    yield "ends", None, "source embedding", [model.source_embedding]
    yield "ends", None, "target embedding", [model.target_embedding]
    yield "ends", None, "positions", [model.positions]
    for stack, blocks in (("encoder", model.encoder.layers), ("decoder", model.decoder.layers)):
        for index, block in enumerate(blocks):
            block = cast(EncoderLayer | DecoderLayer, block)
            yield stack, index, "self-attention", [block.self_attention]
            if isinstance(block, DecoderLayer):
                yield stack, index, "cross-attention", [block.cross_attention]
            yield stack, index, "feed-forward", [block.feed_forward]
            yield stack, index, "norms", [cast(Residual, residual).norm for residual in block.residuals]
    yield "encoder", None, "final norm", [model.encoder.norm]
    yield "decoder", None, "final norm", [model.decoder.norm]
    yield "ends", None, "generator", [model.generator]
