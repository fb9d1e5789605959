"""The settings of a search as keywords: `translate(text, beam=5)` instead of a DecodingConfig built by hand."""

from __future__ import annotations

from typing import TypedDict

from model_core.config.checks import ConfigError
from model_core.config.decoding import DecodingConfig, Strategy

SAMPLING = ("temperature", "top_k", "top_p", "seed")


class DecodingOptions(TypedDict, total=False):
    """DecodingConfig's settings as keywords, all optional; `beam` is its `beam_width`."""

    strategy: Strategy
    beam: int
    length_penalty: float
    n_best: int
    temperature: float
    top_k: int
    top_p: float
    seed: int
    alternatives: int
    max_length: int | None


def chosen_decoding(decoding: DecodingConfig | None, options: DecodingOptions) -> DecodingConfig:
    """The search that a caller asked for, by a config or by keywords; greedy search where neither is given.

    Raises:
        ConfigError: both are given, or keywords that belong to different searches.
        TypeError: there is no keyword of that name.
    """
    unknown = sorted(options.keys() - DecodingOptions.__annotations__.keys())
    if unknown:
        known = ", ".join(DecodingOptions.__annotations__)
        raise TypeError(f"There is no option {', '.join(unknown)}; the options of a search are {known}.")
    if decoding is not None and options:
        raise ConfigError(f"Give either a DecodingConfig or the keywords {', '.join(options)}, not both.")
    if decoding is not None or not options:
        return decoding or DecodingConfig()
    _check_strategy(options)
    settings = {("beam_width" if name == "beam" else name): value for name, value in options.items()}
    return DecodingConfig(**settings)  # type: ignore[arg-type]


def _check_strategy(options: DecodingOptions) -> None:
    """Raises ConfigError for keywords that the strategy, where one is named, would leave without effect."""
    strategy = options.get("strategy")
    idle = [name for name in SAMPLING if name in options] if strategy in ("greedy", "beam") else []
    if strategy in ("greedy", "sample") and options.get("beam", 1) > 1:
        idle.append("beam")
    if idle:
        raise ConfigError(f'{" and ".join(idle)} would have no effect on a search with strategy "{strategy}".')
