"""The sentence pairs written for this project: readable, and without those that models are judged by."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from model_core.data.corpus import read_pairs
from model_core.data.homographs import HOMOGRAPHS, read_homographs
from tests.golden.test_en_fr_checkpoint import GOLDEN

FILES = sorted((HOMOGRAPHS.parent / "written").glob("*.tsv"))


def bare(sentence: str) -> str:
    return re.sub(r"\W+", " ", sentence.lower()).strip()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_line_is_a_pair_of_plain_sentences(path: Path) -> None:
    pairs = read_pairs(path)
    assert len(pairs) > 900
    for pair in pairs:
        assert not re.search("[\u2018\u2019\u201c\u201d\u00a0\u202f]|  ", pair.source + pair.target), pair
        assert not re.search(r"\w[?!;](?:\s|$)", pair.target), pair


def test_no_sentence_stands_twice_or_is_one_that_models_are_judged_by() -> None:
    sources = [bare(pair.source) for path in FILES for pair in read_pairs(path)]
    assert len(sources) == len(set(sources))
    held_out = {bare(h.source) for h in read_homographs(HOMOGRAPHS) if h.split == "test"}
    assert not set(sources) & (held_out | {bare(sentence) for sentence in GOLDEN})
