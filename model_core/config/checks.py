"""The ids of special tokens, and the refusal of a setting that nothing can have."""

from __future__ import annotations

PAD_ID, BOS_ID, EOS_ID, UNK_ID = 0, 1, 2, 3


class ConfigError(ValueError):
    """A setting that no model, decoding or training can have."""


def require_setting(condition: bool, message: str) -> None:
    """Raises ConfigError with the message unless the condition holds."""
    if not condition:
        raise ConfigError(message)
