"""Checkpoints: folders that hold all that a translator needs, each file vouched for by its SHA-256."""

from model_core.checkpoint.about import CheckpointAbout
from model_core.checkpoint.checkpoint import Checkpoint, load_checkpoint, save_checkpoint, update_checkpoint
from model_core.checkpoint.files import (
    CARD,
    CONFIG,
    METRICS,
    TOKENIZER,
    WEIGHTS,
    CheckpointError,
    read_config,
    read_file,
)
from model_core.checkpoint.languages import Language

__all__ = [
    "CARD", "CONFIG", "METRICS", "TOKENIZER", "WEIGHTS", "Checkpoint", "CheckpointAbout", "CheckpointError",
    "Language", "load_checkpoint", "read_config", "read_file", "save_checkpoint", "update_checkpoint",
]  # fmt: skip
