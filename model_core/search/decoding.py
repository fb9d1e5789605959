"""Searching for a translation: greedy, beam and sampling. Knows ids and scores, no text.

Shapes: R row (one growing translation), V target vocabulary.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from model_core.config import BOS_ID, EOS_ID, DecodingConfig
from model_core.interventions import Interventions
from model_core.model.transformer import Transformer
from model_core.search.beam import Beam
from model_core.search.engine import Cancelled, Engine, make_engine
from model_core.search.forced_pass import ForcedPass
from model_core.search.hypotheses import Decoded, Path, ranked, score_steps
from model_core.search.sampling import Choose, Greedy, Sampler
from model_core.text.ids import check_ids
from model_core.trace.steps import DecodingStep

__all__ = ["Cancelled", "Decoded", "decode", "length_limit", "score_steps", "teacher_forced_steps"]

OnStep = Callable[[list[list[int]]], None]
"""Is shown the ids found so far for each source: of its best path, or of its first sample."""


def decode(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    config: DecodingConfig,
    *,
    interventions: Interventions = (),
    on_step: OnStep | None = None,
    cancelled: threading.Event | None = None,
    prefix: Sequence[int] = (),
    memory: Tensor | None = None,
) -> list[list[Decoded]]:
    """Translates each source (`<s> pieces </s>`): per source up to `config.n_best` translations, best first.

    A source's result does not depend on the others in the batch. Padding, <s> and <unk> are never written. All
    log-probabilities are the model's own, whatever the temperature. `prefix` (without <s>) is how every translation has
    to begin; it counts in its length and in its sums. `interventions` act on the encoder once and then, at each step,
    on the newest row of each translation that is not done. `cancelled` is looked at before each step. `memory [sources,
    S, D]` is what `model.encode` made of the sources, padded on the right; without it they are encoded here.

    Raises:
        ValueError: the model is in training mode, or a source, the prefix or the number asked for is impossible.
        Cancelled: `cancelled` was set.
    """
    check_model(model)
    check_request(model, sources, config, prefix)
    if not sources:
        return []
    search = beam_search if config.strategy == "beam" else single_search
    with torch.inference_mode():
        return search(make_engine(model, sources, interventions, cancelled, memory), sources, config, prefix, on_step)


def length_limit(source: Sequence[int], config: DecodingConfig) -> int:
    """The most ids, </s> among them, that the translation of `<s> pieces </s>` may have."""
    return 2 * (len(source) - 2) + 10 if config.max_length is None else config.max_length


def teacher_forced_steps(
    model: Transformer, source: Sequence[int], target: Sequence[int], alternatives: int
) -> tuple[DecodingStep, ...]:
    """One step for each id of a given target (pieces, with or without </s>), as the model scores it in one pass.

    Raises:
        ValueError: the model is in training mode, the target is empty, or an id is impossible.
    """
    check_model(model)
    check_sources(model, [source])
    check_ids("The target", target, model.config.target_vocabulary)
    if not target:
        raise ValueError("The target has no pieces: give at least one, or </s> alone.")
    return ForcedPass(model, source, keep=False).score(target, alternatives)


def check_model(model: Transformer) -> None:
    """Raises ValueError in training mode, whose dropout would make every result a matter of chance."""
    if model.training:
        raise ValueError("The model is in training mode, where dropout changes every result: call model.eval() first.")


def check_sources(model: Transformer, sources: Sequence[Sequence[int]]) -> None:
    """Raises ValueError unless every source is `<s> pieces </s>` of known ids."""
    for index, source in enumerate(sources):
        if len(source) < 2 or source[0] != BOS_ID or source[-1] != EOS_ID:
            raise ValueError(
                f"Source {index} must begin with <s> ({BOS_ID}) and end with </s> ({EOS_ID}): {list(source)}."
            )
        check_ids(f"Source {index}", source, model.config.source_vocabulary)


def check_request(
    model: Transformer, sources: Sequence[Sequence[int]], config: DecodingConfig, prefix: Sequence[int]
) -> None:
    """Raises ValueError for sources, a prefix or an n-best that no search can serve."""
    check_sources(model, sources)
    check_ids("The forced beginning", prefix, model.config.target_vocabulary)
    if BOS_ID in prefix or EOS_ID in prefix:
        raise ValueError(f"The forced beginning is pieces only, without <s> ({BOS_ID}) and </s> ({EOS_ID}).")
    for index, source in enumerate(sources):
        limit = length_limit(source, config)
        if len(prefix) >= limit:
            raise ValueError(
                f"The forced beginning has {len(prefix)} pieces, but the translation of source {index} may have "
                f"{limit} in all, </s> included: raise max_length, or force no more than {limit - 1}."
            )
    if config.strategy == "greedy" and config.n_best > 1:
        raise ValueError(f"Greedy search finds one translation, not {config.n_best}: take beam search or sampling.")


def single_search(
    engine: Engine,
    sources: Sequence[Sequence[int]],
    config: DecodingConfig,
    prefix: Sequence[int],
    on_step: OnStep | None,
) -> list[list[Decoded]]:
    """Greedy search and sampling: each path goes its own way, `n_best` paths a source."""
    count = config.n_best
    repeated = [source for source in sources for _ in range(count)]
    limits = [length_limit(source, config) for source in repeated]
    choose: Choose = Greedy(config.alternatives)
    if config.strategy == "sample":
        choose = Sampler(config, repeated, [*range(count)] * len(sources), limits)

    def report(paths: list[Path]) -> None:
        if on_step is not None:
            on_step([list(path.ids) for path in paths[::count]])

    engine.select([row for row in range(len(sources)) for _ in range(count)])
    paths = follow(engine, limits, prefix, choose, config.alternatives, report)
    found = [path.decoded(config.length_penalty) for path in paths]
    groups = (found[start : start + count] for start in range(0, len(found), count))
    return [sorted(group, key=lambda decoded: -decoded.score) for group in groups]


def begin_paths(
    engine: Engine, limits: Sequence[int], prefix: Sequence[int], alternatives: int
) -> tuple[list[Path], Tensor]:
    """One path a row, which holds the forced beginning, and the log-probabilities `[R, V]` of what follows it."""
    log_probabilities = engine.begin(prefix)
    paths = []
    for row, limit in enumerate(limits):
        path = Path(limit)
        if prefix:
            for step in score_steps(prefix, log_probabilities[row, :-1], alternatives):
                path = path.extend(step)
        paths.append(path)
    return paths, log_probabilities[:, -1]


def follow(
    engine: Engine,
    limits: Sequence[int],
    prefix: Sequence[int],
    choose: Choose,
    alternatives: int,
    report: Callable[[list[Path]], None],
) -> list[Path]:
    """Extends each path by the chosen id until all are done; a path that is done leaves the batch."""
    paths, log_probabilities = begin_paths(engine, limits, prefix, alternatives)
    live = list(range(len(paths)))  # the path that each row of the batch belongs to
    while True:
        steps = choose(log_probabilities, live, len(paths[live[0]].ids))
        for index, step in zip(live, steps, strict=True):
            paths[index] = paths[index].extend(step)
        report(paths)
        staying = [row for row, index in enumerate(live) if not paths[index].done]
        if not staying:
            return paths
        engine.select(staying)
        live = [live[row] for row in staying]
        log_probabilities = engine.advance([paths[index].ids[-1] for index in live])


def beam_search(
    engine: Engine,
    sources: Sequence[Sequence[int]],
    config: DecodingConfig,
    prefix: Sequence[int],
    on_step: OnStep | None,
) -> list[list[Decoded]]:
    """One `Beam` a source; the rows of the batch are the live paths of the beams that are not done, in order."""
    limits = [length_limit(source, config) for source in sources]
    paths, log_probabilities = begin_paths(engine, limits, prefix, config.alternatives)
    beams = [Beam(path, config) for path in paths]
    running = beams
    while True:
        best = ranked(log_probabilities, max(2 * config.beam_width, config.alternatives))
        rows, first = [], 0
        for beam in running:
            last = first + len(beam.live)
            parents = beam.advance(best[first:last])
            rows += [] if beam.done else [first + parent for parent in parents]
            first = last
        if on_step is not None:
            on_step([beam.best_ids() for beam in beams])
        running = [beam for beam in running if not beam.done]
        if not running:
            return [beam.results() for beam in beams]
        engine.select(rows)
        log_probabilities = engine.advance([path.ids[-1] for beam in running for path in beam.live])
