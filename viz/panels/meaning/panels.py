"""The translations of the sentences, the tokens that the word looks at, and how alike whole sentences are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from model_core.checkpoint import CheckpointAbout
from model_core.data.homographs import Senses, senses_shown
from model_core.experiments.aligned_words import AlignedWord, aligned_words, nearest_word
from model_core.experiments.meaning import cosine
from model_core.text.words import WordSpan
from model_core.trace import Tokens, TranslationTrace
from model_core.translator import Translator
from viz.appearance import is_dark
from viz.choose import choose_map, default_selection
from viz.components.tinted import Row, Tint, tinted
from viz.figures.meaning import pair_name, pairs_of, sentence_histogram
from viz.frame import find, show_notes
from viz.languages import target_words, writes_french
from viz.panels.meaning.data import senses, unrelated
from viz.panels.meaning.sentences import Sentence, SharedWord
from viz.picture import csv_button, show_figure
from viz.theme import visible
from viz.wording import fixed, probability

SHOWN = 0.05  # attention below this has its tint but no number
NAMED = 3


def find_traces(translator: Translator, sentences: Sequence[Sentence]) -> dict[int, TranslationTrace]:
    """The traces by the sentence's number; where there is none the page says why."""
    traces = {}
    for sentence in sentences:
        found = find(translator, sentence.encoded.text)
        if found is not None:
            traces[sentence.number] = found.trace
            show_notes(found)
    return traces


def translations(about: CheckpointAbout, traces: Mapping[int, TranslationTrace], shared: SharedWord | None) -> None:
    """Each sentence over its translation, the word and what it became marked."""
    spans = {} if shared is None else dict(zip(shared.numbers, shared.spans, strict=True))
    title = "The translations" if shared is None else f"The {target_words(about)}word that comes out"
    st.subheader(title, anchor=False, divider="gray")
    became = {number: _became(traces[number], spans[number]) for number in traces if number in spans}
    if shared is not None:
        st.text(summary(shared.word, became))
    forms = senses() if writes_french(about) else {}
    columns = []
    for place, (number, trace) in enumerate(traces.items()):
        if place % 2 == 0:  # row by row, so that a narrow page keeps the order
            columns = st.columns(2, gap="medium")
        with columns[place % 2], st.container(border=True):
            told = ""
            if shared is not None and number in became:
                told = _outcome(trace, spans[number], became[number], shared.word, forms)
            _translation(number, trace, spans.get(number), became.get(number, []), told)


def _became(trace: TranslationTrace, span: WordSpan) -> list[AlignedWord]:
    """The aligned words; where no word is predicted looking at the source word most, the one that does so most."""
    layer = default_selection(trace).layer
    nearest = nearest_word(trace, span, layer)
    return aligned_words(trace, span, layer) or ([] if nearest is None else [nearest])


def words_text(words: Sequence[AlignedWord]) -> str:
    """The words with blanks between."""
    return " ".join(word.span.text for word in words)


def summary(word: str, became: Mapping[int, Sequence[AlignedWord]]) -> str:
    """The word's translations in all sentences, in one sentence."""
    groups: dict[str, list[str]] = {}
    for number, words in became.items():
        groups.setdefault(words_text(words) or "nothing", []).append(str(number))
    if len(groups) == 1 and len(became) > 1:
        every = "both" if len(became) == 2 else f"all {len(became)}"
        return f"“{word}” becomes “{next(iter(groups))}” in {every} sentences."
    parts = [f"“{words}” in {_sentences(numbers)}" for words, numbers in groups.items()]
    return f"“{word}” becomes {', '.join(parts)}."


def _sentences(numbers: Sequence[str]) -> str:
    if len(numbers) == 1:
        return f"sentence {numbers[0]}"
    return f"sentences {', '.join(numbers[:-1])} and {numbers[-1]}"


def _translation(
    number: int, trace: TranslationTrace, span: WordSpan | None, became: Sequence[AlignedWord], told: str
) -> None:
    dark = is_dark()
    st.caption(f"Sentence {number}")
    source = _marks(trace.source_tokens, [] if span is None else [span])
    marks = _marks(trace.predicted_tokens, [aligned.span for aligned in became])
    for aligned in became:
        marks[aligned.span.start] = Tint(marked=True, note=probability(aligned.probability, 2))
    rows = (
        Row(f"Sentence {number}", trace.source_tokens[1:-1], source[1:-1]),
        Row(f"Translation {number}", trace.predicted_tokens[:-1], marks[:-1], told),
    )
    name = f"regard-meaning-sentence{number}"
    tinted(rows, what=f"sentence {number}", name=name, dark=dark, key=f"became-{number}")


def _marks(tokens: Tokens, spans: Sequence[WordSpan]) -> list[Tint]:
    return [Tint(marked=any(span.start <= i < span.stop for span in spans)) for i in range(len(tokens))]


def _outcome(trace: TranslationTrace, span: WordSpan, became: Sequence[AlignedWord], word: str, forms: Senses) -> str:
    """The words that the word became, how sure the model was, and which sense that is, if `forms` has the word."""
    if not became:
        return "The translation has no word."
    parts = [f"“{a.span.text}” (probability {probability(a.probability, 2)}, attention {a.share:.2f})" for a in became]
    told = f"“{span.text}” → {', '.join(parts)}"
    if word not in forms:
        return f"{told}."
    here = senses_shown(words_text(became), word, forms)
    shown = here or senses_shown(trace.target_text, word, forms)
    if not shown:
        return f"{told}: none of the French forms that the homograph set has for “{word}”."
    where = "" if here else ", by another word of the translation"
    return f"{told}: the sense “{'” or “'.join(shown)}”{where}."


@st.fragment
def attention_of_word(traces: Mapping[int, TranslationTrace], shared: SharedWord) -> None:
    """The word's row of one encoder map in each sentence, as tints."""
    st.subheader("What the word looks at", anchor=False, divider="gray")
    selection = choose_map(next(iter(traces.values())), sites=("encoder_self",))
    rows = {
        number: word_attention(traces[number], span, selection.layer, selection.head)
        for number, span in zip(shared.numbers, shared.spans, strict=True)
        if number in traces
    }
    top = max(float(row.max()) for row in rows.values())
    pictured: list[Row] = []
    for number, span in zip(shared.numbers, shared.spans, strict=True):
        if number not in rows:
            continue
        tokens, row = traces[number].source_tokens, rows[number]
        marks = [
            Tint(share / top, mark.marked, f"{share:.2f}" if share >= SHOWN else "", f"{share:.4f}")
            for share, mark in zip(map(float, row), _marks(tokens, [span]), strict=True)
        ]
        label = f"What {span.text} looks at in sentence {number}"
        pictured.append(Row(label, tokens, marks, looks_most(span, tokens, row)))
    name = f"regard-meaning-looks-layer{selection.layer + 1}"
    dark = is_dark()
    tinted(pictured, what="what the word looks at", name=name, dark=dark, key="looks")
    st.caption(
        f"The colour runs from 0 to the strongest weight here, {top:.2f}; numbers below {SHOWN} are left out. A word "
        "of several pieces looks with all of them: the mean of their rows."
    )
    csv_button("Weights as CSV", lambda: _looks_csv(traces, rows), name, key="looks-csv", alone=True)


def word_attention(trace: TranslationTrace, span: WordSpan, layer: int, head: int | None) -> NDArray[np.float64]:
    """Mean over a word's pieces of what they give to each source token: `[S]`, which sums to 1."""
    return trace.encoder_self.map(layer, head)[span.pieces].mean(axis=0, dtype=np.float64)


def looks_most(span: WordSpan, tokens: Tokens, row: NDArray[np.float64]) -> str:
    """The strongest few, in words."""
    best = np.argsort(-row, kind="stable")[:NAMED]
    return (
        f"“{span.text}” looks most at " + ", ".join(f"“{visible(tokens[i].text)}” ({row[i]:.2f})" for i in best) + "."
    )


def _looks_csv(traces: Mapping[int, TranslationTrace], rows: Mapping[int, NDArray[np.float64]]) -> str:
    table = [
        {"sentence": number, "token": place, "text": visible(token.text), "weight": weight}
        for number, row in rows.items()
        for place, (token, weight) in enumerate(zip(traces[number].source_tokens, row, strict=True), start=1)
    ]
    return pd.DataFrame(table).to_csv(index=False)


def whole_sentences(
    translator: Translator, sentences: Sequence[Sentence], traces: Mapping[int, TranslationTrace]
) -> None:
    """How alike the sentences are as wholes, beside unrelated ones, and their translations side by side."""
    st.subheader("The sentences as wholes", anchor=False, divider="gray")
    numbers = [sentence.number for sentence in sentences]
    pairs = pairs_of(len(sentences))
    own = [cosine(sentences[a].encoded.mean, sentences[b].encoded.mean) for a, b in pairs]
    others = unrelated(translator).sentences
    told = closeness(own, pairs, numbers, others)
    st.text(told)
    left, right = st.columns([7, 5], gap="medium")
    with left:
        names = [pair_name(pair, numbers) for pair in pairs]
        figure = sentence_histogram(others, own, names, dark=is_dark())
        table = pd.DataFrame({"pair": [*names, *["unrelated"] * len(others)], "cosine": [*own, *others]})
        csv = lambda: table.to_csv(index=False)  # noqa: E731
        show_figure(figure, name="regard-meaning-sentences", key="wholes", alt=told, csv=csv)
    with right:
        for sentence in sentences:
            st.caption(f"Sentence {sentence.number}")
            st.text(sentence.encoded.text)
            if sentence.number in traces:
                st.text(f"→ {traces[sentence.number].target_text}")


def closeness(
    own: Sequence[float], pairs: Sequence[tuple[int, int]], numbers: Sequence[int], others: NDArray[np.float64]
) -> str:
    """The closest pair beside unrelated ones, in one sentence."""
    best = int(np.argmax(own))
    above = int((others >= own[best]).sum())
    percent = 100 * above / len(others)
    some = f"{above:,} ({percent:.1f} %) are" if percent >= 0.1 else f"{above:,} are"
    share = some if above > 1 else "one is" if above else "none is"
    return (
        f"Sentences {pair_name(pairs[best], numbers)} have mean encoder outputs with a cosine of {fixed(own[best])}. "
        f"Of {len(others):,} pairs of unrelated sentences (mean {fixed(float(others.mean()))}, highest "
        f"{fixed(float(others.max()))}) {share} at least as alike."
    )
