"""Colours, the font and the escaping of labels, for everything on the screen. Needs neither streamlit nor plotly."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'

# "deep" of cmocean (Thyng et al. 2016, doi:10.5670/oceanog.2016.66) in 12 equal steps. Perceptually uniform, and its
# lightness only falls, so that it reads the same to people who cannot tell red from green, and in grey.
_DEEP = (
    "#fdfdcc",
    "#ceecb3",
    "#9cdba5",
    "#6fc9a3",
    "#56b1a3",
    "#4c99a0",
    "#44829b",
    "#3e6c96",
    "#3e528f",
    "#403c73",
    "#362b4d",
    "#271a2c",
)
# "balance" of the same source for signed numbers: blue below zero, nearly white at it, red above.
_BALANCE = (
    "#171c42",
    "#293a8f",
    "#0b66bd",
    "#4590b9",
    "#8eb5c2",
    "#d2d8db",
    "#f3efec",
    "#e6d2cc",
    "#d59d89",
    "#c46548",
    "#ac2b24",
    "#780e28",
    "#3c0911",
)
# On a dark page zero is the dark middle, and what is large is bright.
_BALANCE_DARK = (
    "#d3e8f7",
    "#9fcbeb",
    "#68a9dc",
    "#3f86bf",
    "#32648c",
    "#2a4459",
    "#22292f",
    "#4c322c",
    "#7c4435",
    "#b05a42",
    "#dd7d61",
    "#f2a98f",
    "#fbd9cb",
)
# Eight colours that differ in lightness as well as in hue, after Okabe & Ito (2008); text says what each stands for.
_SERIES_LIGHT = ("#0072b2", "#d55e00", "#007a5a", "#b44a8f", "#8a6d00", "#3d9bd6", "#5b3f9e", "#6b6f76")
_SERIES_DARK = ("#56b4e9", "#f08a4b", "#2fc79a", "#e39bc6", "#f0e442", "#8fa8ff", "#c8a2f0", "#c0c4c8")


@dataclass(frozen=True)
class Palette:
    """The "#rrggbb" colours of one theme.

    `sequential` runs from the lowest value to the highest in equal steps, `diverging` from the most negative over zero
    in the middle to the most positive; `series` tells lines, bars and heads apart.
    """

    background: str
    text: str
    muted: str
    hatch: str
    accent: str
    sequential: tuple[str, ...]
    diverging: tuple[str, ...]
    series: tuple[str, ...]

    def series_colour(self, index: int) -> str:
        """The colour of the line or bar with this number, from 0; after the last colour the first comes again."""
        return self.series[index % len(self.series)]

    def colour_at(self, share: float) -> str:
        """The colour at 0 (lowest) to 1 (highest) of the sequential scale, mixed between two stops."""
        place = min(max(share, 0.0), 1.0) * (len(self.sequential) - 1)
        below = min(int(place), len(self.sequential) - 2)
        pair = (bytes.fromhex(colour[1:]) for colour in self.sequential[below : below + 2])
        return "#" + bytes(round(a + (b - a) * (place - below)) for a, b in zip(*pair, strict=True)).hex()


# The scale's end that lies next to the page's background stands for nothing, in either theme.
LIGHT = Palette("#fbfaf7", "#1f2730", "#5b6470", "#a9abad", "#24598f", _DEEP, _BALANCE, _SERIES_LIGHT)
DARK = Palette("#14181d", "#e6e4de", "#a3a8ad", "#59626b", "#8cbcea", _DEEP[::-1], _BALANCE_DARK, _SERIES_DARK)

_CUT_AT = 14
# Not the marks U+200E, U+200F and U+061C, which writing from right to left needs and which reorder nothing outside.
_BIDI_CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_SYMBOLS = {i: chr(0x2400 + i) for i in range(0x20)} | {0x7F: "␡", ord("\n"): "␤", ord("\t"): "␉", ord("\r"): "␍"}
_SYMBOLS |= {ord(c): f"⟨{ord(c):04X}⟩" for c in (*_BIDI_CONTROLS, *map(chr, range(0x80, 0xA0)), "\u2028", "\u2029")}
_SYMBOLS |= dict.fromkeys(range(55296, 57344), "�")  # lone surrogates cannot be written as UTF-8
_EDGE_BLANKS = re.compile(r"^\s+|\s+$|(?<=\s)\s+")
# "$" as well: Plotly would set $x$ as a formula where MathJax is loaded.
_ENTITIES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord("$"): "&#36;"}


def palette(dark: bool) -> Palette:
    return DARK if dark else LIGHT


def visible(text: str) -> str:
    """The text on one line, invisible or acting characters replaced by symbols: ␤ ␉ ␣ for blanks, ␀ for NUL.

    A single space between words stays a space. Direction controls appear as their code (⟨202E⟩), since they would
    reorder the text around the label; lone surrogates become U+FFFD. An empty text is ∅.
    """
    spelled = text.translate(_SYMBOLS)
    return _EDGE_BLANKS.sub(lambda blanks: "␣" * len(blanks[0]), spelled) or "∅"


def escape_label(text: str, limit: int | None = _CUT_AT) -> str:
    """A token as Plotly's text: it appears exactly as typed, cut to `limit` characters with an ellipsis (None: uncut).

    Right-to-left text is isolated (U+2068 ... U+2069), so that it keeps its own order and leaves its neighbours theirs.
    """
    shown = cut(visible(text), limit)
    escaped = shown.translate(_ENTITIES)
    return (
        f"\u2068{escaped}\u2069" if any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in shown) else escaped
    )


def escape_markdown(text: str) -> str:
    """A token as Markdown: a code span, inside which $, ![](), :red[] and links mean nothing.

    Backslashes would not do: Streamlit replaces emoji codes and bare addresses after it has read the Markdown. In a
    table a "|" would still end the cell: use st.dataframe there.
    """
    shown = visible(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return f"{fence} {shown} {fence}"


def label_width(text: str) -> float:
    """The text's width in units of the font's size, estimated without the font, rather too wide than too narrow."""
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> float:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn"):
        return 0.0
    if unicodedata.east_asian_width(character) in ("W", "F") or ord(character) > 0xFFFF:
        return 1.3 if ord(character) > 0xFFFF else 1.0
    return 0.85 if character in "mwMW@%—…␣␤␉" else 0.72 if character.isupper() else 0.6


def cut(text: str, limit: int | None) -> str:
    """The text, not longer than `limit` characters: a longer one ends in an ellipsis, letters and emoji whole."""
    if limit is None or len(text) <= limit:
        return text
    end = max(limit - 1, 0)
    while end > 0 and _continues(text, end):  # a letter keeps its accents, an emoji its parts
        end -= 1
    return text[: end or limit - 1] + "…"


def _continues(text: str, index: int) -> bool:
    """Whether the character at `index` belongs to the one before it."""
    character = text[index]
    return (
        unicodedata.category(character) in ("Mn", "Me", "Cf")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or text[index - 1] == "\u200d"
    )
