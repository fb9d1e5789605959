"""All steps of a trace as bytes that stepper.js reads.

Shapes: T target token, S source token. Layout: a line of JSON, then the cross-attention `[T, S]` as float32.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from model_core.trace import DecodingStep, Token, TranslationTrace
from viz.theme import cut, visible

LEAST = -1e4  # JSON has no infinity
_LABEL = 16


class Draw(Protocol):
    """What sampling draws from at a step: the number of pieces that are left, and the share of each that is shown."""

    @property
    def count(self) -> int: ...

    @property
    def shares(self) -> Sequence[float]: ...


@dataclass(frozen=True)
class CacheShape:
    """What the key/value cache holds a position: a key and a value of `width` numbers in each head of each layer."""

    layers: int
    heads: int
    width: int
    bytes: int = 4  # float32


def pack_steps(
    trace: TranslationTrace,
    weights: NDArray[np.float32],
    *,
    vocabulary: int,
    cache: CacheShape,
    map_name: str,
    forced: Collection[int] = (),
    may_force: bool = True,
    tinted: bool = False,
    draws: Sequence[Draw] = (),
) -> bytes:
    """Packs the trace with the cross-attention map `weights [T, S]` that is to be seen beside it, called `map_name`.

    `vocabulary` counts all pieces, those that are never written included; `forced` are the steps (from 0) whose piece a
    person chose; with `may_force` False alternatives can't be chosen; `tinted` colours the pieces by their probability;
    `draws` has what sampling draws from at each step, with the shares of `shown_pieces`.

    Raises:
        ValueError: the weights are not those of a map of this trace.
    """
    shape = (len(trace.predicted_tokens), len(trace.source_tokens))
    if weights.shape != shape:
        raise ValueError(f"The map has shape {list(weights.shape)}; this trace's are {list(shape)}.")
    cells = np.ascontiguousarray(weights, dtype="<f4").tobytes()
    drawn = draws or [None] * len(trace.decoding)
    content: dict[str, Any] = {
        "source": _tokens(trace.source_tokens),
        "predicted": _tokens(trace.predicted_tokens),
        "steps": [_step(step, trace, draw) for step, draw in zip(trace.decoding, drawn, strict=True)],
        "vocabulary": vocabulary,
        "cache": asdict(cache),
        "map": map_name,
        "forced": sorted(forced),
        "mayForce": may_force,
        "tinted": tinted,
    }
    digest = hashlib.blake2b(json.dumps(content).encode() + cells, digest_size=8).hexdigest()
    return json.dumps({"digest": digest, **content}, separators=(",", ":")).encode() + b"\n" + cells


def packed_count(packed: bytes) -> int:
    """How many steps the bytes hold. Raises ValueError where pack_steps did not make them."""
    try:
        return len(json.loads(packed[: packed.index(b"\n")])["steps"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"These {len(packed)} bytes are no steps that pack_steps made.") from error


def _tokens(tokens: Sequence[Token]) -> list[dict[str, Any]]:
    found = []
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else None
        joined = before is not None and not token.special and not before.special and token.word == before.word
        found.append({"text": visible(token.text or token.piece), "special": token.special, "joined": joined})
    return found


def shown_pieces(step: DecodingStep) -> list[tuple[int, float]]:
    """Id and log-probability in the picture's order: the alternatives, and behind them the chosen one if it is none."""
    rows = [(entry.id, entry.log_probability) for entry in step.alternatives]
    if all(id_ != step.chosen_id for id_, _ in rows):
        rows.append((step.chosen_id, step.log_probability))
    return rows


def _step(step: DecodingStep, trace: TranslationTrace, draw: Draw | None) -> dict[str, Any]:
    spelled = [(id_, visible(trace.pieces[id_]), max(value, LEAST)) for id_, value in shown_pieces(step)]
    pieces = [[id_, cut(piece, _LABEL), piece, round(value, 5)] for id_, piece, value in spelled]
    told: dict[str, Any] = {"chosen": step.chosen_id, "pieces": pieces}
    if draw is not None:
        told["draw"] = {"count": draw.count, "shares": [round(share, 6) for share in draw.shares]}
    return told
