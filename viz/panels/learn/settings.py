"""The settings of a training, each with a phrase on what it does, and experiments that set them with one click."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from model_core.training.live import LiveSettings
from viz.link import HEADS, LAYERS, RATE, SMOOTHING, STEPS, TRAINING_SEED, WIDTH, WITH_POSITIONS
from viz.linked import dropdown, number, toggle, write

PROPOSED = LiveSettings()


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
    """Puts settings into the controls, all at once."""
    write(
        RATE.change(settings.learning_rate),
        LAYERS.change(settings.layers),
        HEADS.change(settings.heads),
        WIDTH.change(settings.width),
        SMOOTHING.change(settings.label_smoothing),
        STEPS.change(settings.steps),
        TRAINING_SEED.change(settings.seed),
        WITH_POSITIONS.change(settings.positions),
    )


def choose_settings() -> LiveSettings:
    """The controls; every choice is in the link."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="learn-settings"):
        peak = "How far one step moves the weights, at its peak."
        rate = dropdown("Learning rate", RATE, width=130, help=peak)
        layers = dropdown("Layers", LAYERS, width=95, help="In the encoder, and as many in the decoder.")
        each = "Attention maps a layer; each has width / heads dimensions."
        heads = dropdown("Heads", HEADS, width=95, help=each)
        width = dropdown("Width", WIDTH, width=95, help="d_model: how many numbers stand for a token.")
        spread = "The share of the target that is spread evenly over all tokens."
        smoothing = dropdown("Label smoothing", SMOOTHING, width=150, help=spread)
        steps = dropdown("Steps", STEPS, width=100, help="Batches of 64 sequences to learn from.")
        same = "What the initial weights and the sequences follow from: the same seed, the same training."
        seed = number("Seed", TRAINING_SEED, width=120, help=same)
        with st.container(width="content", height=42, border=False, vertical_alignment="center"):
            off = "Off: no positional encoding, so that the model sees letters without their order."
            positions = toggle("Positions", WITH_POSITIONS, help=off)
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
    """The effect to look for, if these are the settings of an experiment."""
    return next((experiment.look for experiment in EXPERIMENTS if experiment.settings == settings), None)
