"""Reading sentence pairs: formats, cleaning, and errors that name file and line."""

import gzip
import sys
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

import pytest

from model_core.data.corpus import CorpusError, Homograph, Pair, group_references, read_homographs, read_pairs

LINES = "Go.\tVa !\nHi.\tSalut !\tCC-BY\tattribution\n\nHi.\tSalut.\n"
PAIRS = [Pair("Go.", "Va !"), Pair("Hi.", "Salut !"), Pair("Hi.", "Salut.")]
HEADER = "word\tsense\tenglish\tfrench\tsplit\n"


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def zipped(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("name", ["c.tsv", "c.txt", "c.TSV", "c.tsv.gz", "c.txt.gz"])
def test_reads_plain_and_gzip(tmp_path: Path, name: str) -> None:
    content = gzip.compress(LINES.encode()) if name.endswith(".gz") else LINES.encode()
    assert read_pairs(written(tmp_path / name, content)) == PAIRS


def test_reads_the_member_of_a_zip_that_holds_pairs(tmp_path: Path) -> None:
    members = {"_about.txt": "x\ty\n", "__MACOSX/fra.txt": "x\ty\n", "readme.txt": "no pairs", "a.csv": "x\ty\n"}
    assert read_pairs(zipped(tmp_path / "fra-eng.zip", members | {"in/fra.txt": LINES})) == PAIRS
    with pytest.raises(CorpusError, match=r"empty\.zip holds no \.txt or \.tsv with tabs"):
        read_pairs(zipped(tmp_path / "empty.zip", members))


def test_cleans_sentences_as_typed_ones_are_cleaned(tmp_path: Path) -> None:
    content = "\ufeff Go.\tC\u0327a\u202fva\u00a0?  \r\n So\u2028what\u00ad.\tEt\u200b alors\n"
    assert read_pairs(written(tmp_path / "c.tsv", content)) == [Pair("Go.", "Ça va ?"), Pair("So what.", "Et alors")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\n\nno tab\n", r"c\.tsv, line 3: there is no TAB .* 'no tab'"),
        (b"a\tb\n\tc\n", r"c\.tsv, line 2: the source is empty"),
        (b"a\tb\nc\t \n", r"c\.tsv, line 2: the target is empty"),
        (b"a\tb\nc\td\xff\n", r"c\.tsv, line 2: byte 4 is not UTF-8"),
        (b"", r"c\.tsv holds no sentence pairs"),
        (b"\n \n", r"c\.tsv holds no sentence pairs"),
    ],
)
def test_what_is_no_pair_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        read_pairs(written(tmp_path / "c.tsv", content))


def test_a_long_line_is_cut_in_the_message(tmp_path: Path) -> None:
    with pytest.raises(CorpusError) as caught:
        read_pairs(written(tmp_path / "c.tsv", "x" * 5000))
    assert "x…" in str(caught.value) and str(caught.value).count("x") < 100


@pytest.mark.parametrize("name", ["broken.tsv.gz", "broken.zip"])
def test_a_damaged_archive_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorpusError, match=rf"{name} cannot be"):
        read_pairs(written(tmp_path / name, b"no archive"))


@pytest.mark.parametrize(("field", "value"), [("a password", 1), ("an unknown packing", 99)])
def test_a_zip_that_another_program_has_to_open_is_told_apart(tmp_path: Path, field: str, value: int) -> None:
    packed = bytearray(zipped(tmp_path / "odd.zip", {"fra.txt": LINES}).read_bytes())
    directory = packed.index(b"PK\x01\x02")
    offset = 0 if field == "a password" else 2  # of the flags and of the method, in both headers of the member
    packed[6 + offset] = packed[directory + 8 + offset] = value
    with pytest.raises(CorpusError, match=r"odd\.zip cannot be unpacked here .*unpack it, and name the file inside"):
        read_pairs(written(tmp_path / "odd.zip", bytes(packed)))


PACKINGS = [name for name in ("DEFLATED", "BZIP2", "LZMA", "ZSTANDARD") if hasattr(zipfile, f"ZIP_{name}")]


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_zip_with_damaged_contents_is_named(tmp_path: Path, packing: str) -> None:
    path = tmp_path / "broken.zip"
    with zipfile.ZipFile(path, "w", getattr(zipfile, f"ZIP_{packing}")) as archive:
        archive.writestr("fra.txt", LINES * 300)
    data = bytearray(path.read_bytes())
    first = data.index(b"fra.txt") + len("fra.txt")
    for start in (first + 4, first + 9):  # among its headers, and after those of LZMA
        damaged = data[:start] + b"\xff" * 26 + data[start + 26 :]
        with pytest.raises(CorpusError, match=r"broken\.zip cannot be unpacked \(.*\); fetch it again"):
            read_pairs(written(path, bytes(damaged)))


def test_a_zip_with_a_damaged_name_is_named(tmp_path: Path) -> None:
    packed = bytearray(zipped(tmp_path / "odd.zip", {"é.txt": LINES}).read_bytes())
    packed[packed.rindex("é".encode())] = 0xFF
    with pytest.raises(CorpusError, match=r"odd\.zip cannot be unpacked \(.*codec can't decode.*fetch it again"):
        read_pairs(written(tmp_path / "odd.zip", bytes(packed)))


def test_damage_is_known_by_the_name_that_each_way_to_pack_has_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not all are in every Python: a module that is not there is no reason to fail, one that is there counts."""

    class ZstdError(Exception):
        pass

    def broken(archive: zipfile.ZipFile, name: str) -> bytes:
        raise ZstdError("Unable to decompress")

    path = zipped(tmp_path / "new.zip", {"fra.txt": LINES})
    monkeypatch.setattr(zipfile.ZipFile, "read", broken)
    monkeypatch.setitem(sys.modules, "lzma", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", cast(ModuleType, SimpleNamespace(ZstdError=ZstdError)))
    with pytest.raises(CorpusError, match=r"new\.zip cannot be unpacked \(Unable to decompress\); fetch it again"):
        read_pairs(path)


def test_a_cut_gzip_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"cut\.tsv\.gz cannot be unpacked"):
        read_pairs(written(tmp_path / "cut.tsv.gz", gzip.compress(LINES.encode())[:-9]))


def test_a_missing_file_and_an_unknown_kind_are_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"none\.tsv cannot be read: No such file"):
        read_pairs(tmp_path / "none.tsv")
    for name in ("c.csv", "c.zip.gz", "c.gz", "c"):
        with pytest.raises(CorpusError, match=rf"{name}: a corpus is a \.tsv"):
            read_pairs(written(tmp_path / name, LINES))


def test_references_are_grouped_in_order_of_appearance() -> None:
    pairs = [Pair("b", "1"), Pair("a", "2"), Pair("b", "3"), Pair("c", "4"), Pair("a", "5"), Pair("b", "6")]
    assert group_references(pairs) == [("b", ["1", "3", "6"]), ("a", ["2", "5"]), ("c", ["4"])]


def test_reads_homographs(tmp_path: Path) -> None:
    content = HEADER + "bank\triver\tWe sat on the bank.\tNous étions assis sur la berge.\ttrain\n"
    content += "bank\tmoney\tThe bank is closed.\tLa banque est fermée.\ttest\n"
    assert read_homographs(written(tmp_path / "h.tsv", content)) == [
        Homograph("bank", "river", "We sat on the bank.", "Nous étions assis sur la berge.", "train"),
        Homograph("bank", "money", "The bank is closed.", "La banque est fermée.", "test"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"h\.tsv: the first line has to be the header word, sense, english, french, split"),
        ("bank\triver\ta\tb\ttrain\n", r"h\.tsv: the first line has to be the header"),
        (HEADER, r"h\.tsv holds a header and no sentences"),
        (HEADER + "\nbank\triver\ta\tb\tvalid\n", r"h\.tsv, line 3: the split has to be train or test, it is 'valid'"),
        (HEADER + "bank\triver\ta\tb\n", r"h\.tsv, line 2: 5 filled columns are needed, there are 4"),
        (HEADER + "bank\triver\ta\t\ttrain\n", r"h\.tsv, line 2: 5 filled columns are needed, there are 4"),
        (HEADER + "bank\triver\ta\tb\ttrain\tx\n", r"h\.tsv, line 2: 5 filled columns are needed, there are 6"),
    ],
)
def test_a_bad_table_of_homographs_is_named(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        read_homographs(written(tmp_path / "h.tsv", content))
