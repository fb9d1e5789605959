"""One attention map as a person looks at it: all pieces, or pieces merged into words, with or without special tokens.

Shapes: Q query, K key; "..." any leading axes, such as layer and head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from model_core.sites import Site
from model_core.text.pieces import WORD_START, Token, Tokens, piece_bytes
from model_core.text.words import word_places
from model_core.trace.arrays import TraceError, finite_float32, frozen_copy
from model_core.trace.maps import AttentionMaps
from model_core.trace.trace import TranslationTrace

Unit = Literal["piece", "word"]


@dataclass(frozen=True, eq=False)
class AttentionView:
    """A slice of a trace with its labels: what figures and downloads take.

    `weights [..., Q, K]` float32 and `allowed [Q, K]` bool are kept as read-only copies. `predicted_tokens` says for
    each query of a decoder site what that row predicts; it is empty for the encoder. `unit` is what one row or column
    stands for.

    Raises:
        TraceError: shapes do not fit the tokens, or a weight is not a finite number.
    """

    site: Site
    weights: NDArray[np.float32]
    allowed: NDArray[np.bool_]
    query_tokens: Tokens
    key_tokens: Tokens
    predicted_tokens: Tokens = ()
    unit: Unit = "piece"

    def __post_init__(self) -> None:
        shape = (len(self.query_tokens), len(self.key_tokens))
        weights, allowed = finite_float32(f"{self.site}'s weights", self.weights), frozen_copy(self.allowed)
        if weights.shape[-2:] != shape or allowed.shape != shape or allowed.dtype != np.bool_:
            raise TraceError(
                f"Weights of shape {list(weights.shape)} and {allowed.dtype} allowed of shape {list(allowed.shape)} "
                f"do not fit {shape[0]} query tokens and {shape[1]} key tokens."
            )
        if len(self.predicted_tokens) not in (0, shape[0]):
            raise TraceError(f"{len(self.predicted_tokens)} predicted tokens do not fit {shape[0]} query tokens.")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "allowed", allowed)

    @property
    def row_sums(self) -> NDArray[np.float32]:
        """The sum of each row of weights, `[..., Q]`: 1, unless a hook or hide_special took some of it away."""
        return self.weights.sum(axis=-1, dtype=np.float64).astype(np.float32)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), tuple(vars(self).values())


def view_map(trace: TranslationTrace, site: Site, layer: int | None, head: int | None = None) -> AttentionView:
    """One map of a trace, weights `[Q, K]`; head None is the mean over the heads, layer None over the layers too.

    Raises:
        IndexError: there is no such layer or head.
    """
    maps = trace.maps(site)
    return _view(trace, maps, maps.map(layer, head))


def view_maps(trace: TranslationTrace, site: Site) -> AttentionView:
    """All maps of a site at once, weights `[layer, head, Q, K]`."""
    maps = trace.maps(site)
    return _view(trace, maps, maps.weights)


def _view(trace: TranslationTrace, maps: AttentionMaps, weights: NDArray[np.float32]) -> AttentionView:
    predicted = () if maps.site == "encoder_self" else trace.predicted_tokens
    return AttentionView(maps.site, weights, maps.allowed, maps.query_tokens, maps.key_tokens, predicted)


def strongest(weights: NDArray[np.float32], allowed: NDArray[np.bool_]) -> tuple[int, int, float]:
    """Query, key and weight of the strongest allowed cell of one map `[Q, K]`; the first one where several are.

    A row that may attend to one key only has no choice, so its 1.0 tells nothing: such rows count only where there are
    no others.

    Raises:
        ValueError: no cell is allowed.
    """
    if not allowed.any():
        raise ValueError(f"None of the {allowed.size} cells of the map is allowed, so none is the strongest.")
    free = allowed & (allowed.sum(axis=1, keepdims=True) > 1)
    query, key = divmod(int(np.where(free if free.any() else allowed, weights, -np.inf).argmax()), weights.shape[1])
    return query, key, float(weights[query, key])


def merge_words(view: AttentionView) -> AttentionView:
    """Joins the pieces of each word: the **sum** over a word's key pieces, the **mean** over its query pieces.

    The tokens say which pieces are one word (`Token.word`): a punctuation mark is apart from the word that it follows.

    So a row still sums to 1: what a word gets is what its pieces get together, what it gives is what they give on
    average. A special token stays on its own. A decoder row is grouped by the word of its own *input* token, and
    predicts the pieces that its rows predict. A query word may attend to a key word if any of its pieces may to any of
    the other's: within a word that is being written, later pieces are masked for earlier ones and count as 0.
    """
    queries, keys = word_places(view.query_tokens), word_places(view.key_tokens)
    if not queries or not keys:
        return view
    rows, columns = [places.start for places in queries], [places.start for places in keys]
    weights = np.add.reduceat(view.weights.astype(np.float64), columns, axis=-1)
    weights = np.add.reduceat(weights, rows, axis=-2) / np.array([len(places) for places in queries])[:, None]
    allowed = np.logical_or.reduceat(np.logical_or.reduceat(view.allowed, columns, axis=1), rows, axis=0)
    return replace(
        view,
        weights=weights.astype(np.float32),
        allowed=allowed,
        query_tokens=_merged(view.query_tokens, queries),
        key_tokens=_merged(view.key_tokens, keys),
        predicted_tokens=_merged(view.predicted_tokens, queries) if view.predicted_tokens else (),
        unit="word",
    )


def hide_special(view: AttentionView, renormalise: bool = False) -> AttentionView:
    """Drops the rows and columns of special tokens (<s>, </s>, ...).

    What a row gave to them is then missing from its sum (see row_sums). With `renormalise` each row is divided by what
    is left of it and sums to 1 again; a row that gave everything to special tokens has nothing to divide and stays 0.
    In a decoder map the row of <s> goes too, and with it what predicts the first piece.
    """
    rows = np.array([not token.special for token in view.query_tokens], dtype=bool)
    columns = np.array([not token.special for token in view.key_tokens], dtype=bool)
    weights = view.weights[..., rows, :][..., columns]
    if renormalise:
        sums = weights.sum(axis=-1, keepdims=True, dtype=np.float64)
        weights = np.divide(weights, sums, out=np.zeros(weights.shape), where=sums > 0).astype(np.float32)
    return replace(
        view,
        weights=weights,
        allowed=view.allowed[rows][:, columns],
        query_tokens=tuple(token for token in view.query_tokens if not token.special),
        key_tokens=tuple(token for token in view.key_tokens if not token.special),
        predicted_tokens=tuple(token for token, kept in zip(view.predicted_tokens, rows, strict=False) if kept),
    )


def _merged(tokens: Tokens, groups: Sequence[range]) -> Tokens:
    return tuple(_joined(tokens[places.start : places.stop]) for places in groups)


def _joined(tokens: Tokens) -> Token:
    """One token for several; it keeps the first one's id and word."""
    if len(tokens) == 1:
        return tokens[0]
    special = all(token.special for token in tokens)
    return replace(tokens[0], piece="".join(t.piece for t in tokens), text=_text(tokens) or WORD_START, special=special)


def _text(tokens: Tokens) -> str:
    """The text of the pieces: "▁" is a space, except at the start, and byte pieces are UTF-8 (broken: U+FFFD)."""
    return b"".join(map(_bytes, tokens)).decode("utf-8", errors="replace").removeprefix(" ")


def _bytes(token: Token) -> bytes:
    return f" {token.piece}".encode() if token.special else piece_bytes(token.piece)
