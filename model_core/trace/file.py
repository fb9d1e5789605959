"""A trace as one safetensors file, which anything that reads safetensors can open.

Tensors: `<site>.weights` and `<site>.allowed` of the three sites, `encoder_states`, `decoder_states`. Metadata, all
strings: `format`, `version`, `trace` (JSON of the rest), and `sha256` over all of that, because safetensors itself
loads a file with flipped bits without a word. The digest finds accidents; it is no signature.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from model_core.files import write_atomically
from model_core.sites import SITES
from model_core.text.pieces import Token
from model_core.trace.arrays import TraceError
from model_core.trace.maps import AttentionMaps
from model_core.trace.parts import TraceParts
from model_core.trace.steps import Alternative, DecodingStep, Hypothesis

FORMAT = "regard-trace"
VERSION = "1"
Trace = TypeVar("Trace", bound=TraceParts)
Arrays = dict[str, NDArray[Any]]

_TOKEN_TUPLES = ("source_tokens", "decoder_input_tokens", "predicted_tokens")
_TEXTS = ("source_text", "target_text", "strategy", "checkpoint")
_NUMBERS = ("log_probability", "score")
_STATES = ("encoder_states", "decoder_states")
_TENSORS = sorted([f"{site}.{part}" for site in SITES for part in ("weights", "allowed")] + list(_STATES))


def save_trace(trace: TraceParts, path: str | Path) -> None:
    """Writes the file beside its place first and then moves it there, so that no half-written one can stay behind."""
    target = Path(path)
    if not target.name:
        raise TraceError(f"The trace cannot be written to {str(path)!r}: that names no file.")
    try:
        write_atomically(target, to_bytes(trace))
    except OSError as error:
        raise TraceError(f"The trace cannot be written to {path}: {error.strerror or error}.") from error


def load_trace(path: str | Path, kind: type[Trace]) -> Trace:
    """Reads a file that `save_trace` wrote, as a trace of class `kind`."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror or error}.") from error
    return from_bytes(data, str(path), kind)


def to_bytes(trace: TraceParts) -> bytes:
    tensors: Arrays = {name: getattr(trace, name) for name in _STATES}
    for site in SITES:
        maps: AttentionMaps = getattr(trace, site)
        tensors |= {f"{site}.weights": maps.weights, f"{site}.allowed": maps.allowed}
    metadata = {"format": FORMAT, "version": VERSION, "trace": json.dumps(_to_json(trace), allow_nan=False)}
    return save_tensors(tensors, metadata | {"sha256": _digest(tensors, metadata)})


def from_bytes(data: bytes, name: str, kind: type[Trace]) -> Trace:
    """The trace, of class `kind`, that `to_bytes` wrote. `name` is what errors call it."""
    try:
        metadata = _metadata(data)
        _check_format(metadata)
        try:
            tensors = load_tensors(data)
        except (SafetensorError, KeyError, ValueError, OverflowError) as error:
            raise TraceError(f"its tensors cannot be read ({error}); it was cut short or damaged.") from error
        _check_contents(tensors, metadata)
        return kind(**_from_json(tensors, json.loads(metadata["trace"])))
    except TraceError as error:
        raise TraceError(f"{name} cannot be opened as a trace: {error}") from error
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise TraceError(
            f"{name} cannot be opened as a trace: what it says about the sentence is malformed."
        ) from error


def _metadata(data: bytes) -> dict[str, str]:
    """The strings in a safetensors file's header: 8 bytes of length (little endian), then JSON."""
    end = 8 + int.from_bytes(data[:8], "little")
    try:
        if not 8 < end <= len(data):
            raise ValueError
        metadata = _read(json.loads(data[8:end])["__metadata__"], dict)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise TraceError(f"its {len(data):,} bytes are no whole safetensors file with metadata.") from error
    return metadata


def _check_format(metadata: Mapping[str, str]) -> None:
    format_name = metadata.get("format")
    if format_name != FORMAT:
        raise TraceError(f"it holds {format_name!r} instead of {FORMAT!r}; save one with TranslationTrace.save.")
    if metadata.get("version") != VERSION:
        raise TraceError(f"its format version is {metadata.get('version')!r}; this program reads {VERSION!r}.")


def _check_contents(tensors: Arrays, metadata: Mapping[str, str]) -> None:
    if sorted(tensors) != _TENSORS:
        missing = [name for name in _TENSORS if name not in tensors]
        raise TraceError(f"its tensors are not those of a trace (missing: {', '.join(missing) or 'none, too many'}).")
    if metadata.get("sha256") != _digest(tensors, metadata):
        raise TraceError("its contents do not match its own SHA-256, so it was damaged or changed; get it again.")


def _digest(tensors: Arrays, metadata: Mapping[str, str]) -> str:
    """SHA-256 in hexadecimal over the metadata and, by name, each tensor's name, type, shape and bytes."""
    digest = hashlib.sha256(json.dumps([metadata[key] for key in ("format", "version", "trace")]).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(json.dumps([name, tensor.dtype.name, list(tensor.shape)]).encode())
        digest.update(np.ascontiguousarray(tensor).data)
    return digest.hexdigest()


def _to_json(trace: TraceParts) -> dict[str, Any]:
    result: dict[str, Any] = {name: getattr(trace, name) for name in _TEXTS}
    result |= {name: _written(getattr(trace, name)) for name in _NUMBERS}
    for name in _TOKEN_TUPLES:
        result[name] = [_written_row(token) for token in getattr(trace, name)]
    result["decoding"] = [
        {
            "chosen_id": _written(step.chosen_id),
            "log_probability": _written(step.log_probability),
            "alternatives": [_written_row(alternative) for alternative in step.alternatives],
            "hypotheses": [_written_row(hypothesis) for hypothesis in step.hypotheses],
        }
        for step in trace.decoding
    ]
    result["pieces"] = {str(id): piece for id, piece in trace.pieces.items()}
    return result


def _from_json(tensors: Arrays, data: dict[str, Any]) -> dict[str, Any]:
    """The fields of a trace."""
    texts = {name: _read(data[name], str) for name in _TEXTS}
    numbers = {name: _read(data[name], float) for name in _NUMBERS}
    tokens = {
        name: tuple(Token(*_row(row, int, str, str, int, bool)) for row in _read(data[name], list))
        for name in _TOKEN_TUPLES
    }
    source, target = tokens["source_tokens"], tokens["decoder_input_tokens"]
    between = {"encoder_self": (source, source), "decoder_self": (target, target), "cross": (target, source)}
    maps = {s: AttentionMaps(s, tensors[f"{s}.weights"], tensors[f"{s}.allowed"], *between[s]) for s in SITES}
    parts: dict[str, Any] = texts | numbers | tokens | maps | {name: tensors[name] for name in _STATES}
    parts["decoding"] = tuple(map(_step, _read(data["decoding"], list)))
    parts["pieces"] = {int(id): _read(piece, str) for id, piece in _read(data["pieces"], dict).items()}
    return parts


def _step(data: dict[str, Any]) -> DecodingStep:
    return DecodingStep(
        _read(data["chosen_id"], int),
        _read(data["log_probability"], float),
        tuple(Alternative(*_row(row, int, float)) for row in _read(data["alternatives"], list)),
        tuple(Hypothesis(*_row(row, int, int, float, float, bool, bool)) for row in _read(data["hypotheses"], list)),
    )


def _row(row: list[Any], *kinds: type) -> list[Any]:
    return [_read(value, kind) for value, kind in zip(_read(row, list), kinds, strict=True)]


def _read(value: Any, kind: type) -> Any:
    """The value if it is of that kind. JSON knows no infinity: null is the log-probability of the impossible."""
    if kind is float:
        value = -math.inf if value is None else float(value) if type(value) is int else value
    if type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _written_row(instance: Token | Alternative | Hypothesis) -> list[Any]:
    """The values of its fields, in their order."""
    return [_written(value) for value in vars(instance).values()]


def _written(value: Any) -> Any:
    """The value as JSON takes it: Python's own numbers, and null for minus infinity."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if value == -math.inf else value
