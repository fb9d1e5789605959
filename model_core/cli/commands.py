"""The commands that use a checkpoint: translate, trace and info. Each returns the exit code."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from model_core.checkpoint.about import CheckpointAbout
from model_core.checkpoint.checkpoint import load_checkpoint, read_config, read_file
from model_core.checkpoint.shipped import find_checkpoint
from model_core.config import ConfigError, DecodingConfig
from model_core.search.decoding import Decoded
from model_core.text.source import InputError
from model_core.translator import Translation, Translator

BAD_INPUT = 2


def decoding_of(beam: int, n_best: int = 1, alternatives: int = 0) -> DecodingConfig:
    """Beam search, or greedy search where the width is 1. Raises ConfigError for what neither can do."""
    decoding = DecodingConfig(strategy="beam", beam_width=beam, n_best=n_best, alternatives=alternatives)
    return replace(decoding, strategy="greedy") if beam == 1 else decoding


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def translate(arguments: Namespace) -> int:
    """Prints one line for each text, an empty one where it is blank or can't be translated, which is told on stderr."""
    torch.set_num_threads(1)  # one sentence at a time: two threads are slower than one
    decoding = _search_of(arguments)
    translator = Translator.load(find_checkpoint(arguments.checkpoint))
    numbered = len(arguments.texts) > 1
    code, count = 0, 0
    for count, text in enumerate(arguments.texts or _lines_of_input(), 1):
        place = f"Text {count}: " if numbered else "" if arguments.texts else f"Line {count}: "
        try:
            print(_answer(translator, text, decoding, place, arguments), flush=True)
        except InputError as error:
            _say(f"{place}{error}")
            print(_json({"error": str(error)}) if arguments.json else "", flush=True)
            code = BAD_INPUT
    if not count:
        _say("There is nothing to translate: give a TEXT, or lines on standard input.")
        code = BAD_INPUT
    return code


def _search_of(arguments: Namespace) -> DecodingConfig:
    if arguments.n_best is not None and not arguments.json:
        raise ConfigError("Only the JSON has room for several translations of a sentence: add --json to --n-best.")
    n_best = arguments.beam if arguments.n_best is None and arguments.json else arguments.n_best
    return decoding_of(arguments.beam, 1 if n_best is None else n_best)


def _lines_of_input() -> Iterator[str | bytes]:
    if sys.stdin.isatty():
        _say("Type a sentence a line; Ctrl-D ends.")
    for line in sys.stdin.buffer:
        yield line.removesuffix(b"\n").removesuffix(b"\r")


def _answer(
    translator: Translator, text: str | bytes, decoding: DecodingConfig, place: str, arguments: Namespace
) -> str:
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            raise InputError(f"Byte {error.start + 1} is not UTF-8; convert the text.") from error
        if not text.strip():
            return _json({"source": "", "translation": "", "n_best": []}) if arguments.json else ""
    translation = translator.translate(text, decoding, prefix=() if arguments.begin is None else arguments.begin)
    removed, best = translation.source.removed, translation.best
    if removed:
        _say(f"{place}{removed} control or invisible character{'s were' if removed > 1 else ' was'} removed.")
    if not best.finished:
        _say(f"{place}The translation was cut off after {len(best.ids)} pieces, the most that are allowed.")
    return _json(_told(translator, translation)) if arguments.json else translation.text


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False)


def _told(translator: Translator, translation: Translation) -> dict[str, Any]:
    pieces = [translator.tokenizer.piece(id_) for id_ in translation.source.ids]
    n_best = [_told_one(translator, found) for found in translation.n_best]
    head = {"checkpoint": translator.checkpoint.id, "source": translation.source.text, "source_pieces": pieces}
    return {**head, **n_best[0], "removed": translation.source.removed, "n_best": n_best}


def _told_one(translator: Translator, found: Decoded) -> dict[str, Any]:
    """`log_probabilities` has one entry a piece, `log_probability` is their sum, `score` that with length penalty."""
    return {
        "translation": translator.target_tokenizer.decode(found.ids),
        "pieces": [translator.target_tokenizer.piece(id_) for id_ in found.ids],
        "log_probabilities": [step.log_probability for step in found.steps],
        "log_probability": found.log_probability,
        "score": found.score,
        "finished": found.finished,
    }


def trace(arguments: Namespace) -> int:
    """Writes the trace and prints what it is of."""
    torch.set_num_threads(1)
    translator = Translator.load(find_checkpoint(arguments.checkpoint))
    decoding = decoding_of(arguments.beam, alternatives=DecodingConfig().alternatives)
    recorded = translator.trace(arguments.text, target=arguments.target, decoding=decoding)
    recorded.save(arguments.output)
    print(
        f"{recorded.source_text} → {recorded.target_text}\n"
        f"{arguments.output}: {len(recorded.source_tokens)} source and {len(recorded.predicted_tokens)} target tokens, "
        f"{recorded.encoder_self.layers} layers, {recorded.encoder_self.heads} heads, "
        f"log-probability {recorded.log_probability:.3f}, {arguments.output.stat().st_size / 1e6:.2f} MB."
    )
    return 0


def info(arguments: Namespace) -> int:
    """Prints settings, parameters by part, metrics, and each file with its size, once its SHA-256 has been checked."""
    if arguments.shape is not None:
        return _tell_shape(arguments.shape)
    folder = find_checkpoint(arguments.checkpoint)
    checkpoint, config = load_checkpoint(folder), read_config(folder)
    sizes = {file: len(read_file(folder, file, config)) for file in config["sha256"]}
    parts = Counter[str]()
    for name, parameter in checkpoint.model.named_parameters():
        parts[name.split(".")[0].replace("_", " ")] += parameter.numel()
    shared = {"all": ", shared by source, target and output", "output": ", target and output shared", "none": ""}
    print(f"{checkpoint.id}\n")
    _print_section("about", _about_rows(checkpoint.about))
    _print_section("model", _rows(config["model"]))
    total = f"{checkpoint.model.parameter_count():,}{shared[checkpoint.model.config.sharing]}"
    _print_section("parameters", [*((part, f"{count:,}") for part, count in parts.items()), ("together", total)])
    _print_section("training", _rows(checkpoint.training))
    _print_section("metrics", _rows(checkpoint.metrics))
    hashes = config["sha256"]
    _print_section("files, SHA-256 right", [(f, f"{size:>12,} bytes  {hashes[f]}") for f, size in sizes.items()])
    return 0


def _tell_shape(text: str) -> int:
    """Prints the parameters by part of a model that need not exist, and its memory with and without sharing."""
    from model_core.experiments.sizes import BYTES_PER_NUMBER, shape_of, size_of

    size, parts = size_of(shape_of(text)), Counter[str]()
    for part in size.parts:
        parts[f"{'' if part.stack == 'ends' else part.stack + ' '}{part.part}"] += part.own
    megabytes = {count: f"{count * BYTES_PER_NUMBER / 1e6:,.1f} MB" for count in (size.parameters, size.unshared)}
    _print_section("parameters", [(name, f"{count:,}") for name, count in parts.items() if count])
    _print_section(
        "together, float32",
        [
            ("as it is", f"{size.parameters:,}  {megabytes[size.parameters]}"),
            ("without sharing", f"{size.unshared:,}  {megabytes[size.unshared]}"),
        ],
    )
    return 0


def _about_rows(about: CheckpointAbout) -> list[tuple[str, str]]:
    languages = [("source language", about.source_language), ("target language", about.target_language)]
    return [
        ("kind", about.kind),
        ("task", about.task),
        *((side, f"{language.name} ({language.code})") for side, language in languages if language is not None),
        *(("example", example) for example in about.examples),
    ]


def _print_section(title: str, rows: Sequence[tuple[str, str]]) -> None:
    print(title)
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        print(f"  {name:<{width}}  {value}".rstrip())
    print()


def _rows(data: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Nested JSON as dotted names and values; a list of plain values on one line, other lists counted from 1."""
    rows: list[tuple[str, str]] = []
    for key, value in data.items():
        if isinstance(value, list) and any(isinstance(entry, dict | list) for entry in value):
            value = {str(number): entry for number, entry in enumerate(value, 1)}
        if isinstance(value, dict):
            rows += _rows(value, f"{before}{key}.")
        elif isinstance(value, list):
            rows.append((f"{before}{key}", ", ".join(map(str, value))))
        else:
            rows.append((f"{before}{key}", f"{value:,.6g}" if isinstance(value, float) else str(value)))
    return rows
