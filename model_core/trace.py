"""What a recorded translation is: frozen types that hold numpy arrays and nothing that computes.

Shapes: L layer, H head, Q query, K key, S source token, T target token, D d_model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model_core.trace_checks import (
    SITES,
    STRATEGIES,
    Site,
    TraceError,
    TraceStrategy,
    check_decoding,
    check_maps,
    check_tokens,
    finite_float32,
    frozen_copy,
    require,
)

__all__ = [
    "SITES",
    "STRATEGIES",
    "Alternative",
    "AttentionMaps",
    "DecodingStep",
    "Hypothesis",
    "Site",
    "Token",
    "Tokens",
    "TraceError",
    "TraceStrategy",
    "TranslationTrace",
]


@dataclass(frozen=True)
class Token:
    """One piece of a sentence, as the model reads or writes it.

    `piece` is the vocabulary's spelling ("▁How", "<0xE2>", "</s>"), `text` what a person should see, `word` the index
    of the whitespace-delimited word that the piece belongs to (-1 for special tokens).
    """

    id: int
    piece: str
    text: str
    word: int
    special: bool


Tokens = tuple[Token, ...]


@dataclass(frozen=True, eq=False)
class AttentionMaps:
    """Every layer's and head's attention at one site.

    `weights [L, H, Q, K]` float32, `allowed [Q, K]` bool (True = the query may attend to the key). Both are kept as
    read-only copies. A row of weights sums to 1 unless a hook changed it.

    Raises:
        TraceError: shapes do not fit the tokens, `allowed` is not boolean, or a weight is not a finite number.
    """

    site: Site
    weights: NDArray[np.float32]
    allowed: NDArray[np.bool_]
    query_tokens: Tokens
    key_tokens: Tokens

    def __post_init__(self) -> None:
        require(self.site in SITES, f"There is no site {self.site!r}; the sites are {', '.join(SITES)}.")
        _set(self, query_tokens=tuple(self.query_tokens), key_tokens=tuple(self.key_tokens))
        _set(self, weights=finite_float32(f"{self.site}'s weights", self.weights), allowed=frozen_copy(self.allowed))
        self._check_shapes()

    def _check_shapes(self) -> None:
        wanted = (len(self.query_tokens), len(self.key_tokens))
        tokens = f"{wanted[0]} query tokens and {wanted[1]} key tokens"
        require(
            self.weights.ndim == 4 and self.weights.shape[2:] == wanted and min(self.weights.shape[:2]) > 0,
            f"{self.site}'s weights have shape {list(self.weights.shape)}, which does not fit {tokens}: "
            f"it has to be [layers, heads, {wanted[0]}, {wanted[1]}].",
        )
        require(
            self.allowed.dtype == np.bool_ and self.allowed.shape == wanted,
            f"{self.site}'s allowed is {self.allowed.dtype} of shape {list(self.allowed.shape)}, which does not fit "
            f"{tokens}: it has to be bool of shape {list(wanted)}.",
        )

    @property
    def layers(self) -> int:
        return self.weights.shape[0]

    @property
    def heads(self) -> int:
        return self.weights.shape[1]

    def map(self, layer: int | None, head: int | None = None) -> NDArray[np.float32]:
        """One map `[Q, K]`; head None is the mean over the heads, layer None the mean over the layers.

        Raises:
            IndexError: there is no such layer or head; they count from 0.
        """
        for name, index, size in (("layer", layer, self.layers), ("head", head, self.heads)):
            if index is not None and not 0 <= index < size:
                raise IndexError(f"There is no {name} {index} in {self.site}: it has {name}s 0 to {size - 1}.")
        chosen = self.weights[slice(None) if layer is None else slice(layer, layer + 1)]
        chosen = chosen[:, slice(None) if head is None else slice(head, head + 1)]
        return frozen_copy(chosen.mean(axis=(0, 1), dtype=np.float64), np.float32)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), _values(self)


@dataclass(frozen=True)
class Alternative:
    """A token that the model might have written at a step, and its log-probability (natural logarithm)."""

    id: int
    log_probability: float


@dataclass(frozen=True)
class Hypothesis:
    """One candidate of one step of a beam search.

    `id` is its last token; `parent` the index of what it continues among the hypotheses of the step before (-1 at the
    first step); `log_probability` the sum over its tokens; `score` that sum after the length penalty; `kept` is False
    where it was weighed but did not stay in the beam.
    """

    id: int
    parent: int
    log_probability: float
    score: float
    finished: bool
    kept: bool


@dataclass(frozen=True)
class DecodingStep:
    """One predicted token: what was chosen, what else was likely (best first), and the beam's candidates if any."""

    chosen_id: int
    log_probability: float
    alternatives: tuple[Alternative, ...]
    hypotheses: tuple[Hypothesis, ...] = ()


@dataclass(frozen=True, eq=False)
class TranslationTrace:
    """Everything that was recorded while one sentence was translated.

    `decoder_input_tokens` are `<s> y1 ... yn`, `predicted_tokens` are `y1 ... yn </s>`: row t of a decoder map belongs
    to decoder_input_tokens[t] and predicts predicted_tokens[t]. `encoder_states [L + 1, S, D]` and `decoder_states
    [L + 1, T, D]` are float32: the embedded input, then each layer's output. `decoding` has one step a predicted token.
    `log_probability` is the sum over the predicted tokens, `score` that sum after the length penalty. `pieces` spells
    every id that occurs, alternatives and hypotheses included. Arrays are kept as read-only copies.

    Raises:
        TraceError: parts disagree; the message names them and their sizes.
    """

    source_text: str
    target_text: str
    source_tokens: Tokens
    decoder_input_tokens: Tokens
    predicted_tokens: Tokens
    encoder_self: AttentionMaps
    decoder_self: AttentionMaps
    cross: AttentionMaps
    encoder_states: NDArray[np.float32]
    decoder_states: NDArray[np.float32]
    decoding: tuple[DecodingStep, ...]
    strategy: TraceStrategy
    log_probability: float
    score: float
    checkpoint: str
    pieces: Mapping[int, str]

    def __post_init__(self) -> None:
        for name in ("source_tokens", "decoder_input_tokens", "predicted_tokens", "decoding"):
            _set(self, **{name: tuple(getattr(self, name))})
        for name in ("encoder_states", "decoder_states"):
            _set(self, **{name: finite_float32(name, getattr(self, name))})
        _set(self, pieces=MappingProxyType(dict(self.pieces)))
        check_tokens(self)
        check_maps(self)
        check_decoding(self)

    def maps(self, site: Site) -> AttentionMaps:
        """The attention maps of a site. Raises TraceError where there is no such site."""
        require(site in SITES, f"There is no site {site!r}; the sites are {', '.join(SITES)}.")
        maps: AttentionMaps = getattr(self, site)
        return maps

    def to_bytes(self) -> bytes:
        """The trace as one safetensors file; see trace_file.py for its layout."""
        from model_core import trace_file

        return trace_file.to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "The trace") -> TranslationTrace:
        """Reads what to_bytes wrote. Raises TraceError, which begins with `name`, where that is no whole trace."""
        from model_core import trace_file

        return trace_file.from_bytes(data, name)

    def save(self, path: str | Path) -> None:
        """Writes the trace to a file, in place of one that is there. Raises TraceError where it cannot be written."""
        from model_core import trace_file

        trace_file.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> TranslationTrace:
        """Reads a file that save wrote. Raises TraceError, which names the file, where it holds no whole trace."""
        from model_core import trace_file

        return trace_file.load(path)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy is made by the constructor: its arrays are read-only again, and a mapping proxy cannot be copied.
        return type(self), tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in _values(self))


def _set(instance: object, **values: Any) -> None:
    """Sets fields of a frozen dataclass while it is being made."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)


def _values(instance: Any) -> tuple[Any, ...]:
    return tuple(getattr(instance, field.name) for field in fields(instance))
