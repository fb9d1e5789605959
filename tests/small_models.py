"""Small random models and slow, plain references that the tests compare with. Shapes: V vocabulary."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from model_core.building import initialise, make_model
from model_core.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID, ModelConfig, Norm, Positions
from model_core.model.transformer import Transformer

NEVER_WRITTEN = {PAD_ID, BOS_ID, UNK_ID}


def small_model(
    seed: int = 0,
    *,
    norm: Norm = "pre",
    vocabulary: int = 11,
    layers: int = 2,
    positions: Positions = "sinusoidal",
    end: float = 1.0,
    spread: float = 2.0,
) -> Transformer:
    """A random model in eval mode: d_model 12, 3 heads, d_ff 7.

    Biases and norms are random too, so that none is missed by a comparison; `spread` makes its choices decisive and
    `end` makes </s> more likely.
    """
    config = ModelConfig(vocabulary, vocabulary, layers, 12, 7, 3, norm=norm, positions=positions)
    model = make_model(config, seed=seed).eval()
    randomise(model, seed, spread)
    with torch.no_grad():
        model.generator.bias[EOS_ID] += end
    return model


def draftable_model(seed: int = 0, *, norm: Norm = "pre", vocabulary: int = 11, spread: float = 1.5) -> Transformer:
    """A random model in eval mode whose widths the 8-bit product takes: d_model 32, 4 heads, d_ff 96."""
    model = make_model(ModelConfig(vocabulary, vocabulary, 2, 32, 96, 4, norm=norm), seed=seed).eval()
    randomise(model, seed, spread)
    with torch.no_grad():
        model.generator.bias[EOS_ID] += 1.0
    return model


def randomise(module: torch.nn.Module, seed: int, spread: float = 1.0) -> None:
    """Random numbers for every vector (biases and norms), and for matrices what `initialise` draws, times `spread`.

    A model that was made with the same seed keeps its matrices but for `spread`.
    """
    initialise(module, getattr(module, "config", None), torch.Generator().manual_seed(seed))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.dim() > 1:
                parameter *= spread
            else:
                centre = 1.0 if "norm" in name and name.endswith("weight") else 0.0
                parameter.copy_(centre + 0.3 * torch.randn(parameter.shape, generator=generator))


def random_source(pieces: int, seed: int = 0, vocabulary: int = 11) -> list[int]:
    """`<s> pieces </s>`."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(UNK_ID + 1, vocabulary, (pieces,), generator=generator).tolist()
    return [BOS_ID, *ids, EOS_ID]


def next_log_probabilities(model: Transformer, source: Sequence[int], written: Sequence[int]) -> Tensor:
    """`[V]`, from one whole pass: no cache, no batch, no padding."""
    with torch.no_grad():
        return model(torch.tensor([source]), torch.tensor([[BOS_ID, *written]]))[0, -1]


def greedy_reference(model: Transformer, source: Sequence[int], limit: int) -> list[int]:
    """Greedy search from its definition, one whole pass a step."""
    written: list[int] = []
    while len(written) < limit and written[-1:] != [EOS_ID]:
        row = next_log_probabilities(model, source, written)
        allowed = [id_ for id_ in range(len(row)) if id_ not in NEVER_WRITTEN]
        written.append(max(allowed, key=lambda id_: float(row[id_])))
    return written


def log_probability_of(model: Transformer, source: Sequence[int], ids: Sequence[int]) -> float:
    """log P(ids | source), one whole pass an id."""
    return sum(float(next_log_probabilities(model, source, ids[:step])[id_]) for step, id_ in enumerate(ids))


def all_translations(vocabulary: int, limit: int) -> Iterator[tuple[int, ...]]:
    """Every translation of at most `limit` ids that ends with </s>."""
    pieces = [id_ for id_ in range(vocabulary) if id_ not in NEVER_WRITTEN | {EOS_ID}]
    for length in range(limit):
        for written in itertools.product(pieces, repeat=length):
            yield (*written, EOS_ID)


def row_of(*probabilities: float) -> Tensor:
    """Log-probabilities `[1, V]` of ids 4, 5, ...; the special ones get almost nothing."""
    return torch.tensor([[1e-9] * 4 + list(probabilities)]).log()
