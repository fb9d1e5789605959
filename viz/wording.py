"""Numbers, counts and names of files as a page writes them: the one place. Needs neither streamlit nor plotly."""

from __future__ import annotations

import re


def fixed(number: float, digits: int = 2) -> str:
    """With `digits` decimals and a true minus sign; what rounds to 0 has none."""
    return f"{number:z.{digits}f}".replace("-", "−")


def signed(number: float, digits: int = 3) -> str:
    """As `fixed`, with a plus that is as wide as the minus: "+0.120", "−0.120"; what rounds to 0 is neither."""
    told = fixed(number, digits)
    return told if told.startswith("−") or not told.strip("0.") else f"+{told}"


def significant(number: float, digits: int = 6) -> str:
    """With at most `digits` significant digits and a true minus sign, in an exponent as well."""
    return f"{number:z.{digits}g}".replace("-", "−")


def probability(share: float, digits: int = 3) -> str:
    """With `digits` decimals, or as many as it takes to see that it is none of 0 and 1: "0.431", "> 0.999", "1.2e−05".

    A probability that was computed as exactly 1 is called "> 0.999", too: no model is certain, its digits end.
    """
    least = 0.5 / 10**digits
    if share >= 1 - least:
        return f"> {1 - 1 / 10**digits:.{digits}f}"
    return fixed(share, digits) if share >= least or share == 0 else f"{share:.1e}".replace("-", "−")


def percent(share: float) -> str:
    """As the chips under a sentence say it: "99+ %", "43 %", "0.12 %"."""
    if share >= 0.995:
        return "99+ %"
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{significant(100 * share, 2)} %"


def counted(number: int, noun: str, plural: str = "") -> str:
    """ "1 piece", "2 pieces", "1,200 steps"; `plural` where an s does not make it."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def slug(text: str, otherwise: str, most: int | None = None) -> str:
    """The text's first words, `most` of them, as a part of a file's name; `otherwise` where it has none."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower())[:most]) or otherwise
