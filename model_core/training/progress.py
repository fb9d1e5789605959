"""The reports of a run: a line on the terminal and a CSV log."""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

COLUMNS: tuple[str, ...] = (
    "step",
    "epoch",
    "learning_rate",
    "loss",
    "tokens_per_second",
    "seconds",
    "validation_loss",
    "token_accuracy",
    "bleu",
    "chrf",
)


class Window:
    """The losses since the last row of the log."""

    def __init__(self, loss_sum: float = 0.0, tokens: int = 0) -> None:
        """Begins empty, or with what a run that was stopped had in its window; the time counts from now."""
        self.loss_sum, self.tokens, self._timed_from = loss_sum, tokens, tokens
        self._started = time.monotonic()

    def add(self, loss: float, tokens: int) -> None:
        """A step's loss per token, over its target tokens."""
        self.loss_sum += loss * tokens
        self.tokens += tokens

    def leave_out(self, seconds: float) -> None:
        """Time in which nothing was trained."""
        self._started += seconds

    @property
    def loss(self) -> float:
        return self.loss_sum / max(self.tokens, 1)

    @property
    def tokens_per_second(self) -> float:
        return (self.tokens - self._timed_from) / max(time.monotonic() - self._started, 1e-9)


class TrainingLog:
    """A CSV file with one row per log interval or validation; pandas reads it as it is."""

    def __init__(self, path: Path, step: int) -> None:
        """Continues a log: rows after `step` are dropped, because the run repeats them, and half-written ones too."""
        self.path = path
        rows = [row for row in self._rows() if int(row["step"]) <= step] if step > 0 else []
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)

    def _rows(self) -> list[dict[str, str]]:
        if not self.path.exists():
            return []
        with self.path.open(newline="", encoding="utf-8", errors="replace") as file:
            rows = [dict(row) for row in csv.DictReader(file, restval="half-written")]
        return [
            row
            for row in rows
            if row.keys() == set(COLUMNS) and "half-written" not in row.values() and row["step"].isdecimal()
        ]

    def add(self, **values: object) -> None:
        """Appends one row; columns that are not given stay empty."""
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, COLUMNS).writerow(values)


class ProgressLine:
    """One line on the terminal that is written over; on anything else, a plain line every `quiet_seconds`."""

    def __init__(self, steps: int, quiet_seconds: float = 60.0) -> None:
        self.steps = steps
        self.quiet_seconds = quiet_seconds
        self._last = 0.0

    def show(self, step: int, loss: float, tokens_per_second: float, seconds_left: float) -> None:
        """Draws the bar after step `step` of `steps`."""
        terminal = sys.stderr.isatty()
        now = time.monotonic()
        if not terminal and now - self._last < self.quiet_seconds and step < self.steps:
            return
        self._last = now
        filled = round(24 * step / max(self.steps, 1))
        hours, seconds = divmod(int(seconds_left), 3600)
        text = (
            f"[{'#' * filled}{'.' * (24 - filled)}] {step}/{self.steps}  loss {loss:.3f}  "
            f"{tokens_per_second:,.0f} tokens/s  {hours}:{seconds // 60:02d}:{seconds % 60:02d} left"
        )
        print(f"\r\033[K{text}" if terminal else text, end="" if terminal else "\n", file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """A line that stays."""
        print(f"\r\033[K{text}" if sys.stderr.isatty() else text, file=sys.stderr, flush=True)
