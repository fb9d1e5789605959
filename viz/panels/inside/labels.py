"""Labels of the matrices of one head, and the sentence that tells their shapes."""

from __future__ import annotations

from dataclasses import dataclass

from model_core.trace import Site, Tokens, TranslationTrace
from viz.theme import visible
from viz.wording import counted

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True)
class Labels:
    """Texts of the queries' and the keys' tokens, and numbers (from 1) of D dimensions and of the head's d_k."""

    queries: tuple[str, ...]
    keys: tuple[str, ...]
    model: tuple[str, ...]
    head: tuple[str, ...]


def labels_of(trace: TranslationTrace, site: Site, d_model: int, d_head: int) -> Labels:
    """The labels of one site of a sentence."""
    maps = trace.maps(site)
    return Labels(_texts(maps.query_tokens), _texts(maps.key_tokens), numbers(d_model), numbers(d_head))


def numbers(count: int) -> tuple[str, ...]:
    """ "1" to `count`, as dimensions are counted on the page."""
    return tuple(str(number) for number in range(1, count + 1))


def _texts(tokens: Tokens) -> tuple[str, ...]:
    return tuple(visible(token.text) for token in tokens)


def shape_sentence(trace: TranslationTrace, site: Site, d_model: int, heads: int) -> str:
    """The shapes of this sentence: "4 tokens + 2 specials: X is 6 × 256, eight heads of 6 × 32." """
    maps, d_head = trace.maps(site), d_model // heads
    queries, keys = len(maps.query_tokens), len(maps.key_tokens)
    split = f"{in_words(heads)} {'head' if heads == 1 else 'heads'} of"
    if site != "cross":
        return f"{_counted(maps.query_tokens)}: X is {queries} × {d_model}, {split} {queries} × {d_head}."
    return (
        f"{_counted(maps.query_tokens)} in the decoder: X is {queries} × {d_model}. {_counted(maps.key_tokens)} in the "
        f"source: the memory is {keys} × {d_model}. {split.capitalize()} {queries} × {d_head} (Q) and "
        f"{keys} × {d_head} (K and V)."
    )


def _counted(tokens: Tokens) -> str:
    special = sum(token.special for token in tokens)
    plain = len(tokens) - special
    return f"{counted(plain, 'token')} + {counted(special, 'special')}"


def in_words(number: int) -> str:
    """Small numbers as words."""
    return _WORDS[number] if number < len(_WORDS) else str(number)
