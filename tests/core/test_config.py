"""Settings: every one is checked when it is made, and goes to JSON and back."""

import json
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from model_core.config import ConfigError, DecodingConfig, ModelConfig, TrainingConfig, from_json, to_json

Config = ModelConfig | DecodingConfig | TrainingConfig


def test_the_default_model_is_the_one_that_ships() -> None:
    config = ModelConfig()
    assert (config.layers, config.d_model, config.heads, config.d_ff) == (6, 256, 8, 1024)
    assert config.d_head == 32


@pytest.mark.parametrize(
    ("config", "change", "message"),
    [
        (ModelConfig(), {"layers": 0}, "layers must be a positive whole number, not 0"),
        (ModelConfig(), {"d_ff": 2.5}, "d_ff must be a positive whole number, not 2.5"),
        (ModelConfig(), {"d_model": 250}, "d_model 250 does not split evenly over 8 heads"),
        (ModelConfig(), {"d_model": 9, "heads": 3}, "d_model must be even"),
        (ModelConfig(), {"dropout": 1.0}, "dropout must be at least 0 and below 1, not 1.0"),
        (ModelConfig(), {"attention_dropout": -0.1}, "attention_dropout must be"),
        (ModelConfig(), {"norm": "layer"}, 'norm must be "pre" or "post"'),
        (ModelConfig(), {"sharing": "some"}, "sharing must be"),
        (ModelConfig(), {"source_vocabulary": 7000}, "the source has 7000 entries and the target 8000"),
        (ModelConfig(), {"position_base": 1.0}, "position_base must be a finite number above 1"),
        (DecodingConfig(), {"strategy": "best"}, 'strategy must be "greedy", "beam" or "sample"'),
        (DecodingConfig(), {"beam_width": 65}, "beam_width must be 1 to 64, not 65"),
        (DecodingConfig(), {"length_penalty": -1.0}, "length_penalty must be 0 or more"),
        (DecodingConfig(), {"length_penalty": float("nan")}, "length_penalty must be 0 or more, not nan"),
        (DecodingConfig("beam"), {"n_best": 6}, r"n_best must be 1 to the beam width \(5\), not 6"),
        (DecodingConfig(), {"n_best": 0}, "n_best must be 1"),
        (DecodingConfig(), {"temperature": 0.0}, "temperature must be above 0"),
        (DecodingConfig(), {"top_k": -1}, "top_k must be 0"),
        (DecodingConfig(), {"top_p": 0.0}, "top_p must be above 0 and at most 1"),
        (DecodingConfig(), {"top_p": 1.1}, "top_p must be above 0 and at most 1"),
        (DecodingConfig(), {"alternatives": -1}, "alternatives must be 0 or more"),
        (DecodingConfig(), {"max_length": 0}, "max_length must be 1 or more"),
        (TrainingConfig(), {"steps": 0}, "steps must be 1 or more"),
        (TrainingConfig(), {"warmup_steps": -1}, "warmup_steps must be 0 or more"),
        (TrainingConfig(), {"learning_rate": 0.0}, "learning_rate must be a finite number above 0"),
        (TrainingConfig(), {"gradient_clip": -1.0}, "gradient_clip must be a finite number above 0"),
        (TrainingConfig(), {"weight_decay": float("nan")}, "weight_decay must be a finite number of 0 or more"),
        (TrainingConfig(), {"learning_rate": float("inf")}, "learning_rate must be a finite number above 0"),
        (TrainingConfig(), {"schedule": "linear"}, "schedule must be"),
        (
            TrainingConfig(),
            {"steps": 1000, "warmup_steps": 600, "cooldown_steps": 500},
            "600 warm-up and 500 cool-down",
        ),
        (TrainingConfig(), {"label_smoothing": 1.0}, r"label_smoothing must be in \[0, 1\)"),
        (TrainingConfig(), {"join_share": 1.5}, "join_share must be 0 to 1"),
        (TrainingConfig(), {"precision": "fp16"}, 'precision must be "bf16" or "fp32"'),
    ],
)
def test_impossible_settings_are_refused_in_a_sentence(config: Config, change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(config, **change)  # type: ignore[arg-type]


def test_an_n_best_above_the_beam_width_is_fine_for_sampling() -> None:
    assert DecodingConfig("sample", n_best=70).n_best == 70


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(FrozenInstanceError):
        ModelConfig().layers = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    "config",
    [
        ModelConfig(11, 13, 3, 12, 7, 2, 0.2, 0.3, "post", "none", 100.0, "none"),
        DecodingConfig("sample", 3, 0.5, 2, 0.7, 5, 0.9, 7, 3, 11),
        TrainingConfig(steps=700, warmup_steps=5, schedule="cosine", precision="fp32"),
    ],
)
def test_settings_go_to_json_and_back(config: Config) -> None:
    assert from_json(type(config), json.loads(json.dumps(to_json(config)))) == config  # type: ignore[arg-type]


def test_unknown_settings_are_named() -> None:
    with pytest.raises(ConfigError, match="ModelConfig has no setting named depth, width"):
        from_json(ModelConfig, {"width": 3, "layers": 2, "depth": 5})


def test_a_value_of_the_wrong_kind_is_reported() -> None:
    with pytest.raises(ConfigError, match="DecodingConfig was given a value of the wrong kind"):
        from_json(DecodingConfig, {"beam_width": "wide"})
    with pytest.raises(ConfigError, match="layers must be a positive whole number"):
        from_json(ModelConfig, {"layers": "six"})


@pytest.mark.parametrize(
    ("given", "strategy"),
    [
        ({}, "greedy"),
        ({"beam_width": 5}, "beam"),
        ({"beam_width": 1}, "greedy"),
        ({"n_best": 3, "beam_width": 3}, "beam"),
        ({"temperature": 0.8}, "sample"),
        ({"temperature": 1.0}, "sample"),
        ({"top_k": 7}, "sample"),
        ({"top_p": 0.9}, "sample"),
        ({"seed": 0}, "sample"),
        ({"length_penalty": 0.5, "max_length": 7, "alternatives": 0}, "greedy"),
        ({"strategy": "greedy", "beam_width": 5, "temperature": 0.8}, "greedy"),  # as JSON of any strategy says
        ({"strategy": "sample", "beam_width": 3}, "sample"),
    ],
)
def test_the_strategy_follows_from_what_is_given(given: dict[str, Any], strategy: str) -> None:
    config = DecodingConfig(**given)
    assert config == DecodingConfig(**{**given, "strategy": strategy})
    assert config.strategy == strategy and from_json(DecodingConfig, to_json(config)) == config


def test_a_beam_and_a_temperature_are_refused_together() -> None:
    with pytest.raises(ConfigError, match=r"width of 5 asks for beam search, but temperature and seed for sampling"):
        DecodingConfig(beam_width=5, temperature=0.8, seed=3)


def test_the_defaults_of_a_decoding_are_those_that_its_class_states() -> None:
    config = DecodingConfig()
    assert (config.beam_width, config.temperature, config.max_length) == (5, 1.0, None)
    assert DecodingConfig("beam").beam_width == 5 and replace(config, strategy="beam") == DecodingConfig("beam")
