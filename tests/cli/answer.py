"""What a command answers."""

from __future__ import annotations

from typing import Protocol


class Answer:
    """Exit code and output of one command."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def one_sentence(self, *parts: str) -> None:
        """Nothing on standard output, one line that ends with a full stop on the other, exit code 2."""
        assert (self.code, self.out) == (2, ""), self.out + self.err
        assert self.err.count("\n") == 1 and self.err.endswith(".\n"), self.err
        assert all(part in self.err for part in parts), self.err


class Ask(Protocol):
    """Runs a command: arguments, and the bytes on standard input."""

    def __call__(self, *arguments: object, given: bytes = b"") -> Answer: ...
