"""How well each cross-attention head aligns words, against eflomal's alignments of the same pairs.

    pip install -r benchmarks/requirements-alignment.txt
    python -m benchmarks.alignment checkpoints/en-fr --train TRAIN.tsv.gz --test TEST.tsv.gz [--save]

eflomal (Östling & Tiedemann 2016) aligns the training and the test pairs together, in both directions; links found in
both are *sure*, links found in one are *possible*. The model reads the reference translation of each test pair (teacher
forcing), so that it is judged on the same words.
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from model_core.checkpoint import load_checkpoint, update_checkpoint
from model_core.data.corpus import Pair, read_pairs
from model_core.trace import TranslationTrace
from model_core.training.attention_statistics import Links, alignment_error_rates, mean_statistics, units
from model_core.translator import Translator


def eflomal_links(pairs: Sequence[Pair], folder: Path) -> tuple[list[Links], list[Links]]:
    """Links source-to-target and target-to-source of each pair; kept in `folder` and taken from there the next time.

    Raises:
        ValueError: the folder holds the links of other pairs.
    """
    files = [folder / "forward", folder / "reverse"]
    if not all(file.exists() for file in files):
        import eflomal  # pyright: ignore[reportMissingImports]

        folder.mkdir(parents=True, exist_ok=True)
        texts = [
            io.StringIO("".join(" ".join(units(text.lower())) + "\n" for text in side))
            for side in ((pair.source for pair in pairs), (pair.target for pair in pairs))
        ]
        forward, reverse = map(str, files)
        eflomal.Aligner().align(texts[0], texts[1], links_filename_fwd=forward, links_filename_rev=reverse)
    directions = [[_links(line) for line in file.read_text().splitlines()] for file in files]
    for file, links in zip(files, directions, strict=True):
        if len(links) != len(pairs):
            raise ValueError(f"{file} links {len(links):,} pairs, but there are {len(pairs):,}: name another folder.")
    return directions[0], directions[1]


def _links(line: str) -> Links:
    numbers = (link.split("-") for link in line.split())
    return frozenset((int(source), int(target)) for source, target in numbers)


def reference_traces(translator: Translator, pairs: Sequence[Pair]) -> Iterator[TranslationTrace]:
    """The trace of each pair's own translation, one at a time."""
    for pair in pairs:
        yield translator.trace(pair.source, target=pair.target)


def heads_averaged(trace: TranslationTrace) -> TranslationTrace:
    """The trace with one head a layer in cross-attention: the mean over its heads."""
    mean = trace.cross.weights.mean(axis=1, keepdims=True)
    return replace(trace, cross=replace(trace.cross, weights=mean))


def best_of(rates: NDArray[np.float64]) -> dict[str, float | int]:
    """The layer and head (from 0) with the lowest error rate."""
    layer, head = np.unravel_index(int(np.argmin(rates)), rates.shape)
    return {"layer": int(layer), "head": int(head), "error_rate": round(float(rates[layer, head]), 4)}


def main() -> None:
    """Prints the error rates, the best heads and how specialised the heads are; saves them where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=500, help="test pairs that are judged")
    parser.add_argument(
        "--links", type=Path, help="folder for eflomal's links, which take minutes; reused if they are there"
    )
    parser.add_argument("--save", action="store_true", help="write the figures into metrics.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    test = list({pair.source: pair for pair in read_pairs(options.test)}.values())[: options.limit]
    pairs = [*test, *read_pairs(options.train)]
    with tempfile.TemporaryDirectory() as folder:
        forward, reverse = eflomal_links(pairs, options.links or Path(folder))
    references = [(f & r, f | r) for f, r in zip(forward[: len(test)], reverse[: len(test)], strict=True)]
    translator = Translator(load_checkpoint(options.checkpoint))
    report: dict[str, object] = {"aligner": "eflomal, sure = both directions, possible = either", "pairs": len(test)}
    traces = list(reference_traces(translator, test))
    for name, shifted in (("predicting_row", False), ("fed_row", True)):
        rates = alignment_error_rates(traces, references, shifted)
        mean = alignment_error_rates(map(heads_averaged, traces), references, shifted)[:, 0]
        report[name] = {
            "error_rate": np.round(rates, 4).tolist(),
            "best": best_of(rates),
            "mean_of_heads": np.round(mean, 4).tolist(),
        }
        print(f"{name}: best head {best_of(rates)}; the mean over the heads of each layer {np.round(mean, 3).tolist()}")
    statistics = mean_statistics(traces[:200])
    print(json.dumps(report, indent=1))
    if options.save:
        metrics = dict(translator.checkpoint.metrics) | {"alignment": report, "heads": statistics}
        update_checkpoint(options.checkpoint, metrics=metrics)


if __name__ == "__main__":
    main()
