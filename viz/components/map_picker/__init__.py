"""The control with which a person chooses an attention map: three sites as tabs, layers x heads as thumbnails."""

from __future__ import annotations

from streamlit.components.v2 import component

from model_core.trace import Site
from viz.components.colours import of_both_themes
from viz.components.handshake import remembered
from viz.components.map_picker.choice import Choice, read_choice, settle_choice
from viz.components.map_picker.pack import pack_maps, packed_shapes
from viz.components.packing import packed as with_header
from viz.components.source import script, style

__all__ = ["Choice", "map_picker", "pack_maps"]

_COMPONENT = component(
    "regard_map_picker",
    js=script("map_picker", "maps.js", "map_picker.js"),
    css=style("map_picker", "save", "caption"),
)
_COLORS = of_both_themes(lambda palette: {"scale": palette.sequential, "hatch": palette.hatch})


def map_picker(
    packed: bytes, *, site: Site, layer: int | None, head: int | None, key: str, name: str = "regard-maps"
) -> Choice:
    """Shows the thumbnails of all maps and returns the map that is chosen now: what a person has just picked, else
    what was passed.

    Pass what it returned last time (from the URL or from session state), or something else to make the component
    follow: then the page moves its selection, too. Layers and heads count from 0; `head` None is the mean over the
    heads; `layer` None is no wish (the layer chosen before, at first the last one). What a trace does not have is
    replaced: a layer past the last by the last, a head that is not there by the mean.

    The bytes come from `pack_maps`, made once a trace and cached by the caller. They go to the browser again only
    when they change or when the caller overrules the page; a person's choice does not resend them. Put the call and
    what it governs into one `st.fragment`, so that a choice reruns nothing else.

    A site's thumbnails can be saved; `name` begins the file's name, the site ends it.

    For tests: cells have `data-testid="map-cell"`, `data-layer` and `data-head` (from 0; "mean"); the chosen one has
    `aria-selected="true"`.

    Raises:
        ValueError: `packed` was not made by pack_maps, or there is no such site.
    """
    shapes = packed_shapes(packed)
    agreement = remembered(
        key, lambda before, state: settle_choice(before, site, layer, head, read_choice(state), shapes)
    )
    header = {"key": key, "token": agreement.token, "choice": agreement.sent._asdict(), "colors": _COLORS, "name": name}
    _COMPONENT(key=key, data=with_header(header, packed))
    return agreement.chosen
