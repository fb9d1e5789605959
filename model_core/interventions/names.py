"""The names of all points of a model (`model/points.py` explains them), and the refusal of those that it lacks."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache

from model_core.config import ModelConfig
from model_core.sites import Site

AROUND = ("residual_before", "output", "residual_after")
ATTENTION = ("queries", "keys", "values", "scores", "mask", "weights", "heads")
SUBLAYERS: dict[str, dict[str, tuple[str, ...]]] = {
    "encoder": {"self_attention": (*ATTENTION, *AROUND), "feed_forward": ("hidden", *AROUND)},
    "decoder": {
        "self_attention": (*ATTENTION, *AROUND),
        "cross_attention": (*ATTENTION, *AROUND),
        "feed_forward": ("hidden", *AROUND),
    },
}
ENDS = {"encoder": ("embedding", "final_norm"), "decoder": ("embedding", "final_norm", "logits")}
SITE_ADDRESSES: dict[Site, tuple[str, str]] = {
    "encoder_self": ("encoder", "self_attention"),
    "decoder_self": ("decoder", "self_attention"),
    "cross": ("decoder", "cross_attention"),
}


class PointError(ValueError):
    """A point, layer or head that a model does not have. Its message is a sentence."""


@lru_cache(maxsize=64)
def point_names(config: ModelConfig) -> tuple[str, ...]:
    """Every point of a model of this shape, in the order in which a call passes them."""
    names: list[str] = []
    for stack, depth in (("encoder", config.encoder_depth), ("decoder", config.decoder_depth)):
        inner = [f"{stack}.{i}.{s}.{p}" for i in range(depth) for s, points in SUBLAYERS[stack].items() for p in points]
        names += [f"{stack}.embedding", *inner, *(f"{stack}.{end}" for end in ENDS[stack][1:])]
    return tuple(names)


@lru_cache(maxsize=512)
def points_matching(config: ModelConfig, pattern: str) -> tuple[str, ...]:
    """The points that a pattern names; "*" stands for anything, as in "decoder.*.cross_attention.weights".

    Raises:
        PointError: a model of this shape has no such point.
    """
    found = tuple(name for name in point_names(config) if fnmatchcase(name, pattern))
    if not found:
        raise PointError(f"There is no point {pattern!r} in this model. {_advice(config, pattern)}")
    return found


def _advice(config: ModelConfig, pattern: str) -> str:
    """The first part of the name that the model lacks, and what it has in its place."""
    stack, *rest = pattern.split(".")
    if stack not in SUBLAYERS:
        return "A point's name begins with encoder or decoder."
    depth = config.encoder_depth if stack == "encoder" else config.decoder_depth
    if len(rest) < 3:
        return f"The points of the whole {stack} are {', '.join(f'{stack}.{end}' for end in ENDS[stack])}."
    if rest[0] != "*" and not (rest[0].isdigit() and int(rest[0]) < depth):
        return f"The {stack} has layers 0 to {depth - 1}, and no layer {rest[0]}."
    if rest[1] not in (*SUBLAYERS[stack], "*"):
        return f"A layer of the {stack} consists of {', '.join(SUBLAYERS[stack])}."
    names = SUBLAYERS[stack].get(rest[1], AROUND)
    return f"The points of {stack}.{rest[0]}.{rest[1]} are {', '.join(names)}."


def site_point(config: ModelConfig, site: Site, layer: int, name: str = "weights") -> str:
    """The point of one layer of a site of attention.

    Raises:
        PointError: there is no such site or layer.
    """
    if site not in SITE_ADDRESSES:
        raise PointError(f"There is no site {site!r}; the sites are {', '.join(SITE_ADDRESSES)}.")
    stack, sublayer = SITE_ADDRESSES[site]
    return points_matching(config, f"{stack}.{layer}.{sublayer}.{name}")[0]


def site_points(config: ModelConfig, site: Site, name: str = "weights") -> tuple[str, ...]:
    """A point in every layer of a site of attention."""
    return tuple(site_point(config, site, layer, name) for layer in range(config.depth(site)))


def site_of(point: str) -> tuple[Site, int]:
    """The site and the layer of a point of attention. Raises PointError for a point that lies in none."""
    stack, _, rest = point.partition(".")
    layer, _, rest = rest.partition(".")
    for site, address in SITE_ADDRESSES.items():
        if address == (stack, rest.partition(".")[0]):
            return site, int(layer)
    raise PointError(f"{point!r} lies in no attention; the sites are {', '.join(SITE_ADDRESSES)}.")
