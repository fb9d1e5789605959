"""The shape of a model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from model_core.config.checks import require_setting
from model_core.sites import Site

Norm = Literal["pre", "post"]
Sharing = Literal["none", "output", "all"]
Positions = Literal["sinusoidal", "learned", "rotary", "none"]
Activation = Literal["relu", "gelu", "swiglu"]
Initialisation = Literal["xavier", "normal", "default"]
MODEL_CHOICES = {
    "norm": get_args(Norm),
    "sharing": get_args(Sharing),
    "positions": get_args(Positions),
    "activation": get_args(Activation),
    "initialisation": get_args(Initialisation),
}


@dataclass(frozen=True)
class ModelConfig:
    """The shape of one encoder-decoder Transformer (Vaswani et al. 2017, table 3, names N, d_model, d_ff, h).

    `layers` is the depth of both stacks, `encoder_layers` and `decoder_layers` that of one where it differs.
    `norm`: "pre" is x + drop(f(norm(x))), "post" is norm(x + drop(f(x))); `final_norm` puts a norm behind each stack
    (None: in the pre-norm arrangement only).
    `sharing`: "all" ties the source, target and output embeddings, "output" the last two, "none" nothing.
    `dropout` acts on the embeddings and on each sublayer's output, `attention_dropout` on the attention weights,
    `feed_forward_dropout` on the feed-forward's hidden units.
    `positions`: "sinusoidal", "learned" (of `max_positions`), "rotary" (queries and keys of self-attention are turned)
    or "none"; `position_base` is that of the sinusoids and the rotation.
    `key_value_heads`: fewer than `heads` let several query heads share keys and values (None: as many).
    `scaled` and `residuals` False leave out 1 / sqrt(d_head) and the residual connections: ablations for teaching.
    """

    source_vocabulary: int = 8000
    target_vocabulary: int = 8000
    layers: int = 6
    d_model: int = 256
    d_ff: int = 1024
    heads: int = 8
    dropout: float = 0.1
    attention_dropout: float = 0.0
    norm: Norm = "pre"
    sharing: Sharing = "all"
    position_base: float = 10000.0
    positions: Positions = "sinusoidal"
    encoder_layers: int | None = None
    decoder_layers: int | None = None
    key_value_heads: int | None = None
    activation: Activation = "relu"
    feed_forward_dropout: float = 0.0
    final_norm: bool | None = None
    max_positions: int = 512
    initialisation: Initialisation = "xavier"
    scaled: bool = True
    residuals: bool = True

    @classmethod
    def of_paper(
        cls,
        source: int,
        target: int,
        layers: int = 6,
        d_model: int = 512,
        d_ff: int = 2048,
        heads: int = 8,
        dropout: float = 0.1,
    ) -> ModelConfig:
        """The base model of the paper for two vocabularies: post-norm without a final norm, nothing shared."""
        return cls(source, target, layers, d_model, d_ff, heads, dropout, norm="post", sharing="none")

    def __post_init__(self) -> None:
        self._check_sizes()
        for name in ("dropout", "attention_dropout", "feed_forward_dropout"):
            value = getattr(self, name)
            require_setting(0.0 <= value < 1.0, f"{name} must be at least 0 and below 1, not {value}.")
        for name, choices in MODEL_CHOICES.items():
            value = getattr(self, name)
            quoted = [f'"{choice}"' for choice in choices]
            require_setting(
                value in choices, f"{name} must be {', '.join(quoted[:-1])} or {quoted[-1]}, not {value!r}."
            )
        require_setting(
            self.sharing != "all" or self.source_vocabulary == self.target_vocabulary,
            f"sharing all embeddings needs one joint vocabulary, but the source has {self.source_vocabulary} entries "
            f"and the target {self.target_vocabulary}.",
        )
        require_setting(
            1.0 < self.position_base < math.inf,
            f"position_base must be a finite number above 1, not {self.position_base}.",
        )

    def _check_sizes(self) -> None:
        sizes = ("source_vocabulary", "target_vocabulary", "layers", "d_model", "d_ff", "heads", "max_positions")
        optional = [n for n in ("encoder_layers", "decoder_layers", "key_value_heads") if getattr(self, n) is not None]
        for name in (*sizes, *optional):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            require_setting(whole and value > 0, f"{name} must be a positive whole number, not {value!r}.")
        require_setting(
            self.d_model % self.heads == 0,
            f"d_model {self.d_model} does not split evenly over {self.heads} heads: choose a multiple of {self.heads}.",
        )
        require_setting(
            self.d_model % 2 == 0, f"d_model must be even (sine and cosine come in pairs), not {self.d_model}."
        )
        shared = self.key_value_heads or self.heads
        require_setting(
            self.heads % shared == 0,
            f"{self.heads} heads can't share {shared} key/value heads evenly: choose a divisor of {self.heads}.",
        )
        require_setting(
            self.positions != "rotary" or self.d_head % 2 == 0,
            f"Rotary positions turn pairs of numbers, so d_model / heads must be even; it is {self.d_head}.",
        )

    @property
    def encoder_depth(self) -> int:
        """How many layers the encoder has."""
        return self.encoder_layers or self.layers

    @property
    def decoder_depth(self) -> int:
        """How many layers the decoder has."""
        return self.decoder_layers or self.layers

    def depth(self, site: Site) -> int:
        """How many layers attend at a site."""
        return self.encoder_depth if site == "encoder_self" else self.decoder_depth

    @property
    def has_final_norm(self) -> bool:
        """Whether a norm stands behind each stack."""
        return self.norm == "pre" if self.final_norm is None else self.final_norm

    @property
    def d_head(self) -> int:
        """Width of one head: d_model / heads (the paper's d_k = d_v)."""
        return self.d_model // self.heads
