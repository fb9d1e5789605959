"""The running average of a model's weights, which is what is validated and kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.optim.swa_utils import get_ema_multi_avg_fn

from model_core.model.transformer import Transformer

WARMUP = 10  # steps over which the average forgets the random start


class RunningAverage:
    """Exponential: each step moves it by 1 - decay towards the model's weights. Young averages follow faster.

    The step is torch's own (`get_ema_multi_avg_fn`). Its `AveragedModel` does not serve: it takes over the weights of
    the first step as they are, where this average begins with the untrained ones; its decay is fixed; and it keeps a
    second whole model, while `lent_to` and the saved state need the parameters by their names only.
    """

    def __init__(self, model: Transformer) -> None:
        self.weights: dict[str, Tensor] = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model: Transformer, step: int, decay: float) -> None:
        """Takes in the weights after optimizer step `step` (from 0); `decay` 0 follows them at once."""
        decay = min(decay, (step + 1) / (step + WARMUP))
        parameters = dict(model.named_parameters())
        get_ema_multi_avg_fn(decay)([self.weights[name] for name in parameters], list(parameters.values()), step)

    @contextmanager
    def lent_to(self, model: Transformer) -> Iterator[Transformer]:
        """Inside, the model has the average's weights and is in evaluation mode; at the end it gets its own back."""
        own, training = {name: p.detach().clone() for name, p in model.named_parameters()}, model.training
        _put(self.weights, model)
        try:
            yield model.eval()
        finally:
            _put(own, model)
            model.train(training)


@torch.no_grad()
def _put(weights: dict[str, Tensor], model: Transformer) -> None:
    for name, parameter in model.named_parameters():
        parameter.copy_(weights[name])
