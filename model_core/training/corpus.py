"""Sentence pairs from files: source TAB target, one pair a line."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from model_core.tokenizer import clean_text

HOMOGRAPH_COLUMNS = ("word", "sense", "english", "french", "split")
SPLITS = ("train", "test")


class CorpusError(ValueError):
    """A corpus file that cannot be used. Its message is a sentence with the file, and the line where there is one."""


@dataclass(frozen=True)
class Pair:
    """A source sentence and its translation."""

    source: str
    target: str


@dataclass(frozen=True)
class Homograph:
    """A sentence that uses an ambiguous `word` in one `sense`, its translation, and the `split` it belongs to."""

    word: str
    sense: str
    source: str
    target: str
    split: str


def read_pairs(path: str | Path) -> list[Pair]:
    """Reads source TAB target lines of a .tsv, .txt, .tsv.gz, .txt.gz or .zip file; further columns are ignored.

    In a .zip the first .txt or .tsv that holds tabs counts, except names that start with "_". Both sentences go
    through clean_text (NFC, plain single spaces), so that a model learns from what it will later be given. Blank
    lines are skipped. Raises CorpusError with the file and line for anything that is no pair.
    """
    pairs = []
    for number, line in _lines(Path(path)):
        columns = line.split("\t")
        if len(columns) < 2:
            raise CorpusError(f"{path}, line {number}: there is no TAB between source and target in {_excerpt(line)}.")
        source, target = (clean_text(column).text for column in columns[:2])
        if not source or not target:
            raise CorpusError(
                f"{path}, line {number}: the {'target' if source else 'source'} is empty in {_excerpt(line)}."
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


def read_homographs(path: str | Path) -> list[Homograph]:
    """Reads a table of word, sense, english, french, split (a header line says so; split is train or test).

    Raises CorpusError with the file and line where the header, a column or a split is not as it has to be.
    """
    lines = list(_lines(Path(path)))
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
            f"there are {filled} in {_excerpt(line)}."
        )
    homograph = Homograph(*columns)
    if homograph.split not in SPLITS:
        raise CorpusError(f"{path}, line {number}: the split has to be train or test, it is {homograph.split!r}.")
    return homograph


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Line numbers from 1 and lines that are not blank. Only line feeds end a line: sentences may hold U+2028."""
    content = _content(path).removeprefix(b"\xef\xbb\xbf")
    for number, raw in enumerate(content.split(b"\n"), start=1):
        try:
            line = raw.removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            raise CorpusError(
                f"{path}, line {number}: byte {error.start + 1} is not UTF-8; convert the file."
            ) from error
        if line.strip():
            yield number, line


def _content(path: Path) -> bytes:
    suffix = path.suffix.lower()
    inner = Path(path.stem).suffix.lower() if suffix == ".gz" else suffix
    if inner not in (".tsv", ".txt", ".zip") or (suffix == ".gz" and inner == ".zip"):
        raise CorpusError(f"{path}: a corpus is a .tsv, .txt, .tsv.gz, .txt.gz or .zip file.")
    try:
        if suffix == ".zip":
            return _zip_member(path)
        return gzip.decompress(path.read_bytes()) if suffix == ".gz" else path.read_bytes()
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise CorpusError(f"{path} cannot be unpacked ({error}); fetch it again.") from error
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}.") from error


def _zip_member(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            member = PurePosixPath(name)
            if member.suffix.lower() in (".txt", ".tsv") and not any(part.startswith("_") for part in member.parts):
                content = archive.read(name)
                if b"\t" in content:
                    return content
    raise CorpusError(f"{path} holds no .txt or .tsv with tabs in it.")


def _excerpt(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:60] + "…")
