"""The encoder-decoder Transformer of "Attention Is All You Need" (Vaswani et al. 2017).

Shapes: B batch, S source, T target, D d_model, V target vocabulary.
A source is `<s> pieces </s>`, a decoder input `<s> pieces`, a decoder output `pieces </s>`.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model_core.config import PAD_ID, ModelConfig
from model_core.model.cache import KeyValueCache
from model_core.model.hooks import AttentionHook
from model_core.model.layers import DecoderLayer, EncoderLayer
from model_core.model.masks import decoder_mask, padding_mask
from model_core.model.positions import PositionalEncoding


class TokenEmbedding(nn.Module):
    """Rows of a table, times sqrt(D) (section 3.4): ids `[B, T]` -> `[B, T, D]`."""

    def __init__(self, vocabulary: int, d_model: int, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, d_model))
        self.scale = math.sqrt(d_model)
        nn.init.xavier_uniform_(self.weight, generator=generator)

    def forward(self, ids: Tensor) -> Tensor:
        return F.embedding(ids, self.weight) * self.scale


class Encoder(nn.Module):
    """A stack of encoder layers, and in the pre-norm arrangement a final norm: `[B, S, D]` -> `[B, S, D]`."""

    def __init__(self, config: ModelConfig, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config, generator) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()

    def forward(
        self,
        states: Tensor,
        allowed: Tensor | None,
        hook: AttentionHook | None = None,
        record: list[Tensor] | None = None,
    ) -> Tensor:
        """`record` receives layers + 1 tensors: the input, then each layer's output, the last after the final norm."""
        inputs = []
        for index, layer in enumerate(self.layers):
            inputs.append(states)
            states = layer(states, allowed, index, hook)
        states = self.norm(states)
        if record is not None:
            record.extend([*inputs, states])
        return states


class Decoder(nn.Module):
    """A stack of decoder layers, and in the pre-norm arrangement a final norm: `[B, T, D]` -> `[B, T, D]`."""

    def __init__(self, config: ModelConfig, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config, generator) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()

    def forward(
        self,
        states: Tensor,
        memory: Tensor,
        allowed: Tensor | None,
        memory_allowed: Tensor | None,
        hook: AttentionHook | None = None,
        cache: KeyValueCache | None = None,
        record: list[Tensor] | None = None,
    ) -> Tensor:
        """`record` as in `Encoder.forward`; with a `cache`, `states` are the newest positions only."""
        inputs = []
        for index, layer in enumerate(self.layers):
            inputs.append(states)
            stored = None if cache is None else cache.layers[index]
            states = layer(states, memory, allowed, memory_allowed, index, hook, stored)
        states = self.norm(states)
        if record is not None:
            record.extend([*inputs, states])
        return states


class Generator(nn.Module):
    """States to scores over the target vocabulary: xE^T + b, then log-softmax. E may be the embedding table (3.4)."""

    def __init__(self, d_model: int, vocabulary: int, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, d_model))
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        nn.init.xavier_uniform_(self.weight, generator=generator)

    def logits(self, states: Tensor) -> Tensor:
        """`[..., D]` -> `[..., V]`, before the softmax."""
        return F.linear(states, self.weight, self.bias)

    def forward(self, states: Tensor) -> Tensor:
        """`[..., D]` -> log-probabilities `[..., V]`, in float32."""
        return self.logits(states).float().log_softmax(dim=-1)


class Transformer(nn.Module):
    """Encoder, decoder and generator. Build one with `make_model`.

    The initial weights are drawn from `generator`, here and in all parts; None is PyTorch's global one.
    """

    def __init__(self, config: ModelConfig, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.config = config
        self.source_embedding = TokenEmbedding(config.source_vocabulary, config.d_model, generator)
        self.target_embedding = TokenEmbedding(config.target_vocabulary, config.d_model, generator)
        self.positions = PositionalEncoding(config.d_model, config.dropout, config.position_base)
        self.encoder = Encoder(config, generator)
        self.decoder = Decoder(config, generator)
        self.generator = Generator(config.d_model, config.target_vocabulary, generator)
        if config.sharing != "none":
            self.generator.weight = self.target_embedding.weight
        if config.sharing == "all":
            self.source_embedding.weight = self.target_embedding.weight

    def embed(self, embedding: TokenEmbedding, ids: Tensor, start: int = 0) -> Tensor:
        """Ids `[B, T]` whose first column stands at position `start` -> `[B, T, D]`."""
        embedded = embedding(ids)
        if torch.is_autocast_enabled(ids.device.type):  # so that no sublayer has to convert the residual stream
            embedded = embedded.to(torch.get_autocast_dtype(ids.device.type))
        return self.positions(embedded, start) if self.config.positions else self.positions.dropout(embedded)

    def encode(
        self,
        source: Tensor,
        source_allowed: Tensor | None = None,
        hook: AttentionHook | None = None,
        record: list[Tensor] | None = None,
    ) -> Tensor:
        """Source ids `[B, S]` -> memory `[B, S, D]`. `source_allowed` None means that nothing is padding."""
        return self.encoder(self.embed(self.source_embedding, source), source_allowed, hook, record)

    def decode(
        self,
        target: Tensor,
        memory: Tensor,
        source_allowed: Tensor | None = None,
        target_allowed: Tensor | None = None,
        hook: AttentionHook | None = None,
        cache: KeyValueCache | None = None,
        record: list[Tensor] | None = None,
    ) -> Tensor:
        """Decoder input ids `[B, T]` over memory `[B, S, D]` -> states `[B, T, D]`.

        With a `cache`, `target` holds only the ids that the cache has not seen, and `target_allowed`, if given, has one
        row for each of them and one column for every position so far.
        """
        start = 0 if cache is None else cache.length
        states = self.embed(self.target_embedding, target, start)
        return self.decoder(states, memory, target_allowed, source_allowed, hook, cache, record)

    def states(self, source: Tensor, decoder_input: Tensor, hook: AttentionHook | None = None) -> Tensor:
        """One teacher-forced pass over a padded batch: `[B, S]`, `[B, T]` -> decoder states `[B, T, D]`."""
        source_allowed = padding_mask(source, PAD_ID)
        memory = self.encode(source, source_allowed, hook)
        return self.decode(decoder_input, memory, source_allowed, decoder_mask(decoder_input, PAD_ID), hook)

    def forward(self, source: Tensor, decoder_input: Tensor, hook: AttentionHook | None = None) -> Tensor:
        """Log-probabilities of the token that follows each position: `[B, S]`, `[B, T]` -> `[B, T, V]`."""
        return self.generator(self.states(source, decoder_input, hook))

    def parameter_count(self) -> int:
        """How many numbers are learned; shared tables count once."""
        return sum(parameter.numel() for parameter in self.parameters())


def make_model(config: ModelConfig | None = None, seed: int | None = None) -> Transformer:
    """A freshly initialised Transformer: Xavier-uniform matrices (Glorot & Bengio 2010), zero biases.

    `seed` makes the initial weights repeatable: they come from a generator of their own, so that no other thread's
    random numbers, which the global one serves, change them or are changed.
    """
    config = ModelConfig() if config is None else config
    return Transformer(config, None if seed is None else torch.Generator().manual_seed(seed))
