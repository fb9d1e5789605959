"""The settings of a training, each with a phrase on what it does, and experiments that set them with one click."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import streamlit as st

from model_core.training.live import MOST, LiveSettings
from viz.linked import link_number, linked_number

Value = TypeVar("Value", int, float)

PROPOSED = LiveSettings()
RATES = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02)
LAYERS, HEADS, WIDTHS = (1, 2, 3), (1, 2, 4, 8), (16, 32, 64)
SMOOTHINGS = (0.0, 0.1, 0.2, 0.4)
STEPS = (50, 100, 200, 400, 800, 1200)
KEYS = {
    "learning_rate": "rate",
    "layers": "layers",
    "heads": "heads",
    "width": "width",
    "label_smoothing": "smoothing",
    "positions": "positions",
    "steps": "steps",
}
"""The settings' names in the link, where Streamlit writes them."""
SEED = "seed"  # its name there; see `linked_number`


@dataclass(frozen=True)
class Experiment:
    """Settings to try, and what to look for."""

    name: str
    settings: LiveSettings
    look: str


EXPERIMENTS = (
    Experiment(
        "Without positions",
        replace(PROPOSED, positions=False),
        "the loss stays near 1: the model learns which letters to write but not in which order, and no diagonal comes",
    ),
    Experiment(
        "One head",
        replace(PROPOSED, heads=1),
        "it copies as well, but only layer 1 turns into the diagonal (choose it below); layer 2 looks elsewhere",
    ),
    Experiment(
        "Ten times the learning rate",
        replace(PROPOSED, learning_rate=0.02),
        "the loss stays high while the rate is; it falls only when the rate does, too late to copy everything",
    ),
)


def take(settings: LiveSettings) -> None:
    """Puts settings into the controls."""
    for name, key in KEYS.items():
        st.session_state[key] = getattr(settings, name)
    link_number(SEED, settings.seed, PROPOSED.seed)


def choose_settings() -> LiveSettings:
    """The controls; every choice is in the link."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="learn-settings"):
        rate = _pick("Learning rate", RATES, "learning_rate", 130, "How far one step moves the weights, at its peak.")
        layers = _pick("Layers", LAYERS, "layers", 95, "In the encoder, and as many in the decoder.")
        heads = _pick("Heads", HEADS, "heads", 95, "Attention maps a layer; each has width / heads dimensions.")
        width = _pick("Width", WIDTHS, "width", 95, "d_model: how many numbers stand for a token.")
        spread = "The share of the target that is spread evenly over all tokens."
        smoothing = _pick("Label smoothing", SMOOTHINGS, "label_smoothing", 150, spread)
        steps = _pick("Steps", STEPS, "steps", 100, "Batches of 64 sequences to learn from.")
        told = "What the initial weights and the sequences follow from: the same seed, the same training."
        seed = linked_number("Seed", 1, MOST["seed"], PROPOSED.seed, key=SEED, width=120, help=told)
        with st.container(width="content", height=42, border=False, vertical_alignment="center"):
            told = "Off: no positional encoding, so that the model sees letters without their order."
            positions = st.toggle("Positions", PROPOSED.positions, key="positions", bind="query-params", help=told)
    return LiveSettings(rate, layers, heads, width, smoothing, positions, steps, seed)


def offer_experiments() -> LiveSettings | None:
    """Experiments, each a button that starts it; returns the settings of the one that was clicked."""
    clicked = None
    for experiment in EXPERIMENTS:
        told = f"Look for: {experiment.look}."
        key, given = f"try-{experiment.name}", (experiment.settings,)
        if st.button(experiment.name, key=key, on_click=take, args=given, help=told, icon=":material/science:"):
            clicked = experiment.settings
    return clicked


def what_to_look_for(settings: LiveSettings) -> str | None:
    """What the experiment with these settings shows, if they are one's."""
    return next((experiment.look for experiment in EXPERIMENTS if experiment.settings == settings), None)


def _pick(label: str, options: tuple[Value, ...], name: str, width: int, told: str) -> Value:
    place = options.index(getattr(PROPOSED, name))
    return st.selectbox(label, options, place, key=KEYS[name], bind="query-params", help=told, width=width)
