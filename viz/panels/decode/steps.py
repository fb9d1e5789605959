"""The step view of one trace: its map's choice, the stepper, and its numbers to take home. One fragment."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Sequence

import streamlit as st

from model_core.trace import TranslationTrace
from model_core.translator import Translator
from viz.choose import choose_map, shared_step
from viz.components.stepper import CacheShape, Draw, pack_steps, stepper
from viz.link import FORCE, HYPOTHESIS, STEP
from viz.link_values import ForcedStart
from viz.linked import write
from viz.picture import csv_button
from viz.selection import Selection
from viz.wording import counted, fixed, probability, slug


def map_title(selection: Selection) -> str:
    """The title over the source in the stepper: "Cross-attention of this step, layer 3, head 2"."""
    head = "mean over heads" if selection.head is None else f"head {selection.head + 1}"
    return f"Cross-attention of this step: layer {selection.layer + 1}, {head}"


def decode_file_name(trace: TranslationTrace) -> str:
    """A file name that says what is in it, without an ending."""
    return f"regard-decode-{slug(trace.source_text, 'sentence', 5)}"


def total_in_words(trace: TranslationTrace) -> str:
    """The log-probability of the whole, and what that is a piece; without a full stop."""
    total, count = min(0.0, trace.log_probability), len(trace.predicted_tokens)
    average = probability(math.exp(total / count))
    over = f"{counted(count, 'piece')}, the end among them" if count > 1 else "1 piece, the end"
    return f"Log-probability {fixed(total, 3)} over {over}: {average} a piece (geometric mean)"


def steps_csv(trace: TranslationTrace) -> str:
    """Every step's pieces, best first: step and rank from 1, id, piece, probability, log-probability, whether taken.

    A chosen piece that is none of the most probable ones comes last, without a rank.
    """
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(["step", "rank", "id", "piece", "probability", "log_probability", "chosen"])
    for number, step in enumerate(trace.decoding, start=1):
        rows = [(str(rank), entry.id, entry.log_probability) for rank, entry in enumerate(step.alternatives, start=1)]
        if all(id_ != step.chosen_id for _, id_, _ in rows):
            rows.append(("", step.chosen_id, step.log_probability))
        for rank, id_, value in rows:
            chosen = "yes" if id_ == step.chosen_id else "no"
            table.writerow([number, rank, id_, trace.pieces[id_], f"{math.exp(value):.8g}", f"{value:.6f}", chosen])
    return out.getvalue()


@st.fragment
def step_panel(
    translator: Translator,
    trace: TranslationTrace,
    forced: Collection[int] = (),
    *,
    may_force: bool,
    tinted: bool = False,
    draws: Sequence[Draw] = (),
) -> None:
    """The stepper over a trace. `forced` are the steps whose piece a person chose; a piece that is forced now goes into
    the link, and the page begins anew. `draws` has what sampling draws each step from."""
    config = translator.config
    selection = choose_map(trace, sites=("cross",))
    packed = pack_steps(
        trace,
        trace.cross.map(selection.layer, selection.head),
        vocabulary=config.target_vocabulary,
        cache=CacheShape(config.layers, config.heads, config.d_head),
        map_name=map_title(selection),
        forced=forced,
        may_force=may_force,
        tinted=tinted,
        draws=draws,
    )
    wished = shared_step(trace)
    step, pressed = stepper(packed, step=wished, name=decode_file_name(trace), key="stepper")
    if step != wished:
        write(STEP.change(step))
    if pressed is not None and may_force:
        force(trace, *pressed, marks=tuple(sorted(forced)))
    name = f"{decode_file_name(trace)}-steps"
    csv_button("All steps as CSV", lambda: steps_csv(trace), name, key="steps-csv", alone=True)


def force(trace: TranslationTrace, step: int, id_: int, marks: tuple[int, ...]) -> None:
    """Puts the forced beginning into the link, and lets the page decode on from it."""
    written = [token.id for token in trace.predicted_tokens]
    forced = ForcedStart((), marks).then(written, step, id_)
    write(STEP.change(step), FORCE.change(forced), HYPOTHESIS.change(()))
    st.rerun()
