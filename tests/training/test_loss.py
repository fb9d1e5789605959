"""Cross-entropy with label smoothing against its formula."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model_core.training.loss import smoothed_cross_entropy

N, V = 5, 7


def logits_and_targets(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return 3.0 * torch.randn(N, V, generator=generator), torch.randint(V, (N,), generator=generator)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.35])
def test_the_loss_is_the_formula(smoothing: float) -> None:
    logits, targets = logits_and_targets()
    log_p = (logits.double().exp() / logits.double().exp().sum(-1, keepdim=True)).log()
    wanted = sum(
        (1 - smoothing) * -log_p[n, targets[n]] + smoothing / V * sum(-log_p[n, v] for v in range(V)) for n in range(N)
    )
    assert float(smoothed_cross_entropy(logits, targets, smoothing)) == pytest.approx(float(wanted), rel=1e-5)


def test_without_smoothing_a_sure_and_right_model_loses_nothing() -> None:
    _, targets = logits_and_targets()
    sure = torch.full((N, V), -50.0)
    sure[torch.arange(N), targets] = 50.0
    assert float(smoothed_cross_entropy(sure, targets)) == 0.0
    assert float(smoothed_cross_entropy(sure, targets, 0.1)) > 1.0


@given(st.integers(1, N - 1), st.floats(0.0, 0.9))
def test_the_parts_of_a_batch_add_up_to_it(cut: int, smoothing: float) -> None:
    logits, targets = logits_and_targets()
    parts = [smoothed_cross_entropy(logits[rows], targets[rows], smoothing) for rows in (slice(cut), slice(cut, N))]
    assert float(sum(parts)) == pytest.approx(float(smoothed_cross_entropy(logits, targets, smoothing)), rel=1e-5)


def test_no_tokens_lose_nothing() -> None:
    loss = smoothed_cross_entropy(torch.empty(0, V), torch.empty(0, dtype=torch.int64), 0.1)
    assert float(loss) == 0.0


def test_the_sum_is_taken_in_float32() -> None:
    logits, targets = logits_and_targets()
    loss = smoothed_cross_entropy(logits.bfloat16(), targets, 0.1)
    assert loss.dtype == torch.float32
    assert float(loss) == pytest.approx(
        float(smoothed_cross_entropy(logits.bfloat16().float(), targets, 0.1)), rel=1e-6
    )
