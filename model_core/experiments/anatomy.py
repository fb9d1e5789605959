"""One attention head of one sentence with every number on the way from its input to its layer's next state.

Shapes: L layer, H head, Q query, K key, D d_model, d_k = D / H.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_core.model.attention import MultiHeadAttention, attention_weights
from model_core.model.layers import DecoderLayer, EncoderLayer, Residual
from model_core.model.masks import causal_mask
from model_core.model.transformer import Transformer
from model_core.search.decoding import check_model
from model_core.sites import SITES, Site
from model_core.tensors.linear import Linear
from model_core.trace.arrays import TraceError
from model_core.trace.trace import TranslationTrace

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class HeadAnatomy:
    """All numbers of one head (Vaswani et al. 2017, section 3.2); float32, `allowed` bool.

    `stream [Q, D]` is the residual stream that enters the sublayer; `norm_weight [D]`, `norm_bias [D]` and
    `norm_epsilon` are the numbers of the sublayer's LayerNorm; `queries [Q, D]` is what is projected to Q: the stream
    after the norm (pre-norm) or the stream itself (post-norm); `keys [K, D]` what is projected to K and V: the same
    array in self-attention, the encoder's memory in cross-attention. `w_* [D, d_k]` and `b_* [d_k]` are the head's
    columns of the layer's matrices. `heads [Q, D]` is the concatenation of all heads' outputs, `output [Q, D]` what
    the sublayer returns (`heads` W_O + b_O), `added [Q, D]` the stream plus that, and `result [Q, D]` what the next
    sublayer gets: `added` itself, or in post-norm its norm.
    """

    site: Site
    layer: int
    head: int
    pre_norm: bool
    stream: Array
    norm_weight: Array
    norm_bias: Array
    norm_epsilon: float
    queries: Array
    keys: Array
    w_query: Array
    w_key: Array
    w_value: Array
    b_query: Array
    b_key: Array
    b_value: Array
    query: Array
    key: Array
    value: Array
    products: Array
    scaled: Array
    allowed: NDArray[np.bool_]
    masked: Array
    weights: Array
    head_output: Array
    heads: Array
    w_output: Array
    b_output: Array
    output: Array
    added: Array
    result: Array

    @property
    def d_head(self) -> int:
        return self.query.shape[1]


@torch.inference_mode()
def dissect(model: Transformer, trace: TranslationTrace, site: Site, layer: int, head: int) -> HeadAnatomy:
    """Computes the head anew from the states that `trace` recorded, with the modules of the layer itself.

    Raises:
        TraceError: there is no such site, layer or head, or the trace is of a model of another shape.
        ValueError: the model is in training mode.
    """
    check_model(model)
    _check(model, trace, site, layer, head)
    stream, memory = _inputs(model, trace, site, layer)
    attention, residual = _sublayer(model, site, layer)
    asked = residual.norm(stream) if residual.pre else stream
    given = asked if memory is None else memory
    allowed = causal_mask(stream.shape[1], stream.device) if site == "decoder_self" else None
    query = attention.project_query(asked)
    key, value = attention.project_key_value(given)
    output = attention(asked, memory, allowed)
    weights = attention_weights(query, attention.shared(key), allowed, attention.scaled)
    shared = head * attention.key_value_heads // attention.heads
    numbers = _projections(attention, head, shared)
    numbers |= _scores(query[0, head], key[0, shared], value[0, shared], allowed, attention.scaled)
    added = stream + output if residual.on else output
    numbers |= {
        "stream": stream[0], "norm_weight": residual.norm.weight, "norm_bias": residual.norm.bias,
        "queries": asked[0], "keys": given[0], "heads": attention.merge(weights @ attention.shared(value))[0],
        "w_output": attention.output.weight, "b_output": attention.output.bias, "output": output[0],
        "added": added[0], "result": (added if residual.pre else residual.norm(added))[0],
    }  # fmt: skip
    may = np.ones((query.shape[2], key.shape[2]), dtype=np.bool_) if allowed is None else allowed.cpu().numpy()
    arrays = {name: _array(tensor) for name, tensor in numbers.items()}
    return HeadAnatomy(site, layer, head, pre_norm=residual.pre, norm_epsilon=residual.norm.eps, allowed=may, **arrays)


def _projections(attention: MultiHeadAttention, head: int, shared: int) -> dict[str, Tensor]:
    """The columns of the layer's three matrices and biases that are the head's own, or `shared` with others."""
    width = attention.query.weight.shape[1] // attention.heads
    parts: dict[str, Tensor] = {}
    for name, block in (("query", head), ("key", shared), ("value", shared)):
        columns = slice(block * width, (block + 1) * width)
        linear: Linear = getattr(attention, name)
        parts |= {f"w_{name}": linear.weight[:, columns], f"b_{name}": linear.bias[columns]}
    return parts


def _scores(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, by_root: bool) -> dict[str, Tensor]:
    """From `[Q, d_k]`, `[K, d_k]`, `[K, d_k]` to the head's output, as the formula writes it."""
    products = query @ key.T
    scaled = products / math.sqrt(query.shape[-1]) if by_root else products
    masked = scaled if allowed is None else scaled.masked_fill(~allowed, -math.inf)
    weights = masked.softmax(dim=-1)
    steps = {"products": products, "scaled": scaled, "masked": masked, "weights": weights}
    return {"query": query, "key": key, "value": value, **steps, "head_output": weights @ value}


def _check(model: Transformer, trace: TranslationTrace, site: Site, layer: int, head: int) -> None:
    if site not in SITES:
        raise TraceError(f"There is no site {site!r}; the sites are {', '.join(SITES)}.")
    config = model.config
    for noun, index, count in (("layer", layer, config.depth(site)), ("head", head, config.heads)):
        if not 0 <= index < count:
            raise TraceError(f"There is no {noun} {index} in this model: it has {noun}s 0 to {count - 1}.")
    for name in ("encoder_states", "decoder_states"):
        states = getattr(trace, name)
        depth = config.encoder_depth if name == "encoder_states" else config.decoder_depth
        if (states.shape[0], states.shape[2]) != (depth + 1, config.d_model):
            raise TraceError(
                f"The trace's {name} have {states.shape[0] - 1} layers and {states.shape[2]} dimensions, the model "
                f"{depth} and {config.d_model}: the trace was recorded with another model."
            )


def _inputs(model: Transformer, trace: TranslationTrace, site: Site, layer: int) -> tuple[Tensor, Tensor | None]:
    """The stream that enters the sublayer `[1, Q, D]`, and the memory `[1, K, D]` of cross-attention."""
    device = model.generator.bias.device

    def tensor(states: NDArray[np.float32]) -> Tensor:
        return torch.tensor(states, device=device)[None]

    if site == "encoder_self":
        return tensor(trace.encoder_states[layer]), None
    stream = tensor(trace.decoder_states[layer])
    if site == "decoder_self":
        return stream, None
    block = cast(DecoderLayer, model.decoder.layers[layer])
    causal = causal_mask(stream.shape[1], device)
    stream = _residual(block, 0)(stream, lambda x: block.self_attention(x, None, causal))
    return stream, tensor(trace.encoder_states[-1])


def _sublayer(model: Transformer, site: Site, layer: int) -> tuple[MultiHeadAttention, Residual]:
    if site == "encoder_self":
        encoder = cast(EncoderLayer, model.encoder.layers[layer])
        return encoder.self_attention, _residual(encoder, 0)
    decoder = cast(DecoderLayer, model.decoder.layers[layer])
    if site == "decoder_self":
        return decoder.self_attention, _residual(decoder, 0)
    return decoder.cross_attention, _residual(decoder, 1)


def _residual(block: EncoderLayer | DecoderLayer, index: int) -> Residual:
    return cast(Residual, block.residuals[index])


def _array(tensor: Tensor) -> Array:
    array = tensor.detach().float().cpu().numpy().copy()
    array.setflags(write=False)
    return array
