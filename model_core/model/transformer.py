"""The encoder-decoder Transformer of "Attention Is All You Need" (Vaswani et al. 2017).

Shapes: B batch, S source, T target, D d_model, V target vocabulary.
A source is `<s> pieces </s>`, a decoder input `<s> pieces`, a decoder output `pieces </s>`.
Masks are boolean, True = may attend.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model_core.config import PAD_ID, ModelConfig
from model_core.model.layers import DecoderLayer, EncoderLayer
from model_core.model.masks import Mask, decoder_mask, over_heads, padding_mask
from model_core.model.points import PLAIN, Call
from model_core.model.positions import make_positions


class TokenEmbedding(nn.Module):
    """Rows of a table, times sqrt(D) (section 3.4): ids `[B, T]` -> `[B, T, D]`."""

    def __init__(self, vocabulary: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, d_model))
        self.scale = math.sqrt(d_model)

    def forward(self, ids: Tensor) -> Tensor:
        return F.embedding(ids, self.weight) * self.scale


class Encoder(nn.Module):
    """A stack of encoder layers and, where the config says so, a final norm: `[B, S, D]` -> `[B, S, D]`."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config, index) for index in range(config.encoder_depth))
        self.norm = nn.LayerNorm(config.d_model) if config.has_final_norm else nn.Identity()

    def forward(self, states: Tensor, mask: Mask = None, call: Call = PLAIN) -> Tensor:
        for layer in self.layers:
            states = layer(states, mask, call)
        return call.point("encoder", "final_norm", self.norm(states))


class Decoder(nn.Module):
    """A stack of decoder layers and, where the config says so, a final norm: `[B, T, D]` -> `[B, T, D]`."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config, index) for index in range(config.decoder_depth))
        self.norm = nn.LayerNorm(config.d_model) if config.has_final_norm else nn.Identity()

    def forward(self, states: Tensor, memory: Tensor, mask: Mask, memory_mask: Mask, call: Call = PLAIN) -> Tensor:
        """With a cache in the call, `states` are the newest positions only."""
        for layer in self.layers:
            states = layer(states, memory, mask, memory_mask, call)
        return call.point("decoder", "final_norm", self.norm(states))


class Generator(nn.Module):
    """States to scores over the target vocabulary: xE^T + b, then log-softmax. E may be the embedding table (3.4)."""

    def __init__(self, d_model: int, vocabulary: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, d_model))
        self.bias = nn.Parameter(torch.empty(vocabulary))

    def logits(self, states: Tensor, call: Call = PLAIN) -> Tensor:
        """`[..., D]` -> `[..., V]`, before the softmax."""
        return call.point("decoder", "logits", F.linear(states, self.weight, self.bias))

    def forward(self, states: Tensor, call: Call = PLAIN) -> Tensor:
        """`[..., D]` -> log-probabilities `[..., V]`, in float32."""
        return self.logits(states, call).float().log_softmax(dim=-1)


class Transformer(nn.Module):
    """Encoder, decoder and generator. Its numbers are not set yet: `model_core.building.make_model` does that."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.source_embedding = TokenEmbedding(config.source_vocabulary, config.d_model)
        self.target_embedding = TokenEmbedding(config.target_vocabulary, config.d_model)
        self.positions = make_positions(config)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.generator = Generator(config.d_model, config.target_vocabulary)
        if config.sharing != "none":
            self.generator.weight = self.target_embedding.weight
        if config.sharing == "all":
            self.source_embedding.weight = self.target_embedding.weight

    def embed(self, embedding: TokenEmbedding, ids: Tensor, start: int = 0) -> Tensor:
        """Ids `[B, T]` whose first column stands at position `start` -> `[B, T, D]`."""
        embedded = embedding(ids)
        if torch.is_autocast_enabled(ids.device.type):  # so that no sublayer has to convert the residual stream
            embedded = embedded.to(torch.get_autocast_dtype(ids.device.type))
        return self.positions(embedded, start)

    def encode(self, source: Tensor, source_mask: Mask = None, call: Call = PLAIN) -> Tensor:
        """Source ids `[B, S]` -> memory `[B, S, D]`. `source_mask` None means that nothing is padding."""
        states = call.point("encoder", "embedding", self.embed(self.source_embedding, source))
        return self.encoder(states, source_mask, call)

    def decode(
        self, target: Tensor, memory: Tensor, source_mask: Mask = None, target_mask: Mask = None, call: Call = PLAIN
    ) -> Tensor:
        """Decoder input ids `[B, T]` over memory `[B, S, D]` -> states `[B, T, D]`.

        With a cache in the call, `target` holds only the ids that the cache has not seen, and `target_mask`, if given,
        has one row for each of them and one column for every position so far.
        """
        states = call.point("decoder", "embedding", self.embed(self.target_embedding, target, call.start))
        return self.decoder(states, memory, target_mask, source_mask, call)

    def states(
        self, src: Tensor, tgt: Tensor, src_mask: Mask = None, tgt_mask: Mask = None, call: Call = PLAIN
    ) -> Tensor:
        """One teacher-forced pass over a padded batch: `[B, S]`, `[B, T]` -> decoder states `[B, T, D]`.

        A mask that is not given lets padding be ignored and, in the target, nobody look ahead. One of three axes
        `[B, 1 or T, S]` holds for all heads.
        """
        source_mask = padding_mask(src, PAD_ID) if src_mask is None else over_heads(src_mask)
        target_mask = decoder_mask(tgt, PAD_ID) if tgt_mask is None else over_heads(tgt_mask)
        return self.decode(tgt, self.encode(src, source_mask, call), source_mask, target_mask, call)

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Mask = None, tgt_mask: Mask = None, call: Call = PLAIN
    ) -> Tensor:
        """Log-probabilities of the token that follows each position, `[B, T, V]`; arguments as in `states`."""
        return self.generator(self.states(src, tgt, src_mask, tgt_mask, call), call)

    def parameter_count(self) -> int:
        """How many numbers are learned; shared tables count once."""
        return sum(parameter.numel() for parameter in self.parameters())
