"""One sentence under changed masks: in one full pass, and in a search.

Shapes: H head, Q query, K key, T target, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_core.config import DecodingConfig
from model_core.experiments.changed_masks import (
    ChangedMasks,
    MaskCell,
    MaskError,
    MaskSetting,
    Padded,
    check_setting,
    check_site,
    flipped,
)
from model_core.interventions import Record, site_point
from model_core.model.transformer import Transformer
from model_core.search.decoding import Decoded, check_model, decode
from model_core.search.forced_pass import ForcedPass
from model_core.sites import Site

__all__ = [
    "ChangedMasks", "MaskCell", "MaskError", "MaskSetting", "MaskedPass", "Padded", "Shift", "check_setting",
    "flipped", "masked_pass", "masked_search", "rule_mask", "shifts",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class MaskedPass:
    """One teacher-forced pass, seen at one layer of one site.

    `scores` QK^T / sqrt(d_head) before the mask, `allowed` and `weights` are `[H, Q, K]`; `log_probabilities [T, V]`
    say what follows each decoder input. Rows and keys of padding are included. Arrays are read-only.
    """

    scores: NDArray[np.float32]
    allowed: NDArray[np.bool_]
    weights: NDArray[np.float32]
    log_probabilities: NDArray[np.float32]

    def log_probability(self, target: Sequence[int]) -> float:
        """The log-probability of a whole target: the sum over its ids, natural logarithm."""
        return float(self.log_probabilities[np.arange(len(target)), list(target)].sum(dtype=np.float64))


def _frozen(tensor: Tensor) -> NDArray:
    array = tensor.cpu().numpy().copy()
    array.flags.writeable = False
    return array


@torch.inference_mode()
def masked_pass(
    model: Transformer, source: Padded, target: Sequence[int], setting: MaskSetting, site: Site, layer: int
) -> MaskedPass:
    """Runs the whole target (`pieces </s>`) at once under the setting's masks, and looks at `layer` (from 0) of `site`.

    Raises:
        MaskError: see `check_setting`; or there is no such site or layer.
        ValueError: the model is in training mode.
    """
    check_model(model)
    check_site(site)
    depth = model.config.depth(site)
    if not 0 <= layer < depth:
        raise MaskError(f"There is no layer {layer} in this model: it has layers 0 to {depth - 1}.")
    check_setting(setting, source, len(target), model.config)
    points = [site_point(model.config, site, layer, name) for name in ("scores", "mask", "weights")]
    record = Record(*points)
    forced = ForcedPass(model, source.padded_ids, [ChangedMasks(setting, source), record], keep=False)
    log_probabilities = forced.log_probabilities(target)
    scores, allowed, weights = (_frozen(record[point][0]) for point in points)
    return MaskedPass(scores, allowed, weights, _frozen(log_probabilities))


@torch.inference_mode()
def masked_search(
    model: Transformer, source: Padded, target_length: int, setting: MaskSetting, config: DecodingConfig
) -> Decoded:
    """The best translation under the setting's masks, searched for token by token with a key/value cache.

    A cell of decoder row t acts at step t, in every hypothesis. Cells have to lie within `target_length` rows.

    Raises:
        MaskError: see `check_setting`.
        ValueError: the model is in training mode.
    """
    check_model(model)
    check_setting(setting, source, target_length, model.config)
    masks = ChangedMasks(setting, source)
    memory = ForcedPass(model, source.padded_ids, masks, keep=False).memory
    config = replace(config, n_best=1, alternatives=0)
    return decode(model, [source.ids], config, interventions=masks, memory=memory)[0][0]


def rule_mask(setting: MaskSetting, source: Padded, site: Site, queries: int, keys: int) -> NDArray[np.bool_]:
    """The mask `[Q, K]` of a site that the setting's two rules make, without its single cells; read-only."""
    rules = ChangedMasks(MaskSetting(setting.padding, setting.causal), source)
    return _frozen(rules.allowed(site, 0, 1, queries, keys)[0])


@dataclass(frozen=True)
class Shift:
    """A token's probability at one step, before and after."""

    id: int
    before: float
    after: float

    @property
    def difference(self) -> float:
        return self.after - self.before


def shifts(before: MaskedPass, after: MaskedPass, step: int, count: int) -> tuple[Shift, ...]:
    """The `count` most probable tokens of each pass at a step, joined; those that are likely in either come first."""
    rows = [np.exp(masked.log_probabilities[step].astype(np.float64)) for masked in (before, after)]
    ids = {int(id_) for row in rows for id_ in np.argsort(-row, kind="stable")[:count]}
    joined = [Shift(id_, float(rows[0][id_]), float(rows[1][id_])) for id_ in ids]
    return tuple(sorted(joined, key=lambda shift: (-max(shift.before, shift.after), shift.id)))
