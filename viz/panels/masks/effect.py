"""The Masks page's lower part: what a changed mask does to weights, to the next token and to the translation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from model_core.experiments.masks import MaskCell, MaskedPass, MaskSetting, Shift, shifts
from model_core.translator import Translator
from viz.appearance import is_dark
from viz.choose import choose_step
from viz.components.matrix import fitted_limits, matrix
from viz.figures.masks import next_token_figure
from viz.link import CAUSAL, PADDING, ROW, STEP, Key, Row
from viz.linked import write
from viz.messages import tell
from viz.panels.masks.panel import cells_csv, turned_changes, write_cells
from viz.panels.masks.runs import Searched, run_search
from viz.panels.masks.state import Subject, cell_at
from viz.panels.masks.words import differing, marked_html, told_apart
from viz.picture import csv_button, show_figure
from viz.selection import Selection
from viz.theme import visible
from viz.wording import fixed, probability, signed

TOKENS_SHOWN = 5
SEEN = "Without the causal mask every row sees the answer: the token it has to predict is the next row's input."


def reset() -> None:
    """All masks as they were."""
    write(PADDING.change(True), CAUSAL.change(True), *turned_changes(MaskSetting()))


def switch_off(mask: Key[bool], row: Row | None = None) -> None:
    """This mask off as well; `row` is the sentence to look at."""
    write(mask.change(False), *(() if row is None else (ROW.change(row),)))


def also_forbidden(setting: MaskSetting, cell: MaskCell) -> MaskSetting:
    """The setting with one more cell forbidden."""
    return replace(setting, forbidden=setting.forbidden | {cell}, permitted=setting.permitted - {cell})


def experiments(
    subject: Subject, setting: MaskSetting, selection: Selection, now: MaskedPass, step: int, padded_row: Row | None
) -> None:
    """Buttons that change one more thing at once, and one that takes all back. `now` is the pass under the setting."""
    row = step if selection.site != "encoder_self" else min(step, len(subject.source.ids) - 1)
    key = int(now.weights[selection.head or 0, row].argmax())
    queries, keys = subject.tokens(selection.site)
    strongest = cell_at(selection, row, key, "all layers")
    changed = also_forbidden(setting, strongest)
    refused = subject.refused(changed)
    with st.container(horizontal=True, gap="small", key="experiments"):
        st.button("Let the decoder see the future", on_click=switch_off, args=(CAUSAL,))
        if padded_row is not None:
            st.button("Let <pad> be seen".replace("<", "\\<"), on_click=switch_off, args=(PADDING, padded_row))
        st.button(
            "Forbid the strongest cell of this row",
            on_click=write_cells,
            args=(changed,),
            disabled=refused is not None,
            help=refused,
        )
        st.button("Reset", icon=":material/restart_alt:", on_click=reset, type="primary")
    st.text(
        f"Strongest in row {row + 1} of the chosen head: “{visible(queries[row].text)}” looks at "
        f"“{visible(keys[key].text)}” with weight {now.weights[selection.head or 0, row, key]:.2f}."
    )


def effect_on_weights(subject: Subject, selection: Selection, usual: MaskedPass, changed: MaskedPass) -> None:
    """Before, after and the difference, for the chosen head."""
    head = selection.head or 0
    rows, columns = ([token.text for token in tokens] for tokens in subject.tokens(selection.site))
    before, after = usual.weights[head], changed.weights[head]
    difference = after - before
    query, key = np.unravel_index(int(np.abs(difference).argmax()), difference.shape)
    st.text(
        f"Largest change of a weight in this head: “{visible(rows[query])}” → “{visible(columns[key])}”, from "
        f"{before[query, key]:.3f} to {after[query, key]:.3f} ({signed(float(difference[query, key]))})."
    )
    places = st.columns(3, gap="medium")
    with places[0]:
        st.markdown("**Weights before**")
        matrix(
            before, rows, columns, key="weights-before", name="Weights before", masked=~usual.allowed[head],
            limits=(0.0, 1.0),
        )  # fmt: skip
    with places[1]:
        st.markdown("**Weights after**")
        matrix(
            after, rows, columns, key="weights-after", name="Weights after", masked=~changed.allowed[head],
            limits=(0.0, 1.0),
        )  # fmt: skip
    with places[2]:
        st.markdown("**After minus before**")
        hidden = ~usual.allowed[head] & ~changed.allowed[head]
        limits = fitted_limits(difference, diverging=True)
        matrix(
            difference, rows, columns, key="weights-difference", name="Difference of weights", masked=hidden,
            limits=limits, diverging=True,
        )  # fmt: skip
    allowed = {"allowed before": usual.allowed[head], "allowed after": changed.allowed[head]}
    columns_of = allowed | {"before": before, "after": after, "after minus before": difference}
    csv = lambda: cells_csv(rows, columns, columns_of)  # noqa: E731
    csv_button("Before, after and difference as CSV", csv, "regard-masks-weights", key="weights-csv", alone=True)


def effect_on_next_token(
    translator: Translator, subject: Subject, usual: MaskedPass, changed: MaskedPass, step: int
) -> None:
    """Bars before and after for the most probable tokens of the chosen row."""
    found = shifts(usual, changed, step, TOKENS_SHOWN)
    names = told_apart(translator.target_tokenizer.tokens([shift.id for shift in found]))
    figure = next_token_figure(names, [s.before for s in found], [s.after for s in found], dark=is_dark())
    alt = most_changed(names, found, step)
    st.text(alt)
    row = most_changed_row(usual, changed)
    if row != step:
        label = f"Show the row that changes most: {row + 1}"
        st.button(label, type="tertiary", on_click=write, args=(STEP.change(row),))
    show_figure(figure, name="regard-masks-next-token", key="next-token", alt=alt, csv=lambda: shifts_csv(names, found))


def most_changed(names: list[str], found: tuple[Shift, ...], step: int) -> str:
    """The largest difference of the shown tokens, or that there is none to be seen."""
    index = max(range(len(found)), key=lambda i: abs(found[i].difference))
    shift = found[index]
    if abs(shift.difference) < 0.0005:
        return f"Next token after row {step + 1}: none of these probabilities changes by 0.001 or more."
    return (
        f"Next token after row {step + 1}: “{visible(names[index])}” changes most, from "
        f"{probability(shift.before)} to {probability(shift.after)}."
    )


def most_changed_row(usual: MaskedPass, changed: MaskedPass) -> int:
    """The row (from 0) whose next-token distribution moves most: by total variation distance."""
    moved = np.abs(np.exp(changed.log_probabilities) - np.exp(usual.log_probabilities)).sum(axis=1)
    return int(moved.argmax())


def shifts_csv(names: list[str], found: tuple[Shift, ...]) -> str:
    """A line a token."""
    rows = [(name, s.before, s.after, s.difference) for name, s in zip(names, found, strict=True)]
    return pd.DataFrame(rows, columns=["token", "before", "after", "difference"]).to_csv(index=False)


def effect_on_one_pass(subject: Subject, setting: MaskSetting, usual: MaskedPass, changed: MaskedPass) -> None:
    """The probability that the translation has now, and, without the causal mask, the meaning of that number."""
    sums = [found.log_probability(subject.target) for found in (usual, changed)]
    right = [int((found.log_probabilities.argmax(axis=1) == list(subject.target)).sum()) for found in (usual, changed)]
    left, middle = st.columns(2)
    with left:
        name = "Log-probability of the translation, in one pass"
        metric(name, fixed(sums[1]), sums[1] - sums[0], fixed(sums[0]), 2)
    with middle:
        name = "Rows whose most probable token is the translation's"
        metric(name, f"{right[1]} of {len(subject.target)}", right[1] - right[0], str(right[0]))
    if not setting.causal:
        alone = setting == MaskSetting(causal=False)
        st.markdown(f"{SEEN} {about_the_future(sums[0], sums[1]) if alone else ''}")


def metric(label: str, value: str, change: float, before: str, digits: int = 0) -> None:
    """A number, and by how much it has changed. A change that rounds to nothing has neither arrow nor colour; of the
    others Streamlit would take only a hyphen for a minus."""
    told = signed(change, digits)
    fell, none = told.startswith("−"), told[0] not in "+−"
    st.metric(
        label,
        value,
        f"{told} against {before} before",
        delta_color="off" if none else "red" if fell else "green",
        delta_arrow="off" if none else "down" if fell else "up",
    )


def about_the_future(before: float, after: float) -> str:
    """The reason why the number fell, or rose, when every row saw the token that it had to predict."""
    if after < before:
        return (
            "Still the translation became **less** probable. The model was trained with the mask and never learned to "
            "read an answer there: keys of the future only disturb its heads."
        )
    return (
        "The translation became **more** probable, but that measures nothing: a model that may look at the answer "
        "is not tested on translating."
    )


def effect_on_translation(translator: Translator, subject: Subject, setting: MaskSetting) -> None:
    """Both translations, the words that differ marked."""
    before = Searched(subject.trace.target_text, True)
    after = run_search(translator, subject, setting)
    words = differing(before.text, after.text)
    for place, name, marked in zip(st.columns(2, gap="medium"), ("Before", "After"), words, strict=True):
        with place, st.container(border=True, key=f"translation-{name.lower()}"):
            st.caption(f"{name}, searched for with a beam of 5")
            st.html(marked_html(marked))
    if not after.finished:
        tell("The translation after the change reached its length limit before it ended.", "warning")
    if before.text == after.text:
        st.caption("Both translations are the same.")
    if not setting.causal or any(c.site == "decoder_self" and c.key > c.query for c in setting.permitted):
        st.caption(
            "What lies in the future does not change a search: it writes one token at a time, and when a row is "
            "computed (and its keys and values are cached) no later token exists."
        )


def effect(
    translator: Translator,
    subject: Subject,
    setting: MaskSetting,
    selection: Selection,
    passes: tuple[MaskedPass, MaskedPass],
    padded_row: Row | None,
) -> None:
    """The experiment: choose a row, change something, see the difference."""
    st.subheader("What if the mask were another one?", anchor=False, divider="gray")
    usual, changed = passes
    step = choose_step(subject.trace, first=1)  # row 1 of the decoder has a single key, which no mask may take
    experiments(subject, setting, selection, changed, step, padded_row)
    if setting.usual:
        tell(
            "Nothing is changed yet: take one of the buttons, switch a mask off, or click a cell of the second matrix."
        )
        return
    if not setting.padding and not subject.source.padding:
        st.caption("This sentence has no padding, so its padding mask changes nothing; look at the other sentence.")
    st.markdown("**The translation**")
    effect_on_translation(translator, subject, setting)
    effect_on_one_pass(subject, setting, usual, changed)
    st.markdown("**The next token** in the chosen row, in one pass")
    effect_on_next_token(translator, subject, usual, changed, step)
    effect_on_weights(subject, selection, usual, changed)
