"""How the Decode page searches: strategy and its settings. All of it is in the link; only what fits is on offer."""

from __future__ import annotations

import streamlit as st

from model_core.config import DecodingConfig, Strategy
from viz.link import BEAM, DRAW_SEED, PENALTY, STRATEGY, TEMPERATURE, TOP_K, TOP_P
from viz.linked import choice, decimal, number
from viz.panels.decode.search import ALTERNATIVES

HELP: dict[Strategy, str] = {
    "greedy": "At each step the most probable piece is taken.",
    "beam": "The best few beginnings are all carried on; at the end the best finished one is taken.",
    "sample": "At each step a piece is drawn by chance, as its probability says.",
}


def choose_strategy() -> Strategy:
    """Greedy, beam or sample."""
    return choice("Search", STRATEGY, help=" ".join(f"**{name}**: {text}" for name, text in HELP.items()))


def choose_decoding() -> DecodingConfig:
    """The controls in a row; those of other strategies are not there."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        strategy = choose_strategy()
        if strategy == "beam":
            return _beam()
        if strategy == "sample":
            return _sample()
    return DecodingConfig(alternatives=ALTERNATIVES)


def _beam() -> DecodingConfig:
    width = number("Width", BEAM, width=120, help="How many beginnings are carried on.")
    formula = "A score is log P / ((5 + length) / 6)^α: 0 compares plain sums, which favours short translations."
    penalty = decimal("Length penalty α", PENALTY, step=0.1, width=150, help=formula)
    return DecodingConfig(
        "beam",
        beam_width=width,
        length_penalty=round(penalty, 3),
        n_best=width,
        alternatives=ALTERNATIVES,
    )


def _sample() -> DecodingConfig:
    below = "Log-probabilities are divided by it before the draw: below 1 the likely gets likelier."
    temperature = decimal("Temperature", TEMPERATURE, step=0.1, width=130, help=below)
    top_k = number("Top k", TOP_K, width=120, help="Draw from the k likeliest only; 0: from all.")
    share = "Draw from the fewest likeliest pieces that hold this share of the probability; 1: from all."
    top_p = decimal("Top p", TOP_P, step=0.05, width=120, help=share)
    seed = number("Seed", DRAW_SEED, width=120, help="The same seed draws the same again.")
    return DecodingConfig(
        "sample",
        temperature=round(temperature, 3),
        top_k=top_k,
        top_p=round(top_p, 3),
        seed=seed,
        alternatives=ALTERNATIVES,
    )
