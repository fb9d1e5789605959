"""Checks that the parts of a trace agree, before anyone may look at it."""

from __future__ import annotations

import numpy as np

from model_core.trace.arrays import require
from model_core.trace.maps import AttentionMaps
from model_core.trace.parts import TraceParts
from model_core.trace.steps import STRATEGIES, DecodingStep

ROUNDING = 1e-3  # sums of log-probabilities of sure tokens come out a little above 0


def check_tokens(trace: TraceParts) -> None:
    require(
        trace.strategy in STRATEGIES,
        f"There is no strategy {trace.strategy!r}; a trace's is one of {', '.join(STRATEGIES)}.",
    )
    read, predicted = trace.decoder_input_tokens, trace.predicted_tokens
    require(len(trace.source_tokens) > 0, "A trace needs source tokens, at least <s> and </s>; it has none.")
    require(
        len(read) == len(predicted) > 0 and read[1:] == predicted[:-1] and read[0].special and predicted[-1].special,
        f"The {len(predicted)} predicted tokens have to be the {len(read)} decoder input tokens moved by one: "
        "<s> y1 ... yn is read and y1 ... yn </s> is predicted.",
    )
    for name in ("log_probability", "score"):
        value = getattr(trace, name)
        require(value <= ROUNDING, f"A trace's {name} cannot be {value}: a log-probability is 0 or less.")


def check_maps(trace: TraceParts) -> None:
    source, target = trace.source_tokens, trace.decoder_input_tokens
    wanted = {"encoder_self": (source, source), "decoder_self": (target, target), "cross": (target, source)}
    for site, (queries, keys) in wanted.items():
        maps: AttentionMaps = getattr(trace, site)
        require(maps.site == site, f"A trace's {site} cannot hold the maps of {maps.site}.")
        require(
            (maps.query_tokens, maps.key_tokens) == (queries, keys),
            f"{site}'s {len(maps.query_tokens)} query and {len(maps.key_tokens)} key tokens are not the trace's own "
            f"{len(queries)} and {len(keys)}.",
        )
        closed = np.flatnonzero(~maps.allowed.any(axis=1)).tolist()
        require(not closed, f"{site}'s queries {closed[:3]} may attend to no key at all, so they have no weights.")
    encoder, decoder = trace.encoder_self.layers, trace.decoder_self.layers
    require(
        trace.cross.layers == decoder,
        f"cross has {trace.cross.layers} layers and decoder_self {decoder}; they belong to the same decoder layers.",
    )
    d_model = trace.encoder_states.shape[-1:]
    for name, shape in (("encoder", (encoder + 1, len(source))), ("decoder", (decoder + 1, len(target)))):
        states = getattr(trace, f"{name}_states")
        require(
            states.ndim == 3 and states.shape == shape + d_model,
            f"{name}_states has shape {list(states.shape)}; {shape[0] - 1} layers and {shape[1]} tokens need "
            f"[{shape[0]}, {shape[1]}, d_model], with one d_model for both stacks.",
        )


def check_decoding(trace: TraceParts) -> None:
    steps = trace.decoding
    require(
        len(steps) == len(trace.predicted_tokens),
        f"The decoding has {len(steps)} steps for {len(trace.predicted_tokens)} predicted tokens; each needs one.",
    )
    spelled = {token.id: token.piece for token in trace.decoder_input_tokens + trace.predicted_tokens}
    ids = set(spelled)
    for number, (step, token) in enumerate(zip(steps, trace.predicted_tokens, strict=True), start=1):
        require(
            step.chosen_id == token.id,
            f"Step {number} of the decoding chose id {step.chosen_id}, but the predicted token has id {token.id}.",
        )
        _check_step(number, step, len(steps[number - 2].hypotheses) if number > 1 else 0)
        ids |= {a.id for a in step.alternatives} | {h.id for h in step.hypotheses}
    missing = sorted(ids - trace.pieces.keys())
    require(not missing, f"The trace's pieces do not spell {len(missing)} of its ids, such as {missing[:3]}.")
    other = [id for id, piece in spelled.items() if trace.pieces[id] != piece]
    require(not other, f"The trace's pieces spell {len(other)} ids otherwise than its tokens do, such as {other[:3]}.")


def _check_step(number: int, step: DecodingStep, hypotheses_before: int) -> None:
    for hypothesis in step.hypotheses:
        require(
            hypothesis.parent == -1 if number == 1 else 0 <= hypothesis.parent < hypotheses_before,
            f"A hypothesis of step {number} has parent {hypothesis.parent}, "
            f"but the step before has {hypotheses_before} hypotheses.",
        )
    numbers = [step.log_probability, *(a.log_probability for a in step.alternatives)]
    numbers += [n for h in step.hypotheses for n in (h.log_probability, h.score)]
    bad = [n for n in numbers if not n <= ROUNDING]  # NaN is no number of any size
    require(
        not bad,
        f"Step {number} of the decoding has {len(bad)} of {len(numbers)} log-probabilities and scores that are not a "
        f"number of 0 or less, such as {bad[0] if bad else 0}.",
    )
