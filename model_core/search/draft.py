"""A quick guess at a translation: the decoder with 8-bit weights, for the exact model to confirm token by token.

For a single row a matrix product takes as long as its weights take to arrive from memory, and int8 weights are a
quarter of float32 ones. What the draft is wrong about costs time, never correctness (see `drafted_search.py`).

Shapes: H head, S source, T target so far, V target vocabulary, D d_model, d_head = D / H; one row, one sentence.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from model_core.config import BOS_ID, EOS_ID
from model_core.model.layers import DecoderLayer, Residual
from model_core.model.transformer import Transformer
from model_core.search.engine import can_lift, check_cancelled
from model_core.search.lifted import RowFunction, normalise
from model_core.search.own_modules import is_as_written
from model_core.tensors.linear import Linear
from model_core.text.ids import NEVER_WRITTEN

Memory = Sequence[tuple[Tensor, Tensor]]
"""For each decoder layer the keys and values of the source, each `[1, H, S, d_head]`."""

LARGEST = 127
CANDIDATES = 4  # ids that the 8-bit generator finds and the exact one compares
ROW_MULTIPLE = 32  # the kernel reads rows of weights in blocks of up to this many numbers, past their end if need be


def can_draft(model: Transformer) -> bool:
    """Whether the fast 8-bit product exists here: x86 with AVX2 or better, a float32 model on the CPU whose widths fit.

    Elsewhere PyTorch would multiply number by number, slower than in float32. Every module that the draft stands in for
    has to be one of this project's own.
    """
    bias, config = model.generator.bias, model.config
    fits = config.d_model % ROW_MULTIPLE == 0 and config.d_ff % ROW_MULTIPLE == 0
    fast = torch.backends.cpu.get_cpu_capability().startswith("AVX") and hasattr(torch, "_weight_int8pack_mm")
    own = can_lift(model) and is_as_written(model, model.target_embedding, model.positions, model.generator)
    return own and fits and fast and bias.device.type == "cpu" and bias.dtype == torch.float32


@dataclass(frozen=True)
class PackedLinear:
    """xW + b, W in 8 bits with a scale per output: `weight` int8 `[d_out, d_in]`, `scale` bfloat16 `[d_out]`.

    x is bfloat16, and the result has the type of `bias`.
    """

    weight: Tensor
    scale: Tensor
    bias: Tensor

    @classmethod
    def of(cls, weight: Tensor, bias: Tensor) -> PackedLinear:
        """`weight [d_in, d_out]`, `bias [d_out]`, both float32."""
        scale = (weight.abs().amax(dim=0) / LARGEST).clamp_min(torch.finfo(torch.float32).tiny).bfloat16()
        rounded = (weight / scale.float()).round().clamp(-LARGEST, LARGEST)
        return cls(rounded.to(torch.int8).T.contiguous(), scale, bias.clone())

    def __call__(self, rows: Tensor) -> Tensor:
        """`[1, d_in]` -> `[1, d_out]`."""
        # torch.ops.aten has the same function, but takes several microseconds to find it.
        product = torch._weight_int8pack_mm(rows, self.weight, self.scale)  # pyright: ignore
        return product + self.bias


def pack_linears(*linears: Linear, dtype: torch.dtype = torch.float32) -> PackedLinear:
    """Several maps of the same input as one, their outputs side by side: one product costs less than three."""
    weight, bias = torch.cat([one.weight for one in linears], 1), torch.cat([one.bias for one in linears])
    return PackedLinear.of(weight, bias.to(dtype))


class DraftLayer:
    """One decoder layer for one new position: `[1, D]` -> `[1, D]`."""

    def __init__(self, layer: DecoderLayer) -> None:
        own, cross, feed_forward = layer.self_attention, layer.cross_attention, layer.feed_forward
        self.heads = own.heads
        self.projection, self.output = pack_linears(own.query, own.key, own.value), pack_linears(own.output)
        self.cross_query, self.cross_output = pack_linears(cross.query), pack_linears(cross.output)
        self.inner, self.outer = (
            pack_linears(feed_forward.inner, dtype=torch.bfloat16),
            pack_linears(feed_forward.outer),
        )
        residuals = [residual for residual in layer.residuals if isinstance(residual, Residual)]
        self.pre = residuals[0].pre
        self.norm_self, self.norm_cross, self.norm_feed_forward = (normalise(one.norm) for one in residuals)

    def __call__(self, rows: Tensor, past: Tensor | None, memory: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """`past [2, 1, H, T, d_head]` are the keys and values so far -> the new rows, and the past with theirs."""
        x = self.norm_self(rows) if self.pre else rows
        projected = self.projection(x.bfloat16()).view(3, 1, self.heads, 1, -1)
        past = projected[1:] if past is None else torch.cat((past, projected[1:]), dim=3)
        key, value = past.unbind()
        heads = F.scaled_dot_product_attention(projected[0], key, value)
        rows = self._add(rows, self.output(heads.view(1, -1).bfloat16()), self.norm_self)
        x = self.norm_cross(rows) if self.pre else rows
        query = self.cross_query(x.bfloat16()).view(1, self.heads, 1, -1)
        heads = F.scaled_dot_product_attention(query, *memory)
        rows = self._add(rows, self.cross_output(heads.view(1, -1).bfloat16()), self.norm_cross)
        x = self.norm_feed_forward(rows) if self.pre else rows
        return self._add(rows, self.outer(self.inner(x.bfloat16()).relu_()), self.norm_feed_forward), past

    def _add(self, rows: Tensor, update: Tensor, norm: RowFunction) -> Tensor:
        return rows + update if self.pre else norm(rows + update)


class Draft:
    """The decoder and the generator with 8-bit weights, as the model's are when it is made. Threads may share one."""

    def __init__(self, model: Transformer) -> None:
        with torch.inference_mode():
            self.model = model
            self.table = model.target_embedding.weight
            self.layers = [DraftLayer(layer) for layer in model.decoder.layers if isinstance(layer, DecoderLayer)]
            bias = model.generator.bias.clone()
            bias[list(NEVER_WRITTEN)] = -math.inf
            self.generator = PackedLinear.of(model.generator.weight.T, bias)

    def next_id(self, newest: int, pasts: list[Tensor | None], memory: Memory) -> int:
        """The id that most likely follows. `pasts` has one entry per layer (see `DraftLayer`) and is extended."""
        length = 0 if pasts[0] is None else pasts[0].shape[3]
        rows = self.table[newest : newest + 1] * self.model.target_embedding.scale
        rows = rows + self.model.positions.rows(1, length)
        for index, layer in enumerate(self.layers):
            rows, pasts[index] = layer(rows, pasts[index], memory[index])
        states = self.model.decoder.norm(rows)
        # Scores come out in bfloat16: too coarse to tell the best ids from each other, and four times as often wrong.
        best = self.generator(states.bfloat16()).topk(min(CANDIDATES, len(self.generator.bias))).indices[0]
        scores = torch.mv(self.model.generator.weight[best], states[0]) + self.generator.bias[best]
        return int(best[scores.argmax()])


class LazyDraft:
    """A model's draft: made when it is first asked for, and again once the model's weights have changed."""

    def __init__(self, model: Transformer) -> None:
        self.model = model
        # A tensor that was made in inference mode has no count of its changes.
        self._parameters = [one for one in model.parameters() if not one.is_inference()]
        self._lock = threading.Lock()
        self._made: tuple[list[tuple[int, int]], Draft] | None = None

    def get(self) -> Draft:
        """The draft of the weights as they are."""
        with self._lock:
            versions = [(one.data_ptr(), one._version) for one in self._parameters]  # PyTorch counts changes in place
            if self._made is None or self._made[0] != versions:
                self._made = versions, Draft(self.model)
            return self._made[1]


class Drafting:
    """One sentence's draft as it grows, is corrected and grows again."""

    def __init__(self, draft: Draft, memory: Memory, cancelled: threading.Event | None = None) -> None:
        self.draft, self.memory, self.cancelled = draft, memory, cancelled
        self.pasts: list[Tensor | None] = [None] * len(draft.layers)

    def extend(self, written: Sequence[int], limit: int) -> list[int]:
        """`written` and what the draft would write after it, to </s> or to `limit` ids.

        Before `written`'s last id stands what an earlier call returned: its keys and values are used again.

        Raises:
            Cancelled: `cancelled` was set.
        """
        self.pasts = [past if past is None else past[..., : len(written), :] for past in self.pasts]
        ids = [BOS_ID, *written]
        while len(ids) <= limit and ids[-1] != EOS_ID:
            check_cancelled(self.cancelled)
            ids.append(self.draft.next_id(ids[-1], self.pasts, self.memory))
        return ids[1:]
