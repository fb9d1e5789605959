"""A beam search on the page: its tree, and the list of the translations that it found."""

from __future__ import annotations

import csv
import io

import pandas as pd
import streamlit as st

from model_core.config import DecodingConfig
from model_core.trace import Token
from model_core.translator import Translation, Translator
from viz.components.beam_tree import beam_tree, ids_of, pack_tree, places_of
from viz.link import HYPOTHESIS
from viz.linked import write
from viz.picture import csv_button
from viz.theme import visible
from viz.wording import counted


@st.cache_resource(max_entries=32, show_spinner=False)
def packed_tree(
    checkpoint: str,
    text: str,
    decoding: DecodingConfig,
    prefix: tuple[int, ...],
    _translator: Translator,
    _translation: Translation,
) -> bytes:
    """The tree, packed once a search."""
    best, tokenizer = _translation.best, _translator.target_tokenizer
    return pack_tree(best.beam, piece=tokenizer.piece, decode=tokenizer.decode, best=best.ids, forced=len(prefix))


def tree_panel(translator: Translator, translation: Translation, traced: tuple[Token, ...], name: str) -> None:
    """The tree; a hypothesis that is clicked goes into the link, and the page shows it. `traced` is the one shown."""
    best = translation.best
    st.subheader("The beam as a tree", anchor=False, divider="gray")
    width, looked = translation.decoding.beam_width, sum(map(len, best.beam))
    st.caption(
        f"Each column is a step. Of all continuations the {2 * width} most probable are weighed, and {width} live on: "
        f"{counted(looked, 'hypothesis', 'hypotheses')} in {counted(len(best.beam), 'step')}. Numbers are sums of "
        "log-probabilities; a finished hypothesis shows its score, in which the length penalty is. Click one to look "
        "at it above."
    )
    key = (translator.checkpoint.id, translation.source.text, translation.decoding, translation.prefix)
    packed = packed_tree(*key, translator, translation)
    csv = lambda: hypotheses_csv(translator, translation)  # noqa: E731
    csv_button("All hypotheses as CSV", csv, f"{name}-beam", key="beam-csv", alone=True)
    shown = places_of(best.beam, [token.id for token in traced])
    place = beam_tree(packed, traced=shown, name=f"{name}-beam", key="beam-tree")
    if place is None:
        return
    ids = ids_of(best.beam, place)
    write(HYPOTHESIS.change(() if ids == best.ids else ids))
    st.rerun()


def hypotheses_csv(translator: Translator, translation: Translation) -> str:
    """One row a hypothesis of the beam: step, place and parent count from 1 (a parent of 0 is <s>)."""
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(["step", "place", "parent", "id", "piece", "log_probability", "score", "finished", "kept", "text"])
    tokenizer, beam = translator.target_tokenizer, translation.best.beam
    for step, row in enumerate(beam):
        for index, one in enumerate(row):
            numbers = (f"{one.log_probability:.6f}", f"{one.score:.6f}", int(one.finished), int(one.kept))
            text = tokenizer.decode(ids_of(beam, (step, index)))
            table.writerow([step + 1, index + 1, one.parent + 1, one.id, tokenizer.piece(one.id), *numbers, text])
    return out.getvalue()


def n_best_table(translator: Translator, translation: Translation) -> pd.DataFrame:
    """One row a translation, best first."""
    return pd.DataFrame(
        {
            "translation": [visible(translator.target_tokenizer.decode(found.ids)) for found in translation.n_best],
            "pieces": [len(found.ids) for found in translation.n_best],
            "log P": [found.log_probability for found in translation.n_best],
            "score": [found.score for found in translation.n_best],
            "ended": ["with </s>" if found.finished else "cut off at the length limit" for found in translation.n_best],
        },
        index=pd.RangeIndex(1, len(translation.n_best) + 1, name="rank"),
    )


def n_best_panel(translator: Translator, translation: Translation) -> None:
    """The n best as a table, which can be sorted and saved."""
    alpha = translation.decoding.length_penalty
    found = len(translation.n_best)
    best = "The best translation" if found == 1 else f"The {found} best translations"
    st.markdown(f"**{best}** by score = log P / ((5 + pieces) / 6)^{alpha:g}")
    numbers = {name: st.column_config.NumberColumn(format="%.3f") for name in ("log P", "score")}
    st.dataframe(n_best_table(translator, translation), column_config=numbers, key="n-best")
