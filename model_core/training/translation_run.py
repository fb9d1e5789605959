"""From a corpus file to a checkpoint folder: the training of `python -m model_core train --corpus`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from model_core.building import make_model
from model_core.checkpoint.about import DEFAULT_ABOUT, CheckpointAbout
from model_core.checkpoint.checkpoint import load_checkpoint
from model_core.checkpoint.files import sha256
from model_core.config import ModelConfig, TrainingConfig, to_json
from model_core.data.corpus import Pair, read_pairs
from model_core.files import write_atomically
from model_core.model.transformer import Transformer
from model_core.text.tokenizer import Tokenizer
from model_core.training.about_run import about_of_run
from model_core.training.distributed import Workers, joined_workers
from model_core.training.run import (
    CHANGEABLE,
    SettingsError,
    check_settings,
    run_task,
    write_settings,
)
from model_core.training.state import Progress
from model_core.training.translation_task import TranslationTask, joint_tokenizer, with_homographs


def train_corpus(
    corpus: Path,
    valid: Path,
    out: Path,
    shape: ModelConfig,
    *,
    config: TrainingConfig,
    homographs: bool = False,
    start_from: Path | None = None,
    about: CheckpointAbout = DEFAULT_ABOUT,
) -> Progress:
    """Trains on sentence pairs, going on where a run in `out` stopped.

    `start_from` is a checkpoint whose weights and tokenizer a new run begins with; `homographs` adds the sentences of
    the shipped homograph set that are not held out. `about` is what the checkpoint will say of itself; what it leaves
    open is taken from earlier checkpoints of the run (see `about_of_run`).

    A run goes on in the middle of an epoch, so all that an epoch's batches follow from has to be as it was: the pairs
    (the homographs and how often they are repeated included), `seed`, `tokens_per_batch`, `join_share`, `vary_share`. A
    run that is older than the writing down of one of these is not held to it when it first goes on, but from then on.

    Raises:
        CorpusError, CheckpointError, StateError, TokenizerError: a file can't be used; named.
        SettingsError: `shape` is not that of the run in `out`, or of `start_from`; or an epoch's batches would be other
            ones than those of the run in `out`.
        TrainingError: the loss is no longer a number.
    """
    with joined_workers() as workers:
        pairs, judged = read_pairs(corpus), read_pairs(valid)
        if homographs:
            pairs = with_homographs(pairs, config.homograph_repeats)
        data = _epoch_settings(pairs, homographs, config)
        check_settings(out, shape, data)
        model = make_model(shape, seed=config.seed)
        start = None if start_from is None else _start(start_from, model)
        tokenizer = _tokenizer_of_run(out, pairs, shape, start, workers)
        note = _note if workers.first else None
        if note is not None:
            write_settings(out, shape, data)
            note(f"{len(pairs):,} pairs, {shape.source_vocabulary:,} pieces, {model.parameter_count():,} parameters.")
        task = TranslationTask(tokenizer, pairs, judged, config, note)
        about = about_of_run(about, out, start_from, judged)
        summary = f"Trained on {corpus.name}{' and the homograph set' if homographs else ''}."
        return run_task(
            task, model, tokenizer, config, out, name=out.resolve().name, summary=summary, workers=workers, about=about
        )


def _epoch_settings(pairs: Sequence[Pair], homographs: bool, config: TrainingConfig) -> dict[str, object]:
    """All that an epoch's batches follow from."""
    return {
        "corpus_sha256": sha256("\n".join(f"{pair.source}\t{pair.target}" for pair in pairs).encode()),
        "homographs": homographs,
        "seed": config.seed,
        "tokens_per_batch": config.tokens_per_batch,
        "join_share": config.join_share,
        "vary_share": config.vary_share,
    }


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _start(folder: Path, model: Transformer) -> Tokenizer:
    """Puts a checkpoint's weights into the model and returns its tokenizer."""
    checkpoint = load_checkpoint(folder)
    start, model_settings = to_json(checkpoint.model.config), to_json(model.config)
    differing = [key for key in model_settings if key not in CHANGEABLE and model_settings[key] != start[key]]
    if differing:
        differences = ", ".join(f"{key} {start[key]!r}, asked for {model_settings[key]!r}" for key in differing)
        raise SettingsError(f"{folder} can't be the start of this model: it has {differences}.")
    model.load_state_dict(checkpoint.model.state_dict())
    return checkpoint.tokenizer


def _tokenizer_of_run(
    out: Path, pairs: Sequence[Pair], shape: ModelConfig, start: Tokenizer | None, workers: Workers
) -> Tokenizer:
    """The run's tokenizer: the start's or one trained on the pairs, then kept beside the run's state."""
    path = out / "training" / "tokenizer.model"
    if workers.first and not path.exists():
        tokenizer = start or joint_tokenizer(pairs, shape.source_vocabulary)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, tokenizer.serialized)
    workers.wait()
    run_tokenizer = Tokenizer.load(path)
    if start is not None and start.serialized != run_tokenizer.serialized:
        raise SettingsError(
            f"{path} is not the tokenizer of the checkpoint to start from: choose another --out folder."
        )
    if run_tokenizer.vocabulary_size != shape.source_vocabulary:
        raise SettingsError(
            f"{path} has {run_tokenizer.vocabulary_size:,} pieces, the model {shape.source_vocabulary:,}: "
            "choose another --out folder."
        )
    return run_tokenizer
