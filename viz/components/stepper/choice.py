"""Which step is shown: the component's report, and a step kept to those there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viz.components.handshake import Agreement, Report, is_whole, read_report, settle


def read_step(state: Any) -> Report[int] | None:
    """From the component's state; None where it holds no step, or none that a component would report."""
    return read_report(state, "at", _step_of)


def _step_of(written: Mapping[str, Any]) -> int | None:
    step = written.get("step")
    return step if is_whole(step) else None


def settle_step(before: Agreement[int] | None, wish: int, report: Report[int] | None, count: int) -> Agreement[int]:
    """Who wins (see `settle`), kept to the `count` steps there are."""
    return settle(before, wish, report, lambda step: min(max(step, 0), count - 1))
