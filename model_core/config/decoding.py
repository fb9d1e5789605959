"""The settings of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

from model_core.config.checks import require_setting

Strategy = Literal["greedy", "beam", "sample"]


@dataclass(frozen=True, init=False)
class DecodingConfig:
    """How a translation is searched for.

    `length_penalty` is the alpha of ((5 + length) / 6)^alpha (Wu et al. 2016, section 7): 0 compares sums of
    log-probabilities, larger values favour longer translations. `temperature`, `top_k`, `top_p` and `seed` belong to
    "sample". `alternatives` is how many of each step's most probable tokens are kept. `max_length` counts the pieces of
    the translation with </s>; None means twice the source's pieces plus 10.

    Without a `strategy`, the settings that are given choose it: a `beam_width` above 1 means "beam", one of those that
    belong to sampling "sample", none of them "greedy". What is not given, or None, has the default written here.
    """

    strategy: Strategy = "greedy"
    beam_width: int = 5
    length_penalty: float = 0.6
    n_best: int = 1
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    alternatives: int = 5
    max_length: int | None = None

    def __init__(
        self,
        strategy: Strategy | None = None,
        beam_width: int | None = None,
        length_penalty: float | None = None,
        n_best: int | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int | None = None,
        alternatives: int | None = None,
        max_length: int | None = None,
    ) -> None:
        sampling = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
        given = sampling | {
            "strategy": derived_strategy(beam_width, sampling) if strategy is None else strategy,
            "beam_width": beam_width,
            "length_penalty": length_penalty,
            "n_best": n_best,
            "alternatives": alternatives,
            "max_length": max_length,
        }
        for field in fields(self):
            value = given[field.name]
            object.__setattr__(self, field.name, field.default if value is None else value)
        self._check()

    def _check(self) -> None:
        require_setting(
            self.strategy in ("greedy", "beam", "sample"),
            f'strategy must be "greedy", "beam" or "sample", not {self.strategy!r}.',
        )
        require_setting(1 <= self.beam_width <= 64, f"beam_width must be 1 to 64, not {self.beam_width}.")
        require_setting(self.length_penalty >= 0.0, f"length_penalty must be 0 or more, not {self.length_penalty}.")
        require_setting(
            self.n_best >= 1 and (self.strategy != "beam" or self.n_best <= self.beam_width),
            f"n_best must be 1 to the beam width ({self.beam_width}), not {self.n_best}.",
        )
        require_setting(self.temperature > 0.0, f"temperature must be above 0, not {self.temperature}.")
        require_setting(self.top_k >= 0, f"top_k must be 0 (off) or more, not {self.top_k}.")
        require_setting(0.0 < self.top_p <= 1.0, f"top_p must be above 0 and at most 1, not {self.top_p}.")
        require_setting(self.alternatives >= 0, f"alternatives must be 0 or more, not {self.alternatives}.")
        require_setting(
            self.max_length is None or self.max_length >= 1, f"max_length must be 1 or more, not {self.max_length}."
        )


def derived_strategy(beam_width: int | None, sampling: Mapping[str, float | None]) -> Strategy:
    """The strategy that is meant by the settings that are given, those that are not being None.

    Raises:
        ConfigError: some belong to beam search and others to sampling.
    """
    given = [name for name, value in sampling.items() if value is not None]
    require_setting(
        not given or beam_width in (None, 1),
        f"A beam width of {beam_width} asks for beam search, but {' and '.join(given)} for sampling: give one of them.",
    )
    return "sample" if given else "greedy" if beam_width in (None, 1) else "beam"
