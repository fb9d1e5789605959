"""The whole model as a diagram: two stacks of layers with shapes and parameter counts, and attentions to choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from model_core.trace import SITES, Site
from viz.components.handshake import is_whole, written_in
from viz.components.source import script, style

_COMPONENT = component(
    "regard_model_diagram",
    js=script("model_diagram", "model_diagram.js"),
    css=style("model_diagram", "save"),
)


@dataclass(frozen=True)
class Block:
    """A part of the model: its name, how many parameters it has (0 is not written) and a note beside that number.
    `site` is that of an attention, else None."""

    label: str
    count: int
    site: Site | None = None
    note: str = ""


@dataclass(frozen=True)
class Stack:
    """Encoder or decoder from its input to its output: blocks before the layers, layers (each a list of blocks from the
    first sublayer to the last), blocks after them. `shape` is that of the states between all of them, "6 × 256"."""

    title: str
    shape: str
    before: tuple[Block, ...]
    layers: tuple[tuple[Block, ...], ...]
    after: tuple[Block, ...]


def model_diagram(
    encoder: Stack,
    decoder: Stack,
    *,
    heads: int,
    selected: tuple[Site, int, int | None] | None,
    key: str,
    name: str,
    on_pick: Callable[[Site, int], None],
) -> None:
    """Draws the two stacks, input at the bottom, with the memory's way from the encoder to every cross-attention.

    `selected` is a site, a layer and a head (from 0; None is no single head), which are marked, or None. A click
    on an attention block, or Enter while it has the focus, calls `on_pick(site, layer)` before the rerun. `name` names
    the saved files.

    For tests: attention blocks that can be chosen have `data-testid="block"`, `data-site`, `data-layer` (from 0) and
    `aria-pressed`.
    """
    site, layer, head = selected or (None, None, None)
    data = {
        "stacks": [asdict(encoder), asdict(decoder)],
        "heads": heads,
        "site": site,
        "layer": layer,
        "head": head,
        "name": name,
    }

    def hear_pick() -> None:
        picked = read_pick(st.session_state.get(key), len(decoder.layers))
        if picked is not None:
            on_pick(*picked)

    _COMPONENT(key=key, data=data, on_block_change=hear_pick)


def read_pick(state: Any, layers: int) -> tuple[Site, int] | None:
    """From the component's state; None where it holds no block that the component would offer."""
    written = written_in(state, "block") or {}
    site, layer = written.get("site"), written.get("layer")
    return (site, layer) if site in SITES and is_whole(layer) and 0 <= layer < layers else None
