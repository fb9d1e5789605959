"""How values are spelled in a link: one class for each kind of value. Needs no streamlit.

A link may say anything. `read` gives None for what can't be read, and never raises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)
_DIGITS = 9  # of a whole number in a link
_POSITION_DIGITS = 6


class Kind(Generic[T_co]):
    """Reads a value from a link and spells it for one. A name may stand in a link several times; most kinds take the
    last one only."""

    def parse(self, text: str) -> T_co | None:
        """The value that one text spells; None if it spells none."""
        raise NotImplementedError

    def read(self, texts: Sequence[str]) -> T_co | None:
        """The value that all texts under one name spell, at least one; None if they spell none."""
        return self.parse(texts[-1])

    def spell(self, value: Any) -> list[str]:
        """The texts that stand for the value."""
        return [str(value)]


@dataclass(frozen=True)
class Text(Kind[str]):
    """Any text, the empty one included. It has to be checked where it is used."""

    def parse(self, text: str) -> str | None:
        return text


@dataclass(frozen=True)
class OneOf(Kind[T_co]):
    """One of a few values, spelled as the page shows them."""

    options: tuple[T_co, ...]
    _by_name: Mapping[str, T_co] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {str(option): option for option in self.options})

    def parse(self, text: str) -> T_co | None:
        return self._by_name.get(text)


@dataclass(frozen=True)
class Switch(Kind[bool]):
    """On or off: "true", "false"."""

    def parse(self, text: str) -> bool | None:
        return {"true": True, "false": False}.get(text.lower())

    def spell(self, value: Any) -> list[str]:
        return [str(value).lower()]


@dataclass(frozen=True)
class Whole(Kind[int]):
    """A whole number from `low`, at least 0, to `high`, in digits only: "1e400" is a float that no int can hold."""

    low: int
    high: int

    def parse(self, text: str) -> int | None:
        plain = len(text) <= _DIGITS and text.isascii() and text.isdigit()
        return int(text) if plain and self.low <= int(text) <= self.high else None


@dataclass(frozen=True)
class Decimal(Kind[float]):
    """A number from `low` to `high`; whole ones are spelled without a point."""

    low: float
    high: float

    def parse(self, text: str) -> float | None:
        try:
            number = float(text)
        except ValueError:
            return None
        return number if math.isfinite(number) and self.low <= number <= self.high else None

    def spell(self, value: Any) -> list[str]:
        return [str(int(value)) if value == int(value) else str(value)]


@dataclass(frozen=True)
class Position(Kind[int]):
    """An index (from 0), which a link counts from 1. How many there are is known where it is used: see `within`."""

    count: int = 10**_POSITION_DIGITS - 1

    def parse(self, text: str) -> int | None:
        plain = len(text) <= _POSITION_DIGITS and text.isascii() and text.isdigit()
        return int(text) - 1 if plain and 1 <= int(text) <= self.count else None

    def spell(self, value: Any) -> list[str]:
        return [str(value + 1)]


def within(index: int | None, count: int) -> int | None:
    """The index if there are more than that many, else None."""
    return index if index is not None and index < count else None


@dataclass(frozen=True)
class Named(Kind[T_co]):
    """A value of `kind`, or one that has a name of its own, such as "mean"."""

    names: Mapping[str, T_co]
    kind: Kind[T_co]

    def parse(self, text: str) -> T_co | None:
        return self.names[text] if text in self.names else self.kind.parse(text)

    def spell(self, value: Any) -> list[str]:
        own = [name for name, named in self.names.items() if named == value]
        return own or self.kind.spell(value)


@dataclass(frozen=True)
class Several(Kind[tuple[T_co, ...]]):
    """Values of one kind, each of them under the name again ("dimensions=3&dimensions=5"), doubled ones once and
    unreadable ones left out; `none` stands for no value at all."""

    kind: Kind[T_co]
    none: str = "none"

    def read(self, texts: Sequence[str]) -> tuple[T_co, ...] | None:
        values = tuple(dict.fromkeys(value for text in texts if (value := self.kind.parse(text)) is not None))
        return values if values or list(texts) == [self.none] else None

    def spell(self, value: Any) -> list[str]:
        return [text for one in value for text in self.kind.spell(one)] or [self.none]
