"""How well each cross-attention head aligns words, against eflomal's alignments of the same pairs.

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
from pathlib import Path

import numpy as np
import torch

from model_core.checkpoint import load_checkpoint, update_checkpoint
from model_core.trace import TranslationTrace
from model_core.training.attention_statistics import Links, alignment_error_rates, mean_statistics, units
from model_core.training.corpus import Pair, read_pairs
from model_core.translator import Translator


def eflomal_links(pairs: Sequence[Pair]) -> tuple[list[Links], list[Links]]:
    """Links source-to-target and target-to-source of each pair."""
    import eflomal  # pyright: ignore[reportMissingImports]

    texts = [
        io.StringIO("".join(" ".join(units(text.lower())) + "\n" for text in side))
        for side in ((pair.source for pair in pairs), (pair.target for pair in pairs))
    ]
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / name) for name in ("forward", "reverse")]
        eflomal.Aligner().align(texts[0], texts[1], links_filename_fwd=files[0], links_filename_rev=files[1])
        forward, reverse = ([_links(line) for line in Path(file).read_text().splitlines()] for file in files)
    return forward, reverse


def _links(line: str) -> Links:
    numbers = (link.split("-") for link in line.split())
    return frozenset((int(source), int(target)) for source, target in numbers)


def read_aloud(translator: Translator, pairs: Sequence[Pair]) -> Iterator[TranslationTrace]:
    """The trace of each pair's own translation, one at a time."""
    for pair in pairs:
        yield translator.trace(pair.source, target=pair.target)


def main() -> None:
    """Prints the error rates, the best heads and how specialised the heads are; saves them where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=500, help="test pairs that are judged")
    parser.add_argument("--save", action="store_true", help="write the figures into metrics.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    test = list({pair.source: pair for pair in read_pairs(options.test)}.values())[: options.limit]
    forward, reverse = eflomal_links([*test, *read_pairs(options.train)])
    references = [(f & r, f | r) for f, r in zip(forward[: len(test)], reverse[: len(test)], strict=True)]
    translator = Translator(load_checkpoint(options.checkpoint))
    report = {"aligner": "eflomal, sure = both directions, possible = either", "pairs": len(test)}
    for name, shifted in (("predicting_row", False), ("fed_row", True)):
        rates = alignment_error_rates(read_aloud(translator, test), references, shifted)
        layer, head = np.unravel_index(int(np.argmin(rates)), rates.shape)
        report[name] = {
            "error_rate": np.round(rates, 4).tolist(),
            "best": {"layer": int(layer), "head": int(head), "error_rate": round(float(rates[layer, head]), 4)},
        }
        print(f"{name}: best is layer {layer + 1}, head {head + 1}, alignment error rate {rates[layer, head]:.3f}")
    statistics = mean_statistics(read_aloud(translator, test[:200]))
    print(json.dumps(report, indent=1))
    if options.save:
        metrics = dict(translator.checkpoint.metrics) | {"alignment": report, "heads": statistics}
        update_checkpoint(options.checkpoint, metrics=metrics)


if __name__ == "__main__":
    main()
