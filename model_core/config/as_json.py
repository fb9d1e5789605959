"""Settings as plain dictionaries, and back."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any, TypeVar

from model_core.config.checks import ConfigError, require_setting
from model_core.config.decoding import DecodingConfig
from model_core.config.model import ModelConfig
from model_core.config.training import TrainingConfig

Config = TypeVar("Config", ModelConfig, DecodingConfig, TrainingConfig)


def to_json(config: ModelConfig | DecodingConfig | TrainingConfig) -> dict[str, Any]:
    """The settings as a plain dictionary."""
    return asdict(config)


def from_json(kind: type[Config], data: dict[str, Any]) -> Config:
    """Settings from a dictionary.

    Raises:
        ConfigError: names the settings that `kind` does not have, or the value that it cannot take.
    """
    if isinstance(data.get("positions"), bool):  # so older checkpoints say whether there are sinusoids
        data = data | {"positions": "sinusoidal" if data["positions"] else "none"}
    known = {field.name for field in fields(kind)}
    unknown = sorted(set(data) - known)
    require_setting(not unknown, f"{kind.__name__} has no setting named {', '.join(unknown)}.")
    try:
        return kind(**data)
    except TypeError as error:
        raise ConfigError(f"{kind.__name__} was given a value of the wrong kind: {error}.") from error
