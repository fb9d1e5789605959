"""Descriptions of the checkpoints on offer, read without loading any of them."""

from __future__ import annotations

from collections.abc import Callable

from model_core.checkpoint import CheckpointAbout, CheckpointError, read_config
from model_core.checkpoint.about import about_of
from viz import translators


def first_checkpoint(fits: Callable[[CheckpointAbout], bool]) -> tuple[str, CheckpointAbout] | None:
    """Name and description of the first checkpoint whose description fits; those that can't be read are passed over."""
    for name in translators.checkpoint_names():
        try:
            about = about_of(read_config(translators.CHECKPOINTS / name))
        except CheckpointError:
            continue
        if fits(about):
            return name, about
    return None
