"""Ids that somebody gives a translation to have: a beginning to go on from, or a whole target. Checked, no tensors."""

from __future__ import annotations

from collections.abc import Sequence

from model_core.config import EOS_ID
from model_core.text.ids import check_ids
from model_core.text.source import InputError


def checked_beginning(ids: Sequence[int], vocabulary: int, limit: int) -> tuple[int, ...]:
    """`ids` as a beginning of a translation of at most `limit` ids, </s> among them.

    Raises:
        InputError: an id can't be written, or there is no room left for what the model would write.
    """
    check_ids("The forced beginning", ids, vocabulary, written=True)
    if EOS_ID in ids:
        raise InputError("The forced beginning holds </s>, after which nothing is written: force pieces only.")
    if len(ids) >= limit:
        raise InputError(
            f"The forced beginning has {len(ids)} pieces, but this translation may have {limit} in all, </s> included: "
            f"force no more than {limit - 1}."
        )
    return tuple(ids)


def checked_target(ids: Sequence[int], vocabulary: int, limit: int) -> tuple[int, ...]:
    """`ids` as a whole target, with </s> at its end, whether it was given or not; `limit` pieces at most without it.

    Raises:
        InputError: an id can't be written, </s> stands elsewhere than at the end, or there are too many.
    """
    pieces = tuple(ids[:-1] if ids and ids[-1] == EOS_ID else ids)
    check_ids("The translation", pieces, vocabulary, written=True)
    if EOS_ID in pieces:
        raise InputError(f"The translation goes on after its </s>, at piece {pieces.index(EOS_ID) + 1}.")
    if len(pieces) > limit:
        raise InputError(
            f"The translation has {len(pieces):,} pieces; at most {limit:,} are allowed for this sentence: give fewer, "
            "or a decoding with a larger max_length."
        )
    return (*pieces, EOS_ID)
