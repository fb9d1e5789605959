"""Sizes of shapes: counted by hand, by the built model, and spelled both ways."""

from __future__ import annotations

import pytest

from model_core.building import make_model
from model_core.config import ConfigError, ModelConfig, to_json
from model_core.experiments.sizes import PRESETS, shape_of, size_of, spelled


def test_the_size_of_a_small_model_by_hand() -> None:
    """V 13 and 17, D 12, F 11: the paper's arrangement, nothing shared."""
    size = size_of(ModelConfig.of_paper(13, 17, 2, 12, 11, 3))
    attention, feed_forward, norm = 4 * (12 * 12 + 12), 12 * 11 + 11 + 11 * 12 + 12, 24
    encoder, decoder = attention + feed_forward + 2 * norm, 2 * attention + feed_forward + 3 * norm
    assert size.parameters == size.unshared == 13 * 12 + 17 * 12 + 17 * 12 + 17 + 2 * (encoder + decoder)


@pytest.mark.parametrize(
    ("preset", "parameters", "unshared"),
    [
        ("The tutorials' model (32,000 + 32,000)", 93_322_496, 93_322_496),
        ("The paper's base model (37,000 shared pieces)", 63_119_496, 101_007_496),
        ("en-fr of this project", 13_116_224, 17_212_224),
    ],
)
def test_the_presets(preset: str, parameters: int, unshared: int) -> None:
    size = size_of(PRESETS[preset])
    assert (size.parameters, size.unshared) == (parameters, unshared)


@pytest.mark.parametrize(
    "settings",
    [
        {}, {"sharing": "none"}, {"norm": "post", "final_norm": True}, {"encoder_layers": 1, "decoder_layers": 3},
        {"key_value_heads": 1}, {"activation": "swiglu"}, {"positions": "learned", "max_positions": 9},
    ],
)  # fmt: skip
def test_the_size_is_that_of_the_built_model(settings: dict[str, object]) -> None:
    config = ModelConfig(13, 13, 2, 12, 11, 3, **settings)  # type: ignore[arg-type]
    assert size_of(config).parameters == make_model(config, seed=1).parameter_count()


def test_a_shape_in_the_words_of_the_tutorials() -> None:
    shape = shape_of("src=32000, tgt=31000, N=6, d_model=512, d_ff=2048, h=8")
    assert shape == ModelConfig.of_paper(32_000, 31_000)
    assert shape_of("src=100") == ModelConfig.of_paper(100, 100)
    own = shape_of("source_vocabulary=8000,layers=6,d_model=256,d_ff=1024,heads=8,norm=pre,sharing=all,scaled=false")
    assert own == ModelConfig(scaled=False)


@pytest.mark.parametrize("config", [*PRESETS.values(), ModelConfig(encoder_layers=2, residuals=False, dropout=0.3)])
def test_a_spelled_shape_is_that_shape(config: ModelConfig) -> None:
    assert shape_of(spelled(to_json(config))) == config


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("src=8000,hh=8", "'hh=8' is no setting of a shape: write NAME=VALUE with one of src, tgt, N"),
        ("src", "'src' is no setting of a shape"),
        ("N=six", "layers is a number, not 'six'"),
        ("residuals=perhaps", "residuals is true or false, not 'perhaps'"),
        ("d_model=512,h=7", "d_model 512 does not split evenly over 7 heads"),
        ("N=0", "layers must be a positive whole number, not 0"),
    ],
)
def test_a_shape_that_there_is_not_is_named(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        shape_of(text)


def test_a_model_too_large_for_any_machine_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="too large to be drawn"):
        size_of(shape_of("N=100000"))
    with pytest.raises(ConfigError, match="too large to be drawn"):
        size_of(shape_of("d_model=1000000000,h=1"))
