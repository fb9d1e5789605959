"""Traces in files: what comes back is what was saved, and nothing else is taken for a trace."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from model_core.trace import SITES, Alternative, Hypothesis, TraceError, TranslationTrace
from model_core.trace import file as trace_file
from tests.small_traces import small_trace


def rich_trace() -> TranslationTrace:
    """A trace of a beam search, with every kind of value that a file has to bring back."""
    trace = small_trace(source=("<s>", '<b>"', "\0\n", "שלום", "你好\ud800", "🙂", "</s>"), seed=3)
    first = (Hypothesis(1001, -1, -0.1, -0.3, False, True), Hypothesis(4, -1, -math.inf, -math.inf, True, False))
    alternatives = (Alternative(1001, -0.1 - 1e-17), Alternative(4, -math.inf))
    steps = (replace(trace.decoding[0], alternatives=alternatives, hypotheses=first), *trace.decoding[1:])
    states = np.random.default_rng(5).normal(size=trace.encoder_states.shape)
    pieces = {**trace.pieces, 4: "<0xE2>"}
    return replace(trace, decoding=steps, strategy="beam", score=-1 / 3, encoder_states=states, pieces=pieces)


def assert_same(one: TranslationTrace, other: TranslationTrace) -> None:
    for field in fields(TranslationTrace):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if field.name in SITES:
            np.testing.assert_array_equal(mine.weights, theirs.weights)
            np.testing.assert_array_equal(mine.allowed, theirs.allowed)
            assert (mine.site, mine.query_tokens, mine.key_tokens) == (
                theirs.site,
                theirs.query_tokens,
                theirs.key_tokens,
            )
        elif isinstance(mine, np.ndarray):
            np.testing.assert_array_equal(mine, theirs)
        else:
            assert mine == theirs, field.name


def test_a_saved_trace_comes_back(tmp_path: Path) -> None:
    trace, path = rich_trace(), tmp_path / "a.safetensors"
    trace.save(path)
    assert_same(TranslationTrace.load(path), trace)
    assert_same(TranslationTrace.from_bytes(path.read_bytes()), trace)
    assert_same(copy.deepcopy(trace), trace)
    assert [file.name for file in tmp_path.iterdir()] == ["a.safetensors"]
    with pytest.raises(ValueError, match="read-only"):
        TranslationTrace.load(path).cross.weights[0] = 0


def test_numbers_of_numpy_are_saved_as_numbers() -> None:
    trace = small_trace()
    number: Any = np.int64(10)
    step = replace(trace.decoding[0], log_probability=np.float32(-0.25), alternatives=(Alternative(number, -1.0),))
    back = TranslationTrace.from_bytes(replace(trace, decoding=(step, *trace.decoding[1:])).to_bytes())
    assert back.decoding[0].log_probability == -0.25
    assert back.decoding[0].alternatives == (Alternative(10, -1.0),)


def test_any_reader_of_safetensors_finds_the_arrays() -> None:
    trace = rich_trace()
    tensors = load_tensors(trace.to_bytes())
    np.testing.assert_array_equal(tensors["cross.weights"], trace.cross.weights)
    np.testing.assert_array_equal(tensors["decoder_self.allowed"], trace.decoder_self.allowed)


def test_saving_replaces_a_file_and_leaves_nothing_beside_it_when_it_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_text("old")
    small_trace().save(path)
    assert TranslationTrace.load(path).checkpoint == "made-up@0"
    with pytest.raises(TraceError, match=r"cannot be written to .*missing"):
        small_trace().save(tmp_path / "missing" / "a.safetensors")
    (tmp_path / "folder").mkdir()
    with pytest.raises(TraceError, match=r"cannot be written to .*folder"):
        small_trace().save(tmp_path / "folder")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.safetensors", "folder"]


WHOLE = rich_trace().to_bytes()
FOREIGN = {
    "nothing": b"",
    "text": b"How are you?",
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "a header of no length": bytes(8) + b"{}",
    "a header longer than the file": b"\xff" * 8 + b"{}",
    "a list for a header": (2).to_bytes(8, "little") + b"[]",
    "metadata that is no table": (20).to_bytes(8, "little") + b'{"__metadata__": []}',
    "nested without end": (100_000).to_bytes(8, "little") + b"[" * 100_000,
    "tensors without metadata": save_tensors({"a": np.zeros(3)}),
    "tensors of something else": save_tensors({"a": np.zeros(3)}, {"format": "pt"}),
    "a later version": save_tensors({"a": np.zeros(3)}, {"format": trace_file.FORMAT, "version": "2"}),
    "other tensors": save_tensors({"a": np.zeros(3)}, {"format": trace_file.FORMAT, "version": "1"}),
}


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_file_is_refused_by_name(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "some.file"
    path.write_bytes(data)
    with pytest.raises(TraceError, match=r"some\.file cannot be opened as a trace: .+\.$") as caught:
        TranslationTrace.load(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"absent\.safetensors cannot be read: No such file"):
        TranslationTrace.load(tmp_path / "absent.safetensors")
    with pytest.raises(TraceError, match=f"{tmp_path.name} cannot be read"):
        TranslationTrace.load(tmp_path)


@given(length=st.integers(0, len(WHOLE) - 1))
def test_a_file_cut_short_is_refused(length: int) -> None:
    with pytest.raises(TraceError, match=r"^The trace cannot be opened"):
        TranslationTrace.from_bytes(WHOLE[:length])


@given(place=st.integers(0, len(WHOLE) - 1), bit=st.integers(0, 7))
def test_a_file_with_one_flipped_bit_is_refused(place: int, bit: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[place] ^= 1 << bit
    with pytest.raises(TraceError, match="cannot be opened"):
        TranslationTrace.from_bytes(bytes(damaged))


FORGED: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("malformed", lambda data: data.pop("source_text")),
    ("malformed", lambda data: data.update(source_text=5)),
    ("malformed", lambda data: data.update(score="high")),
    ("malformed", lambda data: data.update(score=10**400)),
    ("malformed", lambda data: data.update(decoding={})),
    ("malformed", lambda data: data["source_tokens"][0].pop()),
    ("malformed", lambda data: data["source_tokens"][0].__setitem__(0, "1")),
    ("malformed", lambda data: data["source_tokens"][0].__setitem__(4, 1)),
    ("malformed", lambda data: data["source_tokens"][0].__setitem__(0, True)),
    ("malformed", lambda data: data["decoding"][0]["alternatives"].append([1001])),
    ("malformed", lambda data: data["pieces"].update(x="▁x")),
    ("4 steps for 5 predicted tokens", lambda data: data["decoding"].pop()),
    ("6 query tokens and 6 key tokens", lambda data: data["source_tokens"].pop()),
    ("no strategy 'guess'", lambda data: data.update(strategy="guess")),
]


@pytest.mark.parametrize(("message", "change"), FORGED)
def test_a_whole_file_that_contradicts_itself_is_refused(
    message: str, change: Callable[[dict[str, Any]], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = trace_file._to_json(rich_trace())
    change(data)
    monkeypatch.setattr(trace_file, "_to_json", lambda trace: data)
    forged = rich_trace().to_bytes()  # its SHA-256 is right: whoever wrote it knew how
    with pytest.raises(TraceError, match=f"^forged cannot be opened as a trace: .*{message}"):
        TranslationTrace.from_bytes(forged, "forged")
