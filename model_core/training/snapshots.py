"""What a model in training makes of one example: the same for a training that is watched and for one that ships.

Shapes: L layer, H head, T target step, S source position.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch

from model_core.checkpoint import Checkpoint
from model_core.tokenizer import Tokenizer
from model_core.trace import AttentionMaps, Tokens, TraceError, TranslationTrace
from model_core.training.diagonal import Diagonal, diagonal
from model_core.training.moments import EXAMPLE
from model_core.transformer import Transformer
from model_core.translator import Translator


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A model after `step` steps, made to copy `EXAMPLE`.

    `cross` are its maps `[L, H, T, S]`, `predicted` what its rows have to write, `right` how many of these tokens it
    thought most probable (each after a right beginning), `log_probability` that of the right copy, a token. `loss` is
    the mean training loss a token, in nats, since the snapshot before; `exact` the share of held-out sequences that
    greedy decoding copies without a mistake. Both are None where they were not measured.
    """

    step: int
    cross: AttentionMaps
    predicted: Tokens
    right: int
    log_probability: float
    loss: float | None = None
    exact: float | None = None

    def diagonal(self, layer: int | None = None, head: int | None = None) -> Diagonal:
        """Of one map, which follows the letters as `training/diagonal.py` says; the last layer's mean by default."""
        layer = self.cross.layers - 1 if layer is None else layer
        return diagonal(torch.tensor(self.cross.map(layer, head)))

    @cached_property
    def best_diagonal(self) -> float:
        """The share of rows on the diagonal, as the mean over heads, in the layer that has most of it."""
        return max(self.diagonal(layer).largest for layer in range(self.cross.layers))


def snapshot(trace: TranslationTrace, step: int, loss: float | None = None, exact: float | None = None) -> Snapshot:
    """From a trace of the example with the right copy as its target."""
    return Snapshot(
        step,
        trace.cross,
        trace.predicted_tokens,
        sum(made.alternatives[0].id == made.chosen_id for made in trace.decoding),
        trace.log_probability / len(trace.decoding),
        loss,
        exact,
    )


def take_snapshot(
    model: Transformer, tokenizer: Tokenizer, step: int, loss: float | None = None, exact: float | None = None
) -> Snapshot:
    """Of a model as it is now; it is left in evaluation mode."""
    checkpoint = Checkpoint("copy", f"copy@step-{step}", model.eval(), tokenizer, {}, {})
    return snapshot(Translator(checkpoint).trace(EXAMPLE, target=EXAMPLE), step, loss, exact)


def shipped_snapshots(folder: Path) -> tuple[Snapshot, ...]:
    """The moments that a training left in its checkpoint folder, in order, with the losses that its log has for them.

    Raises:
        TraceError: names the file that is no whole trace, or the folder where there is none.
    """
    losses = _logged_losses(folder / "log.csv")
    found = []
    for path in sorted(folder.glob("moment-*.safetensors")):
        number = path.stem.removeprefix("moment-")
        if number.isdecimal():
            found.append(snapshot(TranslationTrace.load(path), int(number), losses.get(int(number))))
    if not found:
        raise TraceError(f"There is no moment-*.safetensors in {folder.name}: train with --task copy to make them.")
    return tuple(found)


def _logged_losses(path: Path) -> dict[int, float]:
    """Step -> mean loss since the row before; what the log does not say in numbers is left out."""
    if not path.is_file():
        return {}
    losses: dict[int, float] = {}
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        for row in csv.DictReader(file):
            try:
                losses[int(row["step"])] = float(row["loss"])
            except (KeyError, TypeError, ValueError):
                continue
    return losses
