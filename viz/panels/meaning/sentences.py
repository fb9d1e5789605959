"""Which sentences and which word the Meaning page looks at: asked for, remembered, and kept in the link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from model_core.experiments.meaning import Encoded
from model_core.text.words import WordSpan, shared_words
from model_core.translator import EmptyInput, InputError, Source, Translator
from viz.languages import source_words
from viz.link import SENTENCES, WORD
from viz.linked import read, write
from viz.messages import tell, tell_removed
from viz.panels.meaning.data import encoded_sentences, senses

MOST_SENTENCES = 6
_BOX = "meaning-sentences"
_WORD = "meaning-word"


@dataclass(frozen=True)
class Story:
    """Sentences that show something, and the word to look at."""

    name: str
    word: str
    sentences: tuple[str, ...]


STORIES = (
    Story(
        "bank",
        "bank",
        (
            "I went fishing by the river yesterday, remaining near the bank the whole afternoon.",
            "Kate went to the bank after work yesterday and deposited a check there.",
            "Why is the river so rich? Because it has two banks.",
        ),
    ),
    Story(
        "spring",
        "spring",
        (
            "In spring, the trees turn green again.",
            "We drank cold water from the spring.",
            "The spring of my watch is broken.",
        ),
    ),
    Story("light", "light", ("This suitcase is very light.", "Turn on the light, please.")),
    Story("bat", "bat", ("A bat flew out of the cave at night.", "The player hit the ball with his bat.")),
    Story("match", "match", ("We won the match yesterday.", "I need a match to light the candle.")),
    Story(
        "right",
        "right",
        ("Turn right at the corner.", "You are right, I was wrong.", "Everyone has the right to speak."),
    ),
    Story("left", "left", ("Turn left at the corner.", "She left without saying goodbye.")),
    Story("fly", "fly", ("There is a fly in my soup.", "Birds fly south in winter.")),
    Story("don't / do not", "speak", ("I don't speak French.", "I do not speak French.")),
)


@dataclass(frozen=True)
class Sentence:
    """One sentence of the person's: its `number` on the page, from 1, and what the encoder makes of it."""

    number: int
    encoded: Encoded


def ask_sentences(translator: Translator) -> list[Sentence]:
    """A box with a sentence a line, and stories that fill it with one click. Says which lines can't be used."""
    first = "\n".join(STORIES[0].sentences)
    linked = read(SENTENCES)
    st.session_state.setdefault(_BOX, first if linked is None else linked)
    label = f"{source_words(translator.checkpoint.about)}sentences, one a line: two to {MOST_SENTENCES}"
    text = st.text_area(
        label[:1].upper() + label[1:],
        key=_BOX,
        height=124,
        help="Add or remove lines as you like. Ctrl + Enter, or a click elsewhere, takes them.",
    )
    write(SENTENCES.change(text or "", default=first))
    with st.container(horizontal=True, gap="small", key="stories"):
        for index, story in enumerate(STORIES):
            st.button(story.name, key=f"story-{index}", type="tertiary", on_click=_take, args=(story,))
    return _usable(translator, (text or "").split("\n"))


def _take(story: Story) -> None:
    st.session_state[_BOX] = "\n".join(story.sentences)
    write(WORD.change(story.word))


def _usable(translator: Translator, lines: Sequence[str]) -> list[Sentence]:
    written = [line for line in lines if line.strip()]
    if len(written) > MOST_SENTENCES:
        told = f"There are {len(written):,} sentences; at most {MOST_SENTENCES} are compared, the first ones."
        tell(told, "warning")
    good: list[tuple[int, Source]] = []
    for number, line in enumerate(written[:MOST_SENTENCES], start=1):
        try:
            good.append((number, translator.prepare(line, f"Sentence {number}")))
        except EmptyInput:
            tell(f"Sentence {number} has no character that can be read, so it is left out.", "warning")
        except InputError as error:
            tell(str(error), "warning")
    tell_removed(sum(source.removed for _, source in good))
    encoded = encoded_sentences(translator, [source.text for _, source in good]) if good else []
    return [Sentence(number, one) for (number, _), one in zip(good, encoded, strict=True)]


@dataclass(frozen=True)
class SharedWord:
    """The word that is looked at, and the sentences that have it with where it stands in each."""

    word: str
    sentences: tuple[Sentence, ...]
    spans: tuple[WordSpan, ...]

    @property
    def numbers(self) -> list[int]:
        return [sentence.number for sentence in self.sentences]


def choose_word(sentences: Sequence[Sentence]) -> SharedWord | None:
    """One of the words that two or more sentences have; None where there is none, and the page says so."""
    offered = shared_words([sentence.encoded.words for sentence in sentences], senses().keys())
    if not offered:
        tell("No word stands in two of the sentences, so there is none to compare. Write one that they share.")
        return None
    asked = read(WORD)
    st.session_state[_WORD] = asked if asked in offered else next(iter(offered))

    def chosen() -> None:
        write(WORD.change(st.session_state[_WORD]))

    word = st.selectbox(
        "Word",
        list(offered),
        key=_WORD,
        on_change=chosen,
        width=230,
        help="Words that two or more sentences have, ambiguous ones first. Forms count as one word: bank, banks.",
    )
    return _shared(word, offered[word], sentences)


def _shared(word: str, places: Mapping[int, WordSpan], sentences: Sequence[Sentence]) -> SharedWord:
    rows = sorted(places)
    without = [str(sentence.number) for index, sentence in enumerate(sentences) if index not in places]
    if without:
        tell(f"Left out of what follows about “{word}”, since it is not in them: {', '.join(without)}.")
    return SharedWord(word, tuple(sentences[row] for row in rows), tuple(places[row] for row in rows))
