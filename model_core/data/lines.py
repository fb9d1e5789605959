"""The lines of a text file that may be packed, and the error that names the file and the line."""

from __future__ import annotations

import gzip
import importlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath


class CorpusError(ValueError):
    """A corpus file that cannot be used. Its message is a sentence with the file, and the line where there is one."""


def _damage() -> tuple[type[Exception], ...]:
    """The errors that unpacking raises for broken data, names of members included. Some ways to pack are not in every
    Python: zstd is in those from 3.14 on."""
    errors: list[type[Exception]] = [zipfile.BadZipFile, zlib.error, EOFError, UnicodeDecodeError]
    for module, name in (("lzma", "LZMAError"), ("compression.zstd", "ZstdError")):
        try:
            errors.append(getattr(importlib.import_module(module), name))
        except ImportError:
            continue
    return tuple(errors)


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Line numbers from 1 and lines that are not blank, of a .tsv, .txt, .tsv.gz, .txt.gz or .zip file.

    Only line feeds end a line: sentences may hold U+2028. In a .zip the first .txt or .tsv that holds tabs counts,
    except names that start with "_". Raises CorpusError.
    """
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


def excerpt(line: str) -> str:
    """A line as an error quotes it."""
    return repr(line if len(line) <= 60 else line[:60] + "…")


def _content(path: Path) -> bytes:
    suffix = path.suffix.lower()
    inner = Path(path.stem).suffix.lower() if suffix == ".gz" else suffix
    if inner not in (".tsv", ".txt", ".zip") or (suffix == ".gz" and inner == ".zip"):
        raise CorpusError(f"{path}: a corpus is a .tsv, .txt, .tsv.gz, .txt.gz or .zip file.")
    try:
        if suffix == ".zip":
            return _zip_member(path)
        return gzip.decompress(path.read_bytes()) if suffix == ".gz" else path.read_bytes()
    except _damage() as error:
        raise CorpusError(f"{path} cannot be unpacked ({error}); fetch it again.") from error
    except RuntimeError as error:  # zipfile's word for a password, or a way to pack that it does not know
        raise CorpusError(f"{path} cannot be unpacked here ({error}): unpack it, and name the file inside.") from error
    except OSError as error:
        if error.errno is None:  # bz2's and gzip's word for broken data, which no system call raised
            raise CorpusError(f"{path} cannot be unpacked ({error}); fetch it again.") from error
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
