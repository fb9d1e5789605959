"""A recorded translation: a frozen type that holds numpy arrays and computes nothing.

Shapes: L layer, S source token, T target token, D d_model.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from model_core.sites import SITES, Site
from model_core.trace import file
from model_core.trace.arrays import field_values, finite_float32, require, set_fields
from model_core.trace.checks import check_decoding, check_maps, check_tokens
from model_core.trace.maps import AttentionMaps
from model_core.trace.parts import TraceParts


@dataclass(frozen=True, eq=False, repr=False)
class TranslationTrace(TraceParts):
    """Everything that was recorded while one sentence was translated.

    `decoder_input_tokens` are `<s> y1 ... yn`, `predicted_tokens` are `y1 ... yn </s>`: row t of a decoder map belongs
    to decoder_input_tokens[t] and predicts predicted_tokens[t]. `encoder_states [L + 1, S, D]` and `decoder_states
    [L + 1, T, D]` are float32: the embedded input, then each layer's output. `decoding` has one step a predicted token.
    `log_probability` is the sum over the predicted tokens, `score` that sum after the length penalty. `pieces` spells
    every id of the target, alternatives and hypotheses included. Arrays are kept as read-only copies.

    Raises:
        TraceError: parts disagree; the message names them and their sizes.
    """

    def __post_init__(self) -> None:
        for name in ("source_tokens", "decoder_input_tokens", "predicted_tokens", "decoding"):
            set_fields(self, **{name: tuple(getattr(self, name))})
        for name in ("encoder_states", "decoder_states"):
            set_fields(self, **{name: finite_float32(name, getattr(self, name))})
        set_fields(self, pieces=MappingProxyType(dict(self.pieces)))
        check_tokens(self)
        check_maps(self)
        check_decoding(self)

    def __repr__(self) -> str:
        maps = self.encoder_self
        return (
            f"<TranslationTrace of {self.checkpoint}\n"
            f"  {self.source_text!r} → {self.target_text!r}\n"
            f"  {len(self.source_tokens)} source and {len(self.predicted_tokens)} target tokens; attention "
            f"{', '.join(SITES)}; {maps.layers} layers, {maps.heads} heads\n"
            f"  {self.strategy}, log-probability {self.log_probability:.3f}, score {self.score:.3f}>"
        )

    def maps(self, site: Site) -> AttentionMaps:
        """The attention maps of a site. Raises TraceError where there is no such site."""
        require(site in SITES, f"There is no site {site!r}; the sites are {', '.join(SITES)}.")
        maps: AttentionMaps = getattr(self, site)
        return maps

    def to_bytes(self) -> bytes:
        """The trace as one safetensors file; see trace/file.py for its layout."""
        return file.to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "The trace") -> TranslationTrace:
        """Reads what to_bytes wrote. Raises TraceError, which begins with `name`, where that is no whole trace."""
        return file.from_bytes(data, name, cls)

    def save(self, path: str | Path) -> None:
        """Writes the trace to a file, in place of one that is there. Raises TraceError where it cannot be written."""
        file.save_trace(self, path)

    @classmethod
    def load(cls, path: str | Path) -> TranslationTrace:
        """Reads a file that save wrote. Raises TraceError, which names the file, where it holds no whole trace."""
        return file.load_trace(path, cls)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy is made by the constructor: its arrays are read-only again, and a mapping proxy cannot be copied.
        return type(self), tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in field_values(self))
