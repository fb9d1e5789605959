"""Frozen settings of a model, of its decoding and of its training.

Every setting is checked when the object is made, so that no other file needs to check it again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, TypeVar, get_args

from model_core.sites import Site

PAD_ID, BOS_ID, EOS_ID, UNK_ID = 0, 1, 2, 3

Norm = Literal["pre", "post"]
Sharing = Literal["none", "output", "all"]
Positions = Literal["sinusoidal", "learned", "rotary", "none"]
Activation = Literal["relu", "gelu", "swiglu"]
Initialisation = Literal["xavier", "normal", "default"]
Schedule = Literal["inverse-sqrt", "cosine", "constant"]
Strategy = Literal["greedy", "beam", "sample"]


MODEL_CHOICES = {
    "norm": get_args(Norm),
    "sharing": get_args(Sharing),
    "positions": get_args(Positions),
    "activation": get_args(Activation),
    "initialisation": get_args(Initialisation),
}


class ConfigError(ValueError):
    """A setting that no model, decoding or training can have."""


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ConfigError(message)


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
            _require(0.0 <= value < 1.0, f"{name} must be at least 0 and below 1, not {value}.")
        for name, choices in MODEL_CHOICES.items():
            value = getattr(self, name)
            quoted = [f'"{choice}"' for choice in choices]
            _require(value in choices, f"{name} must be {', '.join(quoted[:-1])} or {quoted[-1]}, not {value!r}.")
        _require(
            self.sharing != "all" or self.source_vocabulary == self.target_vocabulary,
            f"sharing all embeddings needs one joint vocabulary, but the source has {self.source_vocabulary} entries "
            f"and the target {self.target_vocabulary}.",
        )
        _require(
            1.0 < self.position_base < math.inf,
            f"position_base must be a finite number above 1, not {self.position_base}.",
        )

    def _check_sizes(self) -> None:
        sizes = ("source_vocabulary", "target_vocabulary", "layers", "d_model", "d_ff", "heads", "max_positions")
        optional = [n for n in ("encoder_layers", "decoder_layers", "key_value_heads") if getattr(self, n) is not None]
        for name in (*sizes, *optional):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            _require(whole and value > 0, f"{name} must be a positive whole number, not {value!r}.")
        _require(
            self.d_model % self.heads == 0,
            f"d_model {self.d_model} does not split evenly over {self.heads} heads: choose a multiple of {self.heads}.",
        )
        _require(self.d_model % 2 == 0, f"d_model must be even (sine and cosine come in pairs), not {self.d_model}.")
        shared = self.key_value_heads or self.heads
        _require(
            self.heads % shared == 0,
            f"{self.heads} heads can't share {shared} key/value heads evenly: choose a divisor of {self.heads}.",
        )
        _require(
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


@dataclass(frozen=True, init=False)
class DecodingConfig:
    """How a translation is searched for.

    `length_penalty` is the alpha of ((5 + length) / 6)^alpha (Wu et al. 2016, section 7): 0 compares sums of
    log-probabilities, larger values favour longer translations. `temperature`, `top_k`, `top_p` and `seed` belong to
    "sample". `alternatives` is how many of each step's most probable tokens are kept. `max_length` counts the pieces of
    the translation with </s>; None means twice the source's pieces plus 10.

    Without a `strategy`, the settings that are given choose it: a `beam_width` above 1 means "beam", one of those that
    belong to sampling "sample", none of them "greedy". What is not given, or None, has the default written here.
    """

    strategy: Strategy = "greedy"
    beam_width: int = 5
    length_penalty: float = 0.6
    n_best: int = 1
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    alternatives: int = 5
    max_length: int | None = None

    def __init__(
        self,
        strategy: Strategy | None = None,
        beam_width: int | None = None,
        length_penalty: float | None = None,
        n_best: int | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int | None = None,
        alternatives: int | None = None,
        max_length: int | None = None,
    ) -> None:
        sampling = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
        given = sampling | {
            "strategy": derived_strategy(beam_width, sampling) if strategy is None else strategy,
            "beam_width": beam_width,
            "length_penalty": length_penalty,
            "n_best": n_best,
            "alternatives": alternatives,
            "max_length": max_length,
        }
        for field in fields(self):
            value = given[field.name]
            object.__setattr__(self, field.name, field.default if value is None else value)
        self._check()

    def _check(self) -> None:
        _require(
            self.strategy in ("greedy", "beam", "sample"),
            f'strategy must be "greedy", "beam" or "sample", not {self.strategy!r}.',
        )
        _require(1 <= self.beam_width <= 64, f"beam_width must be 1 to 64, not {self.beam_width}.")
        _require(self.length_penalty >= 0.0, f"length_penalty must be 0 or more, not {self.length_penalty}.")
        _require(
            self.n_best >= 1 and (self.strategy != "beam" or self.n_best <= self.beam_width),
            f"n_best must be 1 to the beam width ({self.beam_width}), not {self.n_best}.",
        )
        _require(self.temperature > 0.0, f"temperature must be above 0, not {self.temperature}.")
        _require(self.top_k >= 0, f"top_k must be 0 (off) or more, not {self.top_k}.")
        _require(0.0 < self.top_p <= 1.0, f"top_p must be above 0 and at most 1, not {self.top_p}.")
        _require(self.alternatives >= 0, f"alternatives must be 0 or more, not {self.alternatives}.")
        _require(
            self.max_length is None or self.max_length >= 1, f"max_length must be 1 or more, not {self.max_length}."
        )


def derived_strategy(beam_width: int | None, sampling: Mapping[str, float | None]) -> Strategy:
    """The strategy that is meant by the settings that are given, those that are not being None.

    Raises:
        ConfigError: some belong to beam search and others to sampling.
    """
    given = [name for name, value in sampling.items() if value is not None]
    _require(
        not given or beam_width in (None, 1),
        f"A beam width of {beam_width} asks for beam search, but {' and '.join(given)} for sampling: give one of them.",
    )
    return "sample" if given else "greedy" if beam_width in (None, 1) else "beam"


@dataclass(frozen=True)
class TrainingConfig:
    """How a model is trained. Lengths of time are counted in optimizer steps.

    `schedule` shapes the learning rate after `warmup_steps`; the last `cooldown_steps` bring whatever it is down to
    zero in a straight line (Hägele et al. 2024), so that a run may be lengthened at any moment before them.
    `average_decay` is that of the running average of the weights, which is what is validated and kept; 0 keeps the last
    weights. `join_share` and `vary_share` are those of `training/augment.py`. `patience` counts validations without a
    better validation loss before the run ends early; 0 never ends it early.
    """

    steps: int = 20000
    tokens_per_batch: int = 4000
    learning_rate: float = 1e-3
    warmup_steps: int = 800
    schedule: Schedule = "inverse-sqrt"
    cooldown_steps: int = 0
    weight_decay: float = 0.01
    label_smoothing: float = 0.1
    gradient_clip: float = 1.0
    precision: Literal["bf16", "fp32"] = "bf16"
    seed: int = 1
    validate_every: int = 500
    validation_sentences: int = 500
    save_every: int = 500
    patience: int = 0
    average_decay: float = 0.998
    join_share: float = 0.15
    vary_share: float = 0.1
    homograph_repeats: int = 4

    def __post_init__(self) -> None:
        for name in ("steps", "tokens_per_batch", "validate_every", "save_every"):
            _require(getattr(self, name) >= 1, f"{name} must be 1 or more, not {getattr(self, name)}.")
        for name in ("warmup_steps", "cooldown_steps", "patience", "homograph_repeats", "validation_sentences"):
            _require(getattr(self, name) >= 0, f"{name} must be 0 or more, not {getattr(self, name)}.")
        for name in ("learning_rate", "gradient_clip"):
            value = getattr(self, name)
            _require(0.0 < value < math.inf, f"{name} must be a finite number above 0, not {value}.")
        _require(
            0.0 <= self.weight_decay < math.inf,
            f"weight_decay must be a finite number of 0 or more, not {self.weight_decay}.",
        )
        _require(
            self.schedule in ("inverse-sqrt", "cosine", "constant"),
            f'schedule must be "inverse-sqrt", "cosine" or "constant", not {self.schedule!r}.',
        )
        _require(
            self.warmup_steps + self.cooldown_steps <= self.steps,
            f"{self.warmup_steps} warm-up and {self.cooldown_steps} cool-down steps do not fit in {self.steps} "
            "steps: lower --warmup-steps and --cooldown-steps, or raise --steps.",
        )
        _require(0.0 <= self.label_smoothing < 1.0, f"label_smoothing must be in [0, 1), not {self.label_smoothing}.")
        for name in ("join_share", "vary_share", "average_decay"):
            _require(0.0 <= getattr(self, name) <= 1.0, f"{name} must be 0 to 1, not {getattr(self, name)}.")
        _require(self.precision in ("bf16", "fp32"), f'precision must be "bf16" or "fp32", not {self.precision!r}.')


Config = TypeVar("Config", ModelConfig, DecodingConfig, TrainingConfig)


def to_json(config: ModelConfig | DecodingConfig | TrainingConfig) -> dict[str, Any]:
    """The settings as a plain dictionary."""
    return asdict(config)


def from_json(kind: type[Config], data: dict[str, Any]) -> Config:
    """Settings from a dictionary.

    Raises:
        ConfigError: names the settings that `kind` does not have, or the value that it cannot take.
    """
    if isinstance(data.get("positions"), bool):  # so older checkpoints say whether there are sinusoids
        data = data | {"positions": "sinusoidal" if data["positions"] else "none"}
    known = {field.name for field in fields(kind)}
    unknown = sorted(set(data) - known)
    _require(not unknown, f"{kind.__name__} has no setting named {', '.join(unknown)}.")
    try:
        return kind(**data)
    except TypeError as error:
        raise ConfigError(f"{kind.__name__} was given a value of the wrong kind: {error}.") from error
