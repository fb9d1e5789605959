"""One optimizer step, the same in every training.

Shapes: B batch, T target, N the positions of a batch that are no padding, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model_core.config import PAD_ID, TrainingConfig
from model_core.model.transformer import Transformer
from model_core.training.batching import Batch, shard
from model_core.training.distributed import Workers
from model_core.training.loss import smoothed_cross_entropy
from model_core.training.schedule import learning_rate

ALONE = Workers()
REMEDIES = ("learning_rate", "gradient_clip")


class TrainingError(ValueError):
    """A training that can't go on. Its message says what to do."""


@dataclass(frozen=True)
class StepResult:
    """`loss` is the smoothed cross-entropy per token, in nats, over the global batch of `tokens` target tokens."""

    loss: float
    tokens: int


def batch_loss(model: Transformer, batch: Batch, smoothing: float) -> Tensor:
    """Summed loss of a batch: the vocabulary is scored only where there is something to predict, N of B x T."""
    states = model.states(batch.source, batch.decoder_input)
    real = batch.decoder_output != PAD_ID
    return smoothed_cross_entropy(model.generator.logits(states[real]), batch.decoder_output[real], smoothing)


def make_optimizer(model: Transformer, config: TrainingConfig) -> torch.optim.AdamW:
    """AdamW (Loshchilov & Hutter 2019) with betas (0.9, 0.98); matrices decay, biases and norms don't."""
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.98), eps=1e-9)


def train_step(
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    config: TrainingConfig,
    step: int,
    workers: Workers = ALONE,
    remedies: Sequence[str] = REMEDIES,
) -> StepResult:
    """Makes step `step` (from 0) on one global batch, of which this process takes its rows.

    The model is left in training mode. `remedies` are the settings that an error advises to lower.

    Raises:
        TrainingError: the loss or the gradient is no longer a number; the weights are left as they were.
    """
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(step, config)
    tokens, device = batch.target_tokens, next(model.parameters()).device
    part = shard(batch, workers.rank, workers.world).to(device)
    model.train()
    optimizer.zero_grad(set_to_none=True)
    total = torch.zeros((), device=device)
    if part.source.shape[0]:
        with torch.autocast(device.type, torch.bfloat16, enabled=config.precision == "bf16"):
            total = batch_loss(model, part, config.label_smoothing)
        (total / tokens).backward()
    workers.sum_gradients(model.parameters())
    norm = float(torch.nn.utils.clip_grad_norm_(model.parameters(), config.gradient_clip))
    loss = float(workers.sum(total.detach())) / tokens
    if not math.isfinite(loss) or not math.isfinite(norm):
        advice = " or ".join(f"the {name.replace('_', ' ')} ({getattr(config, name)})" for name in remedies)
        raise TrainingError(f"At step {step + 1} the loss is {loss} and the gradient's norm {norm}: lower {advice}.")
    optimizer.step()
    return StepResult(loss, tokens)
