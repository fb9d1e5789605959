"""Names on the Attend page: of maps, files, rows and columns."""

from __future__ import annotations

from model_core.trace import Site, TranslationTrace
from viz.choose import MEAN_NAME, SITE_NAMES
from viz.selection import Selection
from viz.wording import slug

WHAT_IS_SEEN: dict[Site, str] = {
    "encoder_self": "Each row is a source {unit} that asks (the query); its columns are the source {unit}s that it "
    "looks at (the keys).",
    "decoder_self": "Each row is a {unit} already written (the query) that looks back at itself and at those before it "
    "(the keys) to predict the next one; hatched cells lie in the future and are masked.",
    "cross": "Each row is a {unit} already written (the query); its columns are the source {unit}s (the keys) that the "
    "decoder looks at to predict the next one.",
}


def what_is_seen(site: Site, unit: str) -> str:
    """Two sentences on what rows and columns are; `unit` is "piece" or "word"."""
    return WHAT_IS_SEEN[site].format(unit=unit)


def layer_name(selection: Selection) -> str:
    """All heads of a layer: "Cross-attention, layer 5"."""
    return f"{SITE_NAMES[selection.site]}, layer {selection.layer + 1}"


def map_name(selection: Selection) -> str:
    """As a person says it, counted from 1: "Cross-attention, layer 5, head 3"."""
    return f"{layer_name(selection)}, {MEAN_NAME if selection.head is None else f'head {selection.head + 1}'}"


def file_name(trace: TranslationTrace, selection: Selection | None = None, what: str = "") -> str:
    """A file name that says what is in it, without an ending; `what` takes the place of the head."""
    words = slug(trace.source_text, "sentence", 5)
    if selection is None:
        return f"regard-{words}"
    site = selection.site.replace("_", "-")
    return f"regard-{words}-{site}-layer{selection.layer + 1}-{what or selection.head_text}"
