"""A beam search as a tree: steps from left to right, a node for each hypothesis that was weighed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from streamlit.components.v2 import component

from model_core.trace import Hypothesis
from viz.components.colours import of_both_themes
from viz.components.handshake import is_whole, written_in
from viz.components.packing import packed as with_header
from viz.components.source import script, style
from viz.theme import Palette, cut, visible

__all__ = ["Place", "beam_tree", "ids_of", "pack_tree", "places_of"]

Rows = Sequence[Sequence[Hypothesis]]
"""The hypotheses that were weighed at each step."""
Place = tuple[int, int]
"""A step (from 0) and a hypothesis's index in it."""

_COMPONENT = component(
    "regard_beam_tree",
    js=script("beam_tree", "nodes.js", "beam_tree.js"),
    css=style("beam_tree", "buttons", "caption"),
)
_LABEL = 9


def ids_of(beam: Rows, place: Place) -> tuple[int, ...]:
    """The ids of a hypothesis, from its first step on."""
    step, index = place
    ids: list[int] = []
    while step >= 0:
        hypothesis = beam[step][index]
        ids.append(hypothesis.id)
        step, index = step - 1, hypothesis.parent
    return tuple(reversed(ids))


def pack_tree(
    beam: Rows,
    *,
    piece: Callable[[int], str],
    decode: Callable[[Sequence[int]], str],
    best: Sequence[int],
    forced: int = 0,
) -> bytes:
    """The tree for the page, to be made once a search. `piece` spells an id, `decode` a whole hypothesis; `best` has
    the ids of the translation that was found best, and `forced` counts the steps that the search was given."""
    chosen = places_of(beam, best)
    steps = [
        [
            {
                "label": cut(visible(piece(hypothesis.id)), _LABEL),
                "text": visible(decode(ids_of(beam, (step, index)))),
                "parent": hypothesis.parent,
                "logProbability": round(hypothesis.log_probability, 4),
                "score": round(hypothesis.score, 4),
                "kind": "finished"
                if hypothesis.finished and hypothesis.kept
                else "live"
                if hypothesis.kept
                else "pruned",
                "best": (step, index) in chosen,
            }
            for index, hypothesis in enumerate(hypotheses)
        ]
        for step, hypotheses in enumerate(beam)
    ]
    return json.dumps({"steps": steps, "forced": forced}, separators=(",", ":")).encode()


def places_of(beam: Rows, ids: Sequence[int]) -> frozenset[Place]:
    """The places along `ids`, as far as the beam has them."""
    places: list[Place] = []
    for step, id_ in enumerate(ids[: len(beam)]):
        parent = places[-1][1] if places else -1
        index = next((i for i, h in enumerate(beam[step]) if h.id == id_ and h.parent == parent), None)
        if index is None:
            break
        places.append((step, index))
    return frozenset(places)


def beam_tree(packed: bytes, *, traced: Iterable[Place], name: str, key: str) -> Place | None:
    """Draws the tree of `packed` (from `pack_tree`) and returns the hypothesis that a person has just chosen, if any.

    `traced` are the places of the hypothesis that the page shows now; `name` is that of saved pictures.

    For tests: nodes have `data-testid="hypothesis"`, `data-step`, `data-index`, `data-kind` ("live", "finished",
    "pruned") and `data-score`; the line below that describes one is `data-testid="hypothesis-told"`.
    """
    header = {"name": name, "traced": [list(place) for place in sorted(traced)], "colours": _COLOURS}
    result: Any = _COMPONENT(key=key, data=with_header(header, packed), on_take_change=lambda: None)
    written = written_in(result, "take")
    if written is None:
        return None
    step, index = written.get("step"), written.get("index")
    sizes = [len(row) for row in json.loads(packed)["steps"]]
    if not is_whole(step) or not is_whole(index) or not 0 <= step < len(sizes):
        return None
    return (step, index) if 0 <= index < sizes[step] else None


def _colours(palette: Palette) -> dict[str, str]:
    return {"accent": palette.accent, "muted": palette.muted, "hatch": palette.hatch, "end": palette.series[2]}


_COLOURS = of_both_themes(_colours)
