"""One example through a model in training: the same for a training that is watched and for one that ships.

Shapes: L layer, H head, T target step, S source position.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch

from model_core.checkpoint.checkpoint import Checkpoint
from model_core.model.transformer import Transformer
from model_core.text.pieces import Tokens
from model_core.text.tokenizer import Tokenizer
from model_core.trace.arrays import TraceError
from model_core.trace.maps import AttentionMaps
from model_core.trace.trace import TranslationTrace
from model_core.training.diagonal import Diagonal, diagonal
from model_core.translator import Translator

EXAMPLE = "b a d c a f e"  # one letter twice: its two columns have to be told apart by position


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A model after `step` steps, made to copy `EXAMPLE`.

    `cross` are its maps `[L, H, T, S]`, `predicted` what its rows have to write, `right` how many of these tokens it
    thought most probable (each after a right beginning), `log_probability` that of the right copy, per token. `loss` is
    the mean training loss per token, in nats, since the snapshot before; `exact` the share of held-out sequences that
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
    """From a trace of the example with the right copy as its target.

    Raises:
        TraceError: a step of the trace does not say which token was most probable.
    """
    for number, made in enumerate(trace.decoding, start=1):
        if not made.alternatives:
            raise TraceError(
                f"Step {number} of {len(trace.decoding)} has no alternatives, so that nothing says whether the copy is "
                "right: record the trace with at least one."
            )
    return Snapshot(
        step,
        trace.cross,
        trace.predicted_tokens,
        sum(made.alternatives[0].id == made.chosen_id for made in trace.decoding),
        trace.log_probability / len(trace.decoding),
        loss,
        exact,
    )


def example_trace(model: Transformer, tokenizer: Tokenizer, step: int) -> TranslationTrace:
    """The trace of `EXAMPLE`, with the right copy as its target, by a model that has made `step` steps.

    The model is left in the mode that it was in.
    """
    training = model.training
    checkpoint = Checkpoint("copy", f"copy@step-{step}", model.eval(), tokenizer, {}, {})
    trace = Translator(checkpoint).trace(EXAMPLE, target=EXAMPLE)
    model.train(training)
    return trace


def take_snapshot(
    model: Transformer, tokenizer: Tokenizer, step: int, loss: float | None = None, exact: float | None = None
) -> Snapshot:
    """Of a model as it is now; it is left in the mode that it was in."""
    return snapshot(example_trace(model, tokenizer, step), step, loss, exact)


def load_snapshot(path: Path, step: int, loss: float | None = None) -> Snapshot:
    """From a trace of the example that was kept in a file. Raises TraceError, which names the file."""
    trace = TranslationTrace.load(path)
    try:
        return snapshot(trace, step, loss)
    except TraceError as error:
        raise TraceError(f"{path} is no moment of a training: {error}") from error


def shipped_snapshots(folder: Path) -> tuple[Snapshot, ...]:
    """The moments that a training left in its checkpoint folder, in order, with the losses that its log has for them.

    Raises:
        TraceError: names the moment that is no whole trace of the example, the log that is no table, or the folder
            where there is no moment.
    """
    losses = _logged_losses(folder / "log.csv")
    snapshots = []
    for path in sorted(folder.glob("moment-*.safetensors")):
        number = path.stem.removeprefix("moment-")
        if number.isdecimal():
            snapshots.append(load_snapshot(path, int(number), losses.get(int(number))))
    if not snapshots:
        raise TraceError(f"There is no moment-*.safetensors in {folder.name}: train with --task copy to make them.")
    return tuple(snapshots)


def _logged_losses(path: Path) -> dict[int, float]:
    """Step -> mean loss since the row before; what the log does not say in finite numbers is left out.

    Raises:
        TraceError: the log can't be read, or is no table.
    """
    if not path.is_file():
        return {}
    losses: dict[int, float] = {}
    try:
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            for row in csv.DictReader(file):
                try:
                    step, loss = int(row["step"]), float(row["loss"])
                except (KeyError, TypeError, ValueError):
                    continue
                if math.isfinite(loss):
                    losses[step] = loss
    except (csv.Error, OSError) as error:
        raise TraceError(f"{path} can't be read as the log of a training ({error}): get the folder again.") from error
    return losses
