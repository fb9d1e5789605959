"""Whether modules compute what this project's own classes say, so that a faster engine may stand in for them."""

from __future__ import annotations

from torch import nn
from torch.nn.modules import module as torch_module

from model_core.model.attention import MultiHeadAttention
from model_core.model.layers import DecoderLayer, FeedForward, Residual
from model_core.model.positions import LearnedPositions, NoPositions, PositionalEncoding
from model_core.model.transformer import Decoder, Generator, TokenEmbedding, Transformer
from model_core.tensors.dropout import Dropout
from model_core.tensors.linear import Linear

_OWN: tuple[type[nn.Module], ...] = (
    Decoder, DecoderLayer, Dropout, FeedForward, Generator, LearnedPositions, Linear, MultiHeadAttention, NoPositions,
    PositionalEncoding, Residual, TokenEmbedding, Transformer,
    nn.Identity, nn.LayerNorm, nn.ModuleList, nn.ReLU,
)  # fmt: skip
_FORWARDS: dict[type[nn.Module], object] = {kind: kind.forward for kind in _OWN}
"""Each class's own computation, as it was when this file was read."""
_METHODS: dict[type[nn.Module], dict[str, object]] = {
    kind: {name: value for name, value in vars(kind).items() if callable(value) and not name.startswith("__")}
    for kind in (MultiHeadAttention, Transformer)
}
"""Methods that the modules call on themselves."""
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_GLOBAL_HOOKS = ("_global_forward_hooks", "_global_forward_pre_hooks", "_global_backward_hooks")


def is_as_written(model: Transformer, *parts: nn.Module) -> bool:
    """True where the model, and every module in `parts`, is exactly of a class of this project, or of the plain ones of
    PyTorch that it is built of, with that class's own methods and no forward hook.

    A subclass, a swapped activation, a parametrised or wrapped matrix, a method set on an object or replaced on its
    class, a hook on a module or on all modules: each makes it False.
    """
    if any(getattr(torch_module, name, None) for name in _GLOBAL_HOOKS):
        return False
    own = [model, *(module for part in parts for module in part.modules())]
    return all(_is_own(module) for module in own)


def _is_own(module: nn.Module) -> bool:
    kind, own = type(module), vars(module)
    if _FORWARDS.get(kind) is not kind.forward or "forward" in own or any(own[name] for name in _HOOKS):
        return False
    methods = _METHODS.get(kind, {})
    return all(vars(kind).get(name) is method and name not in own for name, method in methods.items())
