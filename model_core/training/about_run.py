"""The entry "about" of the checkpoints that a training writes, where its options leave something open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from model_core.checkpoint.about import CheckpointAbout, about_of
from model_core.checkpoint.files import CONFIG, read_config
from model_core.data.corpus import Pair

EXAMPLES, LONGEST_EXAMPLE = 5, 100  # sentences, characters


def about_of_run(
    given: CheckpointAbout, out: Path, start_from: Path | None, validation: Sequence[Pair]
) -> CheckpointAbout:
    """`given`, completed by the run's own checkpoint, the one that it starts from, and the validation sentences.

    So a run that goes on, or begins with another checkpoint's weights, keeps its languages without being told again.

    Raises:
        CheckpointError: an earlier checkpoint's config.json can't be read.
    """
    for folder in (out, start_from):
        if folder is not None and (folder / CONFIG).exists():
            given = _completed(given, about_of(read_config(folder)))
    return given if given.examples else replace(given, examples=first_examples(validation))


def _completed(given: CheckpointAbout, earlier: CheckpointAbout) -> CheckpointAbout:
    return replace(
        given,
        source_language=given.source_language or earlier.source_language,
        target_language=given.target_language or earlier.target_language,
        examples=given.examples or earlier.examples,
    )


def first_examples(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """The first few different source sentences that are short enough to be offered on a button."""
    sources = dict.fromkeys(pair.source for pair in pairs if len(pair.source) <= LONGEST_EXAMPLE)
    return tuple(sources)[:EXAMPLES]
