"""A translated sentence again, with its positions or the order of its words changed: what does the model make of it?

Shapes: L layer, H head, S source token, T target token, D d_model, P position.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_core.checkpoint.checkpoint import Checkpoint
from model_core.config import DecodingConfig
from model_core.experiments.cosines import cosines
from model_core.model.positions import PositionalEncoding, sinusoidal_encoding
from model_core.model.transformer import Transformer
from model_core.search.decoding import check_model, decode
from model_core.search.forced_pass import ForcedPass
from model_core.text.pieces import Tokens
from model_core.text.words import word_places
from model_core.trace.trace import TranslationTrace

__all__ = [
    "PLACINGS", "Floats", "Placing", "PositionChange", "PositionOutcome", "cosines", "encoding_table", "input_norms",
    "moved_attention", "run_experiment", "shuffled_order", "with_positions", "word_groups", "words_in_order",
]  # fmt: skip

Floats = NDArray[np.float32]
Placing = Literal["kept", "off", "shifted"]
PLACINGS: tuple[Placing, ...] = get_args(Placing)


def encoding_table(length: int, d_model: int, base: float) -> Floats:
    """The sinusoidal encoding as an array `[P, D]`; see `sinusoidal_encoding`, also for what it raises."""
    return sinusoidal_encoding(length, d_model, base).numpy()


@dataclass(frozen=True)
class PositionChange:
    """A change of the positions ("kept", "off": no encoding is added, "shifted" by `shift`), the words' order, or
    both. `shuffle` is the seed of the new order, None leaves the words where they are. `decoder` True changes the
    decoder's positions as well as the encoder's.

    Raises:
        ValueError: there is no such placing, or positions are to be shifted to before the first.
    """

    placing: Placing = "kept"
    shift: int = 0
    shuffle: int | None = None
    decoder: bool = False

    def __post_init__(self) -> None:
        if self.placing not in PLACINGS:
            raise ValueError(f"Positions can be {', '.join(PLACINGS)}, not {self.placing!r}.")
        if self.shift < 0:
            raise ValueError(f"Positions count from 0, so they can be shifted by 0 or more, not by {self.shift}.")


@dataclass(frozen=True, eq=False)
class PositionOutcome:
    """The changed sentence as the model took it.

    `order[i]` is where the token that is now read at place i stood before. `attention [L, H, S, S]` (encoder
    self-attention) and `states [L + 1, S, D]` (the embedded input, then each encoder layer's output) are in the order
    that was read. `log_probability` is that of the newly found `text`; `original [T]` are the log-probabilities of the
    original translation's tokens under the change. `finished` is False where the search met its length limit.
    """

    order: tuple[int, ...]
    source_text: str
    attention: Floats
    states: Floats
    text: str
    log_probability: float
    finished: bool
    original: Floats

    @property
    def back(self) -> NDArray[np.intp]:
        """Where each token of the original order is read now: indexing with it puts things back."""
        return np.argsort(self.order)

    def attention_put_back(self) -> Floats:
        """`attention` with rows and columns in the original order of the tokens."""
        return self.attention[:, :, self.back][:, :, :, self.back]

    def states_put_back(self) -> Floats:
        """`states` in the original order of the tokens."""
        return self.states[:, self.back]


class MovedPositions(PositionalEncoding):
    """Stands in for `original` and adds its rows `shift` places on; None adds nothing. Both keep its dropout."""

    def __init__(self, original: PositionalEncoding, shift: int | None) -> None:
        super().__init__(original.table.shape[1], base=original.base, stored=0)
        self.dropout, self.table, self.shift = original.dropout, original.table, shift

    def forward(self, embedded: Tensor, start: int = 0) -> Tensor:
        """As in PositionalEncoding."""
        return self.dropout(embedded) if self.shift is None else super().forward(embedded, start + self.shift)


def with_positions(model: Transformer, change: PositionChange) -> Transformer:
    """A Transformer that has every weight in common with `model`, which stays as it is, but places tokens otherwise."""
    if change.placing == "kept":
        return model
    twin = copy.copy(model)
    twin._modules = dict(model._modules)  # names of its own for the same modules
    twin.positions = MovedPositions(model.positions, None if change.placing == "off" else change.shift)
    return twin


def word_groups(tokens: Tokens) -> list[list[int]]:
    """The places of the pieces of each word and mark, without the first and the last token (<s> and </s>)."""
    return [[place + 1 for place in places] for places in word_places(tokens[1:-1])]


def shuffled_order(tokens: Tokens, seed: int) -> tuple[int, ...]:
    """A random order of the words: which old place is read at each new one. Pieces stay with their word and in its
    order; the first and last token stay. With two words or more it is never the order that was there.

    Raises:
        ValueError: the seed is negative.
    """
    if seed < 0:
        raise ValueError(f"A seed is 0 or more, not {seed}.")
    groups = word_groups(tokens)
    drawn = np.random.default_rng(seed).permutation(len(groups))
    if len(groups) > 1 and bool((drawn == np.arange(len(groups))).all()):
        drawn = np.roll(drawn, 1)
    inner = [place for group in drawn for place in groups[group]]
    return (0, *inner, len(tokens) - 1)


@torch.inference_mode()
def run_experiment(
    checkpoint: Checkpoint, trace: TranslationTrace, change: PositionChange, decoding: DecodingConfig
) -> PositionOutcome:
    """Encodes the trace's sentence under the change, searches for a translation anew, and scores the original one.

    Raises:
        ValueError: the model is in training mode.
    """
    model, tokens = checkpoint.model, trace.source_tokens
    check_model(model)
    order = tuple(range(len(tokens))) if change.shuffle is None else shuffled_order(tokens, change.shuffle)
    source = [tokens[place].id for place in order]
    reader, writer = with_positions(model, change), with_positions(model, change) if change.decoder else model
    read = ForcedPass(reader, source, keep=True)
    best = decode(writer, [source], decoding, memory=read.memory)[0][0]
    written = ForcedPass(writer, source, keep=False, memory=read.memory)
    return PositionOutcome(
        order=order,
        source_text=checkpoint.tokenizer.decode(source),
        attention=read.record.weights("encoder_self")[:, 0].cpu().numpy(),
        states=read.encoder_states.cpu().numpy(),
        text=checkpoint.target_tokenizer.decode(best.ids),
        log_probability=best.log_probability,
        finished=best.finished,
        original=_scores(written, [token.id for token in trace.predicted_tokens]),
    )


def _scores(written: ForcedPass, target: list[int]) -> Floats:
    """Log-probability of each id of `target`: `[T]`."""
    rows = written.log_probabilities(target)
    return rows.gather(1, torch.tensor(target, device=rows.device)[:, None])[:, 0].cpu().numpy()


@torch.inference_mode()
def input_norms(checkpoint: Checkpoint, tokens: Tokens) -> tuple[Floats, Floats, Floats]:
    """Euclidean norms of what the encoder's input is made of, each `[S]`: the embedding table's row, the row times
    sqrt(d_model), and the encoding of the token's position, which is always sqrt(d_model / 2)."""
    model = checkpoint.model
    ids = torch.tensor([token.id for token in tokens], device=model.generator.bias.device)
    scaled = model.source_embedding(ids).norm(dim=-1)
    positions = model.positions.rows(len(tokens)).norm(dim=-1)
    return (scaled / model.source_embedding.scale).cpu().numpy(), scaled.cpu().numpy(), positions.cpu().numpy()


def moved_attention(before: Floats, after: Floats) -> Floats:
    """How much of each row's attention went elsewhere, 0 (none) to 1 (all of it): the total variation distance
    sum |after - before| / 2 of two maps `[..., Q, K]` whose rows sum to 1 -> `[..., Q]`."""
    return (np.abs(after.astype(np.float64) - before).sum(axis=-1) / 2).astype(np.float32)


def words_in_order(original: list[str], changed: list[str]) -> list[bool]:
    """For each word of `changed` whether it is one of `original`'s in the same order, as `difflib` matches them: the
    longest run of words that both have, then likewise to its left and to its right."""
    blocks = SequenceMatcher(None, original, changed, autojunk=False).get_matching_blocks()
    kept = {block.b + offset for block in blocks for offset in range(block.size)}
    return [place in kept for place in range(len(changed))]
