"""Sentence pairs from files: source TAB target, one pair a line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from model_core.data.homographs import Homograph, read_homographs
from model_core.data.lines import CorpusError, excerpt, numbered_lines
from model_core.text.tokenizer import clean_text

__all__ = ["CorpusError", "Homograph", "Pair", "group_references", "read_homographs", "read_pairs"]


@dataclass(frozen=True)
class Pair:
    """A source sentence and its translation."""

    source: str
    target: str


def read_pairs(path: str | Path) -> list[Pair]:
    """Reads source TAB target lines of a .tsv, .txt, .tsv.gz, .txt.gz or .zip file; further columns are ignored.

    In a .zip the first .txt or .tsv that holds tabs counts, except names that start with "_". Both sentences go
    through clean_text (NFC, plain single spaces), so that a model learns from what it will later be given. Blank
    lines are skipped. Raises CorpusError with the file and line for anything that is no pair.
    """
    pairs = []
    for number, line in numbered_lines(Path(path)):
        columns = line.split("\t")
        if len(columns) < 2:
            raise CorpusError(f"{path}, line {number}: there is no TAB between source and target in {excerpt(line)}.")
        source, target = (clean_text(column).text for column in columns[:2])
        if not source or not target:
            raise CorpusError(
                f"{path}, line {number}: the {'target' if source else 'source'} is empty in {excerpt(line)}."
            )
        pairs.append(Pair(source, target))
    if not pairs:
        raise CorpusError(f"{path} holds no sentence pairs; it needs lines of source TAB target.")
    return pairs


def group_references(pairs: Iterable[Pair]) -> list[tuple[str, list[str]]]:
    """Each source once, in order of first appearance, with all its targets: the references of an evaluation."""
    references: dict[str, list[str]] = {}
    for pair in pairs:
        references.setdefault(pair.source, []).append(pair.target)
    return list(references.items())
