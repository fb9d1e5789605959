"""Frozen settings of a model, of its decoding and of its training.

Every setting is checked when the object is made, so that no other file needs to check it again.
"""

from model_core.config.as_json import from_json, to_json
from model_core.config.checks import BOS_ID, EOS_ID, PAD_ID, UNK_ID, ConfigError
from model_core.config.decoding import DecodingConfig, Strategy
from model_core.config.model import Activation, Initialisation, ModelConfig, Norm, Positions, Sharing
from model_core.config.training import Schedule, TrainingConfig

__all__ = [
    "BOS_ID", "EOS_ID", "PAD_ID", "UNK_ID", "Activation", "ConfigError", "DecodingConfig", "Initialisation",
    "ModelConfig", "Norm", "Positions", "Schedule", "Sharing", "Strategy", "TrainingConfig", "from_json", "to_json",
]  # fmt: skip
