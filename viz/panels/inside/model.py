"""The whole model around a head: the diagram of its parts with this sentence's shapes, and what each part weighs."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from model_core.config import ModelConfig
from model_core.experiments.sizes import PartSize, part_sizes
from model_core.trace import Site, TranslationTrace
from model_core.translator import Translator
from viz.components.model_diagram import Block, Stack, model_diagram
from viz.link import LAYER, SITE
from viz.linked import write
from viz.selection import Selection
from viz.wording import counted

SITE_OF: dict[tuple[str, str], Site] = {
    ("encoder", "self-attention"): "encoder_self",
    ("decoder", "self-attention"): "decoder_self",
    ("decoder", "cross-attention"): "cross",
}
_LABELS = {
    ("encoder", "self-attention"): "Self-attention",
    ("decoder", "self-attention"): "Masked self-attention",
    ("decoder", "cross-attention"): "Cross-attention",
}


@st.cache_resource(max_entries=16, show_spinner=False)
def sizes_of(checkpoint: str, _translator: Translator) -> tuple[PartSize, ...]:
    """The parameters of every part, counted once a checkpoint."""
    return part_sizes(_translator.checkpoint.model)


def stacks_of(
    sizes: Sequence[PartSize], titles: Sequence[str], rows: Sequence[str], config: ModelConfig
) -> list[Stack]:
    """Encoder and decoder as the diagram shows them, with what stands under each and how many rows its states have."""
    ends = {size.part: size for size in sizes if size.stack == "ends"}

    def stack(name: str, embedding: str, title: str, count: str) -> Stack:
        mine = [size for size in sizes if size.stack == name]
        after = [Block("Final LayerNorm", size.own) for size in mine if size.layer is None and size.own]
        if name == "decoder":
            after += [
                _end("Generator", ends["generator"]),
                Block("Softmax", 0, note=f"over {config.target_vocabulary:,} pieces"),
            ]
        return Stack(
            title=title,
            shape=f"{count} × {config.d_model}",
            before=(_end("Embed + position" if added else "Embedding", ends[embedding]),),
            layers=tuple(_layer(mine, name, layer) for layer in _layers(mine)),
            after=tuple(after),
        )

    added = config.positions in ("sinusoidal", "learned")
    names = (("encoder", "source embedding"), ("decoder", "target embedding"))
    return [stack(*name, title, count) for name, title, count in zip(names, titles, rows, strict=True)]


def _layers(sizes: Sequence[PartSize]) -> list[int]:
    return sorted({size.layer for size in sizes if size.layer is not None})


def _end(label: str, size: PartSize) -> Block:
    note = "" if not size.shared else "+ shared" if size.own else "shared"
    return Block(label, size.own, note=note)


def _layer(sizes: Sequence[PartSize], stack: str, layer: int) -> tuple[Block, ...]:
    parts = {size.part: size.own for size in sizes if size.layer == layer}
    blocks = [
        Block(_LABELS[stack, part], count, SITE_OF[stack, part])
        for part, count in parts.items()
        if (stack, part) in SITE_OF
    ]
    return (*blocks, Block("Feed-forward", parts["feed-forward"]))


def size_table(sizes: Sequence[PartSize]) -> dict[str, list[object]]:
    """Kinds of parts, how many of each there are, what one has and what all have; in the order of the model."""
    groups: dict[str, list[PartSize]] = {}
    for size in sizes:
        place = "" if size.stack == "ends" else f"{size.stack} "
        groups.setdefault(f"{place}{size.part}", []).append(size)
    kept = {name: group for name, group in groups.items() if sum(size.own + size.shared for size in group)}
    total = sum(size.own for size in sizes)
    own = {name: sum(size.own for size in group) for name, group in kept.items()}
    return {
        "part": [*kept, "the whole model"],
        "parts": [*(len(group) for group in kept.values()), 1],
        "parameters": [*own.values(), total],
        "share": [*(f"{100 * count / total:.1f} %" for count in own.values()), "100 %"],
        "shared": [*(sum(size.shared for size in group) for group in kept.values()), 0],
    }


def _take(site: Site, layer: int) -> None:
    write(SITE.change(site), LAYER.change(layer))


def model_panel(translator: Translator, trace: TranslationTrace, selection: Selection) -> None:
    """The diagram with the chosen head marked, and the table of parameters beside it."""
    sizes = sizes_of(translator.checkpoint.id, translator)
    config = translator.config
    lengths = [len(trace.source_tokens), len(trace.decoder_input_tokens)]
    titles = [
        f"{name}: {counted(length, 'token')}" for name, length in zip(("Encoder", "Decoder"), lengths, strict=True)
    ]
    encoder, decoder = stacks_of(sizes, titles, [str(length) for length in lengths], config)
    st.subheader("Where this head sits", anchor=False)
    left, right = st.columns([5, 4], gap="medium")
    with left:
        st.caption(
            "Read it from the bottom up. Choose an attention to look inside it; its squares are its heads. Numbers are "
            "parameters; each sublayer also has a residual connection and a LayerNorm."
        )
        model_diagram(
            encoder,
            decoder,
            heads=config.heads,
            selected=(selection.site, selection.layer, selection.head),
            key="inside-model",
            name="regard-inside-model",
            on_pick=_take,
        )
    with right:
        total = translator.checkpoint.model.parameter_count()
        st.markdown(f"**{total:,} parameters**")
        thousands = st.column_config.NumberColumn(format="localized")
        st.dataframe(
            size_table(sizes),
            hide_index=True,
            height="content",
            column_config={"parameters": thousands, "shared": thousands},
            key="inside-sizes",
        )
        st.caption("What a part shares with one above it is counted there.")
