"""The commands that need the training code: train and evaluate. Each returns the exit code."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from model_core.checkpoint.about import CheckpointAbout
from model_core.checkpoint.checkpoint import Checkpoint, load_checkpoint, read_config, update_checkpoint
from model_core.checkpoint.languages import Language
from model_core.checkpoint.shipped import find_checkpoint
from model_core.cli.commands import decoding_of
from model_core.config import ConfigError, ModelConfig, TrainingConfig, from_json
from model_core.data.corpus import group_references, read_pairs
from model_core.training.copy_run import train_copy
from model_core.training.copy_task import COPY_MODEL, COPY_TRAINING
from model_core.training.evaluation import Scores, score, sense_accuracy, translate_all
from model_core.training.run import has_checkpoint
from model_core.training.translation_run import train_corpus
from model_core.training.translation_task import homograph_split

COPY_OUT = Path("runs/copy")
NOT_FOR_COPY = (
    "corpus", "valid", "homographs", "start_from", "vocabulary", "tokens_per_batch", "validation_sentences",
    "join_share", "vary_share", "homograph_repeats", "source_language", "target_language", "examples",
)  # fmt: skip


class OptionsError(ConfigError):
    """Options that do not go together."""


def train(arguments: Namespace) -> int:
    """Trains, or goes on, and prints how far it came."""
    out, config, done = (_train_copy if arguments.task == "copy" else _train_corpus)(arguments)
    if os.environ.get("RANK", "0") == "0":  # of several processes one speaks
        where = f"The checkpoint is {out}." if has_checkpoint(out) else "There is no checkpoint yet."
        print(f"Step {done:,} of {config.steps:,}. {where}")
    return 0


def _given(arguments: Namespace, kind: type[ModelConfig | TrainingConfig]) -> dict[str, Any]:
    """The settings of a kind that were given as options."""
    given = vars(arguments)
    found = {field.name: given[field.name] for field in fields(kind) if field.name in given}
    if kind is ModelConfig and "vocabulary" in given:
        found |= {"source_vocabulary": given["vocabulary"], "target_vocabulary": given["vocabulary"]}
    return found


def _train_copy(arguments: Namespace) -> tuple[Path, TrainingConfig, int]:
    senseless = [name for name in NOT_FOR_COPY if vars(arguments).get(name)]
    if senseless:
        options = ", ".join(f"--{name.replace('_', '-').replace('examples', 'example')}" for name in senseless)
        raise OptionsError(f"--task copy makes its own data: leave out {options}.")
    out = arguments.out or COPY_OUT
    config = replace(COPY_TRAINING, **_given(arguments, TrainingConfig))
    result = train_copy(out, replace(COPY_MODEL, **_given(arguments, ModelConfig)), config=config)
    if result.exact is not None:
        print(f"{result.exact:.1%} of the held-out sequences are copied exactly.")
    return out, config, result.progress.step


def _train_corpus(arguments: Namespace) -> tuple[Path, TrainingConfig, int]:
    missing = [f"--{name}" for name in ("corpus", "valid", "out") if getattr(arguments, name) is None]
    if missing:
        raise OptionsError(f"To train on sentence pairs, give {' and '.join(missing)} too; or choose --task copy.")
    shape = ModelConfig()
    start_from = None if arguments.start_from is None else find_checkpoint(arguments.start_from)
    if start_from is not None:
        shape = from_json(ModelConfig, read_config(start_from)["model"])
    config = TrainingConfig(**_given(arguments, TrainingConfig))
    progress = train_corpus(
        arguments.corpus,
        arguments.valid,
        arguments.out,
        replace(shape, **_given(arguments, ModelConfig)),
        config=config,
        homographs=arguments.homographs,
        start_from=start_from,
        about=_about(arguments),
    )
    return arguments.out, config, progress.step


def _about(arguments: Namespace) -> CheckpointAbout:
    source, target = (
        None if code is None else Language.of_code(code)
        for code in (arguments.source_language, arguments.target_language)
    )
    return CheckpointAbout(source_language=source, target_language=target, examples=tuple(arguments.examples or ()))


def evaluate(arguments: Namespace) -> int:
    """Prints the figures that were asked for; with --save they stand in metrics.json afterwards."""
    if arguments.corpus is None and not arguments.homographs:
        raise OptionsError("There is nothing to measure: give --corpus FILE, or --homographs, or both.")
    if arguments.limit is not None and arguments.limit < 1:
        raise OptionsError(f"--limit has to be 1 or more, not {arguments.limit}.")
    folder = find_checkpoint(arguments.checkpoint)
    checkpoint = load_checkpoint(folder)
    found: dict[str, Any] = {}
    if arguments.corpus is not None:
        found["evaluation"] = _evaluate_corpus(checkpoint, arguments)
        _print_scores(found["evaluation"])
    if arguments.homographs:
        found["homographs"] = _evaluate_homographs(checkpoint)
        _print_senses(found["homographs"])
    if arguments.save:
        update_checkpoint(folder, metrics={**checkpoint.metrics, **found})
        print(f"Written to {folder / 'metrics.json'}.")
    return 0


def _evaluate_corpus(checkpoint: Checkpoint, arguments: Namespace) -> dict[str, Any]:
    """Scores against all references of each sentence, and against the first one that stands in the file."""
    decoding = decoding_of(arguments.beam)
    references = group_references(read_pairs(arguments.corpus))[: arguments.limit]
    sources = [source for source, _ in references]
    translations = translate_all(
        checkpoint.model, checkpoint.tokenizer, sources, decoding, target_tokenizer=checkpoint.target
    )
    several = score(translations, [targets for _, targets in references])
    single = score(translations, [targets[:1] for _, targets in references])
    return {
        "corpus": arguments.corpus.name,
        "beam": arguments.beam,
        "sentences": several.sentences,
        "references": sum(len(targets) for _, targets in references),
        "all_references": _scores_told(several),
        "first_reference": _scores_told(single),
    }


def _scores_told(scores: Scores) -> dict[str, Any]:
    return {
        "bleu": round(scores.bleu, 2),
        "chrf": round(scores.chrf, 2),
        "bleu_signature": scores.bleu_signature,
        "chrf_signature": scores.chrf_signature,
    }


def _print_scores(found: dict[str, Any]) -> None:
    search = "greedy" if found["beam"] == 1 else f"beam {found['beam']}"
    print(f"{found['corpus']}: {found['sentences']:,} sentences, {found['references']:,} references, {search}")
    for name in ("all_references", "first_reference"):
        scores = found[name]
        print(f"  {name.replace('_', ' '):<15}  BLEU {scores['bleu']:6.2f}  {scores['bleu_signature']}")
        print(f"  {'':<15}  chrF {scores['chrf']:6.2f}  {scores['chrf_signature']}")


def _evaluate_homographs(checkpoint: Checkpoint) -> dict[str, Any]:
    """How often greedy translations of the homograph set's held-out sentences show the right sense, and no other."""
    held_out = homograph_split("test")
    translations = translate_all(checkpoint.model, checkpoint.tokenizer, [homograph.source for homograph in held_out])
    words = sense_accuracy(translations, held_out)
    right, total = (sum(column) for column in zip(*words.values(), strict=True))
    return {
        "decoding": "greedy",
        "sentences": total,
        "right": right,
        "accuracy": round(right / total, 4),
        "words": {word: {"right": counts[0], "sentences": counts[1]} for word, counts in words.items()},
    }


def _print_senses(found: dict[str, Any]) -> None:
    print(
        f"Homographs, held-out sentences, {found['decoding']}: the right sense in "
        f"{found['right']} of {found['sentences']} ({found['accuracy']:.1%})"
    )
    for word, counts in found["words"].items():
        print(f"  {word:<10}  {counts['right']:>3} of {counts['sentences']:>3}")
