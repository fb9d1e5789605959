"""The result of a search, as text and as ids."""

from __future__ import annotations

from dataclasses import dataclass

from model_core.config import DecodingConfig
from model_core.search.hypotheses import Decoded
from model_core.text.source import Source


@dataclass(frozen=True, repr=False)
class Translation:
    """The translations that a search found: the best one first among `n_best` (ids and scores), and its text.

    Each begins with the ids of `prefix`, which the search was given. `str(translation)` is the text.
    """

    source: Source
    text: str
    n_best: tuple[Decoded, ...]
    decoding: DecodingConfig
    prefix: tuple[int, ...] = ()

    @property
    def best(self) -> Decoded:
        return self.n_best[0]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        unfinished = "" if self.best.finished else ", cut off"
        return (
            f"<Translation {self.source.text!r} → {self.text!r}: {self.decoding.strategy}, {len(self.best.ids)} "
            f"pieces, log-probability {self.best.log_probability:.3f}{unfinished}>"
        )
