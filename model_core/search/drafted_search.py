"""Greedy search by draft and confirmation: the 8-bit decoder guesses ahead, the exact model looks at the guess at once.

This is speculative decoding (Leviathan et al. 2023, arXiv:2211.17192) for greedy search. Most sentences are guessed
whole, and the pass that confirms them is the one that records them.
"""

from __future__ import annotations

import threading
from dataclasses import replace

import torch

from model_core.config import EOS_ID
from model_core.search.draft import Draft, Drafting
from model_core.search.forced_pass import ForcedPass
from model_core.search.hypotheses import Path
from model_core.trace.steps import DecodingStep

FIRST_WINDOW = 48  # ids guessed before the exact model is asked; a longer guess is more to throw away
LEAST_WINDOW = 3


@torch.inference_mode()
def drafted_search(
    draft: Draft,
    exact: ForcedPass,
    limit: int,
    alternatives: int = 0,
    cancelled: threading.Event | None = None,
    window: int = FIRST_WINDOW,
) -> Path:
    """The greedy translation of at most `limit` ids.

    Each id of it is the one that `exact` (without interventions) holds most probable after the ids before
    it, among those that may be written. Where the guess differs, the exact model's id takes its place and the draft
    goes on from there. `exact` is asked for so many `alternatives`, and the path's steps have none.

    Raises:
        Cancelled: `cancelled` was set.
    """
    drafting = Drafting(draft, exact.memory_heads(), cancelled)
    written: list[int] = []  # as the exact model wants it, and so are the steps
    steps: list[DecodingStep] = []
    while len(written) < limit and EOS_ID not in written[-1:]:
        guess = drafting.extend(written, min(limit, len(written) + window))
        new = exact.score_rest(guess, len(written), max(1, alternatives))
        right = next((i for i, step in enumerate(new) if step.chosen_id != step.alternatives[0].id), len(new))
        steps += new[:right]
        window = 2 * window
        if right < len(new):
            steps.append(corrected(new[right]))
            window = max(LEAST_WINDOW, window // 4)
        written = [step.chosen_id for step in steps]
    return path_of(steps, limit)


def corrected(step: DecodingStep) -> DecodingStep:
    """The step with the most probable id as its choice."""
    best = step.alternatives[0]
    return replace(step, chosen_id=best.id, log_probability=best.log_probability)


def path_of(steps: list[DecodingStep], limit: int) -> Path:
    """The path of the steps, without their alternatives."""
    path = Path(limit)
    for step in steps:
        path = path.extend(replace(step, alternatives=()))
    return path
