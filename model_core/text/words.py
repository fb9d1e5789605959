"""Words in a sentence: the one rule for what a word is, by language and script, the pieces that spell each word, and
which words are forms of one word in several sentences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import regex

from model_core.text.pieces import Token, Tokens, piece_bytes

Segmenter = Callable[[str], Iterable[str]]
"""Cuts a run of a script without blanks into its words; joined again they are the run."""

# Scripts that put no blanks between words. The lengthening mark of Japanese belongs to no script of its own.
_WITHOUT_BLANKS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
_CHARACTER = rf"(?={_WITHOUT_BLANKS})\Xー*"
_LETTERS = (
    rf"(?:(?!{_WITHOUT_BLANKS})[\p{{L}}\p{{N}}][\p{{M}}\u200c\u200d]*)+"  # digits, too, and the joiners of Persian
)
_IN_NUMBERS = r"(?<=\p{Nd})[.,](?=\p{Nd})"  # 3.14
_IN_WORDS = r"['’](?=\p{L})"  # don't
_WITH_HYPHENS = {"fr": r"[-\u2010\u2011](?=[\p{L}\p{N}])"}  # chauve-souris; but river, - and bank of river-bank
_ELISIONS = {"fr": r"(?i:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['’](?=\p{L})"}  # l'eau; but not aujourd'hui
_BROKEN_BYTES = r"[\udc80-\udcff]+"
_MARK = r"(?!\s)(?P<mark>\X)(?P=mark)*"  # the same mark several times is one: "..."


@cache
def _pattern(language: str) -> regex.Pattern[str]:
    inside = "|".join([_IN_NUMBERS, _IN_WORDS, *filter(None, [_WITH_HYPHENS.get(language)])])
    word = rf"{_LETTERS}(?:(?:{inside}){_LETTERS})*"
    elision = filter(None, [_ELISIONS.get(language)])
    return regex.compile("|".join([*elision, word, rf"(?P<run>(?:{_CHARACTER})+)", _BROKEN_BYTES, _MARK]))


_ONE_CHARACTER = regex.compile(_CHARACTER)
_LETTERS_OF_WORD = regex.compile(r"[\p{L}\p{N}](?:.*[\p{L}\p{N}])?\p{M}*['’]?", regex.DOTALL)
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "r", "est", "st")
_IRREGULAR = {
    "flew": "fly", "flown": "fly", "lay": "lie", "lain": "lie", "lying": "lie", "rang": "ring", "rung": "ring",
    "bore": "bear", "borne": "bear", "meant": "mean", "leaves": "leaf", "rose": "rise", "stood": "stand",
    "struck": "strike", "drew": "draw", "drawn": "draw", "broke": "break", "broken": "break", "ran": "run",
}  # fmt: skip
_SHORTEST = 3  # letters of a base form that is made by taking an ending off


def word_bounds(text: str, language: str = "", segment: Segmenter | None = None) -> list[tuple[int, int]]:
    """Start and end (exclusive) of each word and each mark of a text, in their order; blanks belong to none.

    A word is letters with their marks and digits: "don't" and "3.14" are one word each. A punctuation mark, a symbol or
    an emoji is a unit of its own. `language` is an ISO 639 code, "" where it is not known; in French "l'eau" is two
    words and "chauve-souris" is one. Of a script without blanks (Chinese, Japanese, Thai ...) each character is a
    word, unless there is a `segment` that finds the words of a run.

    Raises:
        ValueError: what `segment` returns is not the run cut into parts.
    """
    bounds: list[tuple[int, int]] = []
    for found in _pattern(language.lower().replace("_", "-").partition("-")[0]).finditer(text):
        run = found["run"]
        if run is None:
            bounds.append(found.span())
            continue
        parts = _ONE_CHARACTER.findall(run) if segment is None else list(segment(run))
        if "".join(parts) != run:
            raise ValueError(f"The segmenter cut {run!r} into {parts!r}, which is not the same text.")
        ends = list(itertools.accumulate(map(len, parts), initial=found.start()))
        bounds += [bound for bound in itertools.pairwise(ends) if bound[0] < bound[1]]
    return bounds


def word_numbers(pieces: Sequence[str | None], language: str = "", segment: Segmenter | None = None) -> list[int]:
    """For each piece the number, from 0, of the word or mark that it belongs to (see `word_bounds`); -1 for None.

    None stands for a special token, which ends a word. A piece that spells parts of several words belongs to the first
    of them; one of nothing but blanks belongs to the word after it.
    """
    text, owners = _spelled(pieces)
    numbers: list[int | None] = [None] * len(pieces)
    for number, (start, end) in enumerate(word_bounds(text, language, segment)):
        for place in {owner for places in owners[start:end] for owner in places}:
            numbers[place] = number if numbers[place] is None else min(numbers[place] or 0, number)
    return _by_appearance(numbers, pieces)


def _by_appearance(numbers: list[int | None], pieces: Sequence[str | None]) -> list[int]:
    """The numbers as 0, 1, 2 ... in the order of the pieces, blanks with what follows them."""
    following: int | None = None
    for place in reversed(range(len(pieces))):
        if pieces[place] is None:
            following = None
        elif numbers[place] is None:
            numbers[place] = -1 - place if following is None else following  # -1 - place: a number like no other
        following = None if pieces[place] is None else numbers[place]
    order = {number: index for index, number in enumerate(dict.fromkeys(n for n in numbers if n is not None))}
    return [-1 if number is None else order[number] for number in numbers]


def _spelled(pieces: Sequence[str | None]) -> tuple[str, list[range]]:
    """The text of the pieces, and for each of its characters the places of the pieces that spell it.

    A special token (None) is a line break. Bytes that are no UTF-8 are one character each, as in "surrogateescape".
    """
    parts = [b"\n" if piece is None else piece_bytes(piece) for piece in pieces]
    owners = [place for place, part in enumerate(parts) for _ in part]
    text = b"".join(parts).decode("utf-8", errors="surrogateescape")
    ends = itertools.accumulate((len(char.encode("utf-8", errors="surrogateescape")) for char in text), initial=0)
    return text, [range(owners[start], owners[end - 1] + 1) for start, end in itertools.pairwise(ends)]


def _continues(before: Token, token: Token) -> bool:
    """Whether a token belongs to the same word as the one before it; special tokens belong to none."""
    return not token.special and not before.special and token.word == before.word


def word_places(tokens: Tokens) -> list[range]:
    """The places of each word's tokens; a special token is a group of its own."""
    starts = [place for place in range(len(tokens)) if place == 0 or not _continues(tokens[place - 1], tokens[place])]
    return [range(start, stop) for start, stop in itertools.pairwise([*starts, len(tokens)])]


@dataclass(frozen=True)
class WordSpan:
    """A word as it is written, and the pieces `start` to `stop` (exclusive) that spell it."""

    text: str
    start: int
    stop: int

    @property
    def pieces(self) -> slice:
        return slice(self.start, self.stop)

    def __len__(self) -> int:
        return self.stop - self.start


def word_spans(tokens: Tokens) -> list[WordSpan]:
    """The words of a sentence in their order, as the tokens number them, without punctuation and special tokens."""
    spans = []
    for group in word_places(tokens):
        text, owners = _spelled([tokens[place].piece for place in group])
        word = None if tokens[group.start].special else _LETTERS_OF_WORD.search(text)
        if word is not None:
            first, last = owners[word.start()], owners[word.end() - 1]
            spans.append(WordSpan(word[0], group.start + first.start, group.start + last.stop))
    return spans


def base_forms(word: str) -> set[str]:
    """The words that an English word may be a form of, in lower case, itself among them: "flies" of "flie" and "fly".

    Takes endings off by rule, so that some are no words. Two words that share one are taken for forms of one word.
    """
    lowered = word.lower().replace("’", "'").removesuffix("'s")
    forms = {lowered} | ({_IRREGULAR[lowered]} if lowered in _IRREGULAR else set())
    for ending in _ENDINGS:
        stem = lowered.removesuffix(ending)
        if stem == lowered or len(stem) < _SHORTEST or not regex.search("[aeiouy]", stem):
            continue
        forms.add(stem)
        if ending == "ing":
            forms.add(stem + "e")
        if stem.endswith("i") and ending in ("es", "ed", "er", "est"):
            forms.add(stem[:-1] + "y")
        if len(stem) > _SHORTEST and stem[-1] == stem[-2] and ending in ("ed", "ing", "er", "est"):
            forms.add(stem[:-1])
    return forms


def find_word(spans: Sequence[WordSpan], word: str) -> WordSpan | None:
    """The first span that is `word`, else the first that may be a form of it."""
    same = (span for span in spans if span.text.lower() == word.lower())
    forms = (span for span in spans if word.lower() in base_forms(span.text))
    return next(same, None) or next(forms, None)


def shared_words(
    sentences: Sequence[Sequence[WordSpan]], known: Collection[str] = ()
) -> dict[str, dict[int, WordSpan]]:
    """Words that two or more sentences have: word -> index of the sentence -> where its first occurrence stands.

    Forms of one word count as that word. First come the words of `known`, then those of most sentences, then the
    longest.
    """
    by_form: dict[str, dict[int, WordSpan]] = {}
    for index, spans in enumerate(sentences):
        for span in spans:
            for form in base_forms(span.text):
                by_form.setdefault(form, {}).setdefault(index, span)

    def rank(form: str) -> tuple[bool, int, bool, int, str]:
        written = sum(span.text.lower() == form for span in by_form[form].values())
        return form not in known, -len(by_form[form]), not written, -len(form), form

    chosen: dict[str, dict[int, WordSpan]] = {}
    for form in sorted((form for form in by_form if len(by_form[form]) > 1), key=rank):
        if not any(by_form[form].items() <= other.items() for other in chosen.values()):
            chosen[form] = by_form[form]
    return chosen
