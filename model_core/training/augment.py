"""Small changes to the training pairs, new in each epoch: joined sentences, and spellings that people type.

Joined pairs teach sentences longer than the corpus has; variants teach that "how are you" asks what "How are you?"
asks. Everything random comes from the generator passed in.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from model_core.data.corpus import Pair

VARIANT_PROBABILITY = 0.5

_NEGATED = ("do", "does", "did", "is", "are", "was", "were", "have", "has", "had")
_NEGATED += ("could", "would", "should", "must", "need")
NEGATIONS = {f"{verb} not": f"{verb}n't" for verb in _NEGATED} | {"cannot": "can't", "will not": "won't"}
SUBJECTS = {"I am": "I'm"}
SUBJECTS |= {f"{subject} are": f"{subject}'re" for subject in ("you", "we", "they")}
SUBJECTS |= {f"{subject} have": f"{subject}'ve" for subject in ("I", "you", "we", "they")}
SUBJECTS |= {f"{subject} will": f"{subject}'ll" for subject in ("I", "you", "he", "she", "it", "we", "they")}
# Only shortened, never spelled out: "it's" can also be "it has".
SHORTENED_ONLY = {f"{word} is": f"{word}'s" for word in ("it", "he", "she", "that", "there", "what", "where", "who")}


def _one_of(phrases: Sequence[str], after: str = "") -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, phrases))})\b{after}", re.IGNORECASE)


def _by_lower_case(*tables: dict[str, str]) -> dict[str, str]:
    return {key.lower(): value for table in tables for key, value in table.items()}


_SHORT = _by_lower_case(NEGATIONS, SUBJECTS, SHORTENED_ONLY)
_LONG = _by_lower_case({short: long for table in (NEGATIONS, SUBJECTS) for long, short in table.items()})
_NEGATION_TO_SHORTEN = _one_of(list(NEGATIONS))
# "Yes, I am." has no short form: a word has to follow. "I have" shortens before "been", not before "a dog".
_SUBJECT_TO_SHORTEN = _one_of([p for p in (SUBJECTS | SHORTENED_ONLY) if not p.endswith("have")], after=r"(?=\s+\w)")
_NEGATION_TO_SPELL_OUT = _one_of(list(NEGATIONS.values()))
_SUBJECT_TO_SPELL_OUT = _one_of(list(SUBJECTS.values()))


def join_pairs(pairs: Sequence[Pair]) -> Pair:
    """One pair out of several, with spaces between their sentences."""
    return Pair(" ".join(pair.source for pair in pairs), " ".join(pair.target for pair in pairs))


def vary(pair: Pair, rng: random.Random) -> Pair:
    """The pair with its source typed another way: contractions changed, first letter small, final mark left out.

    Each of the three happens with probability VARIANT_PROBABILITY and where it applies; the target stays as it is.
    """
    source = pair.source
    for change in (swap_contractions, lower_first_letter, drop_final_punctuation):
        if rng.random() < VARIANT_PROBABILITY:
            source = change(source)
    return Pair(source, pair.target)


def lower_first_letter(sentence: str) -> str:
    """ "How are you?" gives "how are you?"; "TV is on." stays, because its first word is all capitals."""
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


def drop_final_punctuation(sentence: str) -> str:
    """ "How are you?" gives "How are you"; a sentence of nothing but marks stays."""
    return sentence.rstrip(" .!?…") or sentence


def swap_contractions(sentence: str) -> str:
    """ "I do not know" gives "I don't know" and the other way round; a sentence without either stays.

    Questions keep their negative contractions: "Don't you know?" has no spelled-out form in that order.
    """
    spelled_out = sentence
    if not sentence.rstrip().endswith("?"):
        spelled_out = _replace(_NEGATION_TO_SPELL_OUT, _LONG, spelled_out)
    spelled_out = _replace(_SUBJECT_TO_SPELL_OUT, _LONG, spelled_out)
    if spelled_out != sentence:
        return spelled_out
    return _replace(_SUBJECT_TO_SHORTEN, _SHORT, _replace(_NEGATION_TO_SHORTEN, _SHORT, sentence))


def _replace(pattern: re.Pattern[str], table: dict[str, str], sentence: str) -> str:
    """Replaces what matches and keeps its first letter, whose case depends on where in the sentence it stands."""
    return pattern.sub(lambda match: match[0][0] + table[match[0].lower()][1:], sentence)


def augment_epoch(
    pairs: Sequence[Pair], rng: random.Random, join_share: float = 0.15, vary_share: float = 0.1
) -> list[Pair]:
    """An epoch's examples in random order: every pair stands in exactly one of them.

    `join_share` of the examples are two or three pairs joined; `vary_share` of all examples have their source varied.
    """
    order = list(range(len(pairs)))
    rng.shuffle(order)
    examples, start = [], 0
    while start < len(order):
        count = rng.choice((2, 3)) if rng.random() < join_share else 1
        members = [pairs[i] for i in order[start : start + count]]
        start += count
        example = members[0] if len(members) == 1 else join_pairs(members)
        examples.append(vary(example, rng) if rng.random() < vary_share else example)
    return examples
