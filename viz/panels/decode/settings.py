"""How the Decode page searches: strategy and its settings. All of it is in the link; only what fits is on offer."""

from __future__ import annotations

from typing import get_args

import streamlit as st

from model_core.config import DecodingConfig, Strategy
from viz.linked import linked_number
from viz.panels.decode.search import ALTERNATIVES

HELP: dict[Strategy, str] = {
    "greedy": "At each step the most probable piece is taken.",
    "beam": "The best few beginnings are all carried on; at the end the best finished one is taken.",
    "sample": "At each step a piece is drawn by chance, as its probability says.",
}


def choose_strategy() -> Strategy:
    """Greedy, beam or sample."""
    names = get_args(Strategy)
    found = st.segmented_control(
        "Search",
        names,
        default="beam",
        required=True,
        key="strategy",
        bind="query-params",
        help=" ".join(f"**{name}**: {text}" for name, text in HELP.items()),
    )
    return found or "beam"


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
    width = linked_number("Width", 2, 12, 5, key="beam", width=120, help="How many beginnings are carried on.")
    penalty = st.number_input(
        "Length penalty α",
        0.0,
        2.0,
        0.6,
        0.1,
        key="penalty",
        bind="query-params",
        width=150,
        help="A score is log P / ((5 + length) / 6)^α: 0 compares plain sums, which favours short translations.",
    )
    return DecodingConfig(
        "beam",
        beam_width=width,
        length_penalty=round(float(penalty), 3),
        n_best=width,
        alternatives=ALTERNATIVES,
    )


def _sample() -> DecodingConfig:
    temperature = st.number_input(
        "Temperature",
        0.1,
        3.0,
        1.0,
        0.1,
        key="temperature",
        bind="query-params",
        width=130,
        help="Log-probabilities are divided by it before the draw: below 1 the likely gets likelier.",
    )
    told = "Draw from the k likeliest only; 0: from all."
    top_k = linked_number("Top k", 0, 1000, 0, key="topk", width=120, help=told)
    top_p = st.number_input(
        "Top p",
        0.05,
        1.0,
        1.0,
        0.05,
        key="topp",
        bind="query-params",
        width=120,
        help="Draw from the fewest likeliest pieces that hold this share of the probability; 1: from all.",
    )
    told = "The same seed draws the same again."
    seed = linked_number("Seed", 0, 999_999, 0, key="seed", width=120, help=told)
    return DecodingConfig(
        "sample",
        temperature=round(float(temperature), 3),
        top_k=top_k,
        top_p=round(float(top_p), 3),
        seed=seed,
        alternatives=ALTERNATIVES,
    )
