"""The homograph set: sentences that use a word of several senses in one of them, and the French that shows which."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_core.data.lines import CorpusError, excerpt, numbered_lines
from model_core.text.cleaning import clean_text

HOMOGRAPHS = Path(__file__).parent / "homographs.tsv"
SENSES = Path(__file__).parent / "homograph_senses.tsv"
HOMOGRAPH_COLUMNS = ("word", "sense", "english", "french", "split")
SPLITS = ("train", "test")

Senses = Mapping[str, Mapping[str, Sequence[str]]]
"""word -> sense -> the French forms that show it."""


@dataclass(frozen=True)
class Homograph:
    """A sentence that uses an ambiguous `word` in one `sense`, its translation, and the `split` it belongs to."""

    word: str
    sense: str
    source: str
    target: str
    split: str


def read_homographs(path: str | Path = HOMOGRAPHS) -> list[Homograph]:
    """Reads a table of word, sense, english, french, split (a header line says so; split is train or test).

    Raises CorpusError with the file and line where the header, a column or a split is not as it has to be.
    """
    lines = list(numbered_lines(Path(path)))
    if not lines or tuple(lines[0][1].split("\t")) != HOMOGRAPH_COLUMNS:
        raise CorpusError(
            f"{path}: the first line has to be the header {', '.join(HOMOGRAPH_COLUMNS)}, with tabs between."
        )
    homographs = [_homograph(path, number, line) for number, line in lines[1:]]
    if not homographs:
        raise CorpusError(f"{path} holds a header and no sentences.")
    return homographs


def _homograph(path: str | Path, number: int, line: str) -> Homograph:
    columns = [clean_text(column).text for column in line.split("\t")]
    if len(columns) != len(HOMOGRAPH_COLUMNS) or not all(columns):
        filled = sum(map(bool, columns))
        raise CorpusError(
            f"{path}, line {number}: {len(HOMOGRAPH_COLUMNS)} filled columns are needed, "
            f"there are {filled} in {excerpt(line)}."
        )
    homograph = Homograph(*columns)
    if homograph.split not in SPLITS:
        raise CorpusError(f"{path}, line {number}: the split has to be train or test, it is {homograph.split!r}.")
    return homograph


def read_senses(path: Path = SENSES) -> dict[str, dict[str, tuple[str, ...]]]:
    """word -> sense -> the French forms that show it."""
    senses: dict[str, dict[str, tuple[str, ...]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            senses.setdefault(row["word"], {})[row["sense"]] = tuple(row["french"].split("|"))
    return senses


def senses_shown(french: str, word: str, senses: Senses) -> list[str]:
    """The senses of `word` of which a form stands in the French text, as whole words; none for an unknown word."""
    lowered = french.lower()

    def holds(forms: Sequence[str]) -> bool:
        alternatives = "|".join(re.escape(form) for form in forms)
        return re.search(rf"(?<!\w)(?:{alternatives})(?!\w)", lowered) is not None

    return [name for name, forms in senses.get(word, {}).items() if holds(forms)]


def shows_sense(french: str, word: str, sense: str, senses: Senses) -> bool:
    """True if a form of that sense stands in the French sentence, as whole words, and none of its other senses does."""
    return senses_shown(french, word, senses) == [sense]
