"""All steps of a trace as bytes that stepper.js reads.

Shapes: T target token, S source token. Layout: a line of JSON, then the cross-attention `[T, S]` as float32.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from model_core.trace import DecodingStep, Token, TranslationTrace
from viz.components.packing import LEAST_LOG_PROBABILITY, digest_of, header_of, packed
from viz.components.pieces import continues_word
from viz.theme import cut, visible

_LABEL = 16


class Draw(Protocol):
    """The pieces that sampling draws from at a step: how many are left, and the share of each that is shown."""

    @property
    def count(self) -> int: ...

    @property
    def shares(self) -> Sequence[float]: ...


@dataclass(frozen=True)
class CacheShape:
    """The size of the key/value cache per position: a key and a value of `width` numbers in each head of each layer."""

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
    digest = digest_of(json.dumps(content).encode() + cells)
    return packed({"digest": digest, **content}, cells)


def packed_count(content: bytes) -> int:
    """How many steps the bytes hold. Raises ValueError where pack_steps did not make them."""
    try:
        return len(header_of(content)["steps"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"These {len(content)} bytes are no steps that pack_steps made.") from error


def _tokens(tokens: Sequence[Token]) -> list[dict[str, Any]]:
    return [
        {
            "text": visible(token.text or token.piece),
            "special": token.special,
            "joined": continues_word(tokens, index),
        }
        for index, token in enumerate(tokens)
    ]


def shown_pieces(step: DecodingStep) -> list[tuple[int, float]]:
    """Id and log-probability in the picture's order: the alternatives, and behind them the chosen one if it is none."""
    rows = [(entry.id, entry.log_probability) for entry in step.alternatives]
    if all(id_ != step.chosen_id for id_, _ in rows):
        rows.append((step.chosen_id, step.log_probability))
    return rows


def _step(step: DecodingStep, trace: TranslationTrace, draw: Draw | None) -> dict[str, Any]:
    pieces = []
    for id_, log_probability in shown_pieces(step):
        piece = visible(trace.pieces[id_])
        pieces.append([id_, cut(piece, _LABEL), piece, round(max(log_probability, LEAST_LOG_PROBABILITY), 5)])
    content: dict[str, Any] = {"chosen": step.chosen_id, "pieces": pieces}
    if draw is not None:
        content["draw"] = {"count": draw.count, "shares": [round(share, 6) for share in draw.shares]}
    return content
