"""A model of any shape: its diagram, its parameters by part and its memory, at once and without training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import streamlit as st

from model_core.config import ConfigError, ModelConfig, Norm, Sharing, from_json, to_json
from model_core.experiments.sizes import BYTES_PER_NUMBER, PRESETS, ModelSize, settings_of, size_of, spelled
from viz.components.model_diagram import model_diagram
from viz.link import SHAPE
from viz.linked import read, write
from viz.messages import tell
from viz.panels.inside.model import size_table, stacks_of

FIRST = next(iter(PRESETS))
MOST_DRAWN = 24
NUMBERS = {
    "source_vocabulary": "Source vocabulary", "target_vocabulary": "Target vocabulary",
    "encoder_layers": "Encoder layers", "decoder_layers": "Decoder layers",
    "d_model": "d_model", "d_ff": "d_ff", "heads": "Heads (h)",
}  # fmt: skip
CHOICES: dict[str, tuple[str, tuple[str, ...]]] = {
    "norm": ("Norm", get_args(Norm)),
    "sharing": ("Shared embeddings", get_args(Sharing)),
}
LARGEST = 1_000_000


@st.fragment
def builder_panel() -> None:
    """The presets, a box for each size, and the model that they make."""
    st.subheader("Build a model", anchor=False)
    st.caption("Type sizes, and see the model that they make; nothing is trained. Each is one line of `ModelConfig`.")
    _offer_presets()
    settings = _chosen_settings()
    _draw_boxes(settings)
    try:
        config = from_json(ModelConfig, settings)
        size = size_of(config)
    except ConfigError as error:
        tell(str(error), "warning")
        return
    left, right = st.columns([5, 4], gap="medium")
    with left:
        _draw_model(config, size)
    with right:
        _tell_size(size)


def _offer_presets() -> None:
    with st.container(horizontal=True, gap="small"):
        for number, (name, config) in enumerate(PRESETS.items()):
            change = SHAPE.change(spelled(to_json(config)))
            st.button(name, key=f"preset-{number}", type="tertiary", on_click=write, args=(change,))


def _chosen_settings() -> dict[str, Any]:
    """The settings that the link spells, or those of the first preset where it spells none that there are."""
    try:
        return settings_of(read(SHAPE) or spelled(to_json(PRESETS[FIRST])))
    except ConfigError as error:
        tell(str(error), "warning")
        return to_json(PRESETS[FIRST])


def _draw_boxes(settings: dict[str, Any]) -> None:
    """One box for each size; what is typed goes into the link, whether such a model can be or not."""

    def typed(name: str) -> Callable[[], None]:
        return lambda: write(SHAPE.change(spelled(settings | {name: st.session_state[f"build-{name}"]})))

    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        for name, label in NUMBERS.items():
            value = settings[name] if settings[name] is not None else settings["layers"]
            st.session_state[f"build-{name}"] = min(max(int(value), 1), LARGEST)
            st.number_input(label, 1, LARGEST, key=f"build-{name}", width=150, on_change=typed(name))
        for name, (label, options) in CHOICES.items():
            st.session_state[f"build-{name}"] = settings[name] if settings[name] in options else options[0]
            st.selectbox(label, options, key=f"build-{name}", width=150, on_change=typed(name))


def _draw_model(config: ModelConfig, size: ModelSize) -> None:
    depths = (config.encoder_depth, config.decoder_depth)
    titles = [f"{name}: {depth} layers" for name, depth in zip(("Encoder", "Decoder"), depths, strict=True)]
    drawn = [part for part in size.parts if part.layer is None or part.layer < MOST_DRAWN]
    if max(depths) > MOST_DRAWN:
        st.caption(f"The first {MOST_DRAWN} layers of each stack are drawn; the numbers are those of all.")
    encoder, decoder = stacks_of(drawn, titles, ["n", "m"], config)
    model_diagram(
        encoder,
        decoder,
        heads=config.heads,
        selected=None,
        key="built-model",
        name="regard-built-model",
        on_pick=lambda site, layer: None,
    )


def _tell_size(size: ModelSize) -> None:
    st.markdown(f"**{size.parameters:,} parameters**, {_memory(size.parameters)} in float32")
    if size.unshared != size.parameters:
        st.caption(f"Without sharing: {size.unshared:,} parameters, {_memory(size.unshared)}.")
    thousands = st.column_config.NumberColumn(format="localized")
    columns = {"parameters": thousands, "shared": thousands}
    st.dataframe(size_table(size.parts), hide_index=True, height="content", column_config=columns, key="built-sizes")
    st.caption(
        "What a part shares with one above it is counted there. Training takes about four times this memory: weights, "
        "gradients and Adam's two moments."
    )


def _memory(numbers: int) -> str:
    """Megabytes of 10^6 bytes."""
    return f"{numbers * BYTES_PER_NUMBER / 1e6:,.1f} MB"
