"""Which ids may stand in a sentence that somebody gives. No tensors."""

from __future__ import annotations

from collections.abc import Sequence

from model_core.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from model_core.text.source import InputError

NEVER_WRITTEN = (PAD_ID, BOS_ID, UNK_ID)
"""Ids that no translation holds."""


def check_ids(name: str, ids: Sequence[int], vocabulary: int, *, written: bool = False) -> None:
    """Refuses ids that a sentence can't hold; `name` is how the error calls it.

    A sentence holds no padding and nothing from outside the vocabulary; one that a model has `written` holds no <s> and
    no <unk> either.

    Raises:
        InputError: names the first id that is refused, and its position.
    """
    for position, id_ in enumerate(ids):
        if written and (id_ in NEVER_WRITTEN or not BOS_ID < id_ < vocabulary):
            raise InputError(
                f"{name} has id {id_} at piece {position + 1}, which no translation holds: "
                f"its ids are {EOS_ID} and those from {max(NEVER_WRITTEN) + 1} to {vocabulary - 1}."
            )
        if not PAD_ID < id_ < vocabulary:
            raise InputError(
                f"{name} has id {id_} at position {position}: ids run from 1 to {vocabulary - 1} ({PAD_ID} is padding)."
            )
