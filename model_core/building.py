"""New models: their shape, in this project's words or the tutorials', and the numbers that they begin with."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from model_core.config import ModelConfig
from model_core.model.transformer import Transformer
from model_core.tensors.linear import Linear

NORMAL_SPREAD = 0.02  # standard deviation of "normal" (Radford et al. 2019, GPT-2)


@torch.no_grad()
def initialise(module: nn.Module, config: ModelConfig | None = None, generator: torch.Generator | None = None) -> None:
    """Sets every matrix, table and bias of a module, in the order in which its parts were made.

    `config.initialisation`: "xavier" draws matrices and tables uniformly by fan-in and fan-out (Glorot & Bengio 2010),
    biases are 0; "normal" draws them from N(0, 0.02^2), biases are 0; "default" is PyTorch's own: uniform within
    1 / sqrt(fan-in) for matrices and their biases, N(0, 1) for tables. Norms keep their 1 and 0.
    """
    config = ModelConfig() if config is None else config
    for name, part in module.named_modules():
        weight, bias = getattr(part, "weight", None), getattr(part, "bias", None)
        if isinstance(part, nn.LayerNorm) or not isinstance(weight, Tensor):
            continue
        tied = name == "generator" and config.sharing != "none"
        if not tied:  # a shared table is drawn as the target's embedding
            _draw(weight, isinstance(part, Linear), config.initialisation, generator)
        if isinstance(bias, Tensor):
            bound = 1.0 / math.sqrt(weight.shape[0])
            default = config.initialisation == "default" and isinstance(part, Linear)
            bias.uniform_(-bound, bound, generator=generator) if default else bias.zero_()


def _draw(weight: Tensor, matrix: bool, initialisation: str, generator: torch.Generator | None) -> None:
    if initialisation == "xavier":
        nn.init.xavier_uniform_(weight, generator=generator)
    elif initialisation == "normal":
        nn.init.normal_(weight, std=NORMAL_SPREAD, generator=generator)
    elif matrix:
        bound = 1.0 / math.sqrt(weight.shape[0])  # [d_in, d_out]
        nn.init.uniform_(weight, -bound, bound, generator=generator)
    else:
        nn.init.normal_(weight, generator=generator)


def make_model(
    config: ModelConfig | int | None = None,
    tgt_vocab: int | None = None,
    N: int = 6,
    d_model: int = 512,
    d_ff: int = 2048,
    h: int = 8,
    dropout: float = 0.1,
    *,
    src_vocab: int | None = None,
    seed: int | None = None,
) -> Transformer:
    """A freshly initialised Transformer, of a config or in the form of the tutorials.

    `make_model(config)` builds that shape. `make_model(src_vocab, tgt_vocab, N=6, ...)` builds the model of the paper
    (table 3, base): post-norm, ReLU, sinusoids, nothing shared. `seed` makes the initial weights repeatable: they come
    from a generator of their own, so that no other thread's random numbers change them or are changed.

    Raises:
        ConfigError: no model has these sizes.
    """
    source = config if isinstance(config, int) else src_vocab
    if source is not None:
        config = ModelConfig.of_paper(source, source if tgt_vocab is None else tgt_vocab, N, d_model, d_ff, h, dropout)
    shape = config if isinstance(config, ModelConfig) else ModelConfig()
    model = Transformer(shape)
    initialise(model, shape, None if seed is None else torch.Generator().manual_seed(seed))
    return model
