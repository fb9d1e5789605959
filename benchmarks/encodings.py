"""How close the encodings of sentences that mean the same are, beside those of sentences that do not.

python -m benchmarks.encodings checkpoints/en-fr [--save]
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np

from model_core.checkpoint import load_checkpoint, update_checkpoint
from model_core.experiments.meaning import cosine, encode_all
from model_core.translator import Translator

SAME_MEANING = (
    ("I don't speak French.", "I do not speak French."),
    ("He isn't at home.", "He is not at home."),
    ("We can't wait.", "We cannot wait."),
    ("How are you?", "how are you"),
)
UNRELATED = (
    "I don't speak French.",
    "The children are playing in the park.",
    "He bought a new car last year.",
    "What time does the train leave?",
    "She opened the window.",
    "My brother is taller than me.",
)


def main() -> None:
    """Prints the cosines; saves them where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--save", action="store_true", help="write the figures into metrics.json")
    options = parser.parse_args()
    translator = Translator(load_checkpoint(options.checkpoint))
    same = {}
    for pair in SAME_MEANING:
        first, second = (encoded.mean for encoded in encode_all(translator, pair))
        same[" / ".join(pair)] = round(cosine(first, second), 4)
    vectors = [encoded.mean for encoded in encode_all(translator, UNRELATED)]
    unrelated = [cosine(*pair) for pair in itertools.combinations(vectors, 2)]
    report = {
        "same_meaning": same,
        "unrelated_mean": round(float(np.mean(unrelated)), 4),
        "unrelated_highest": round(float(np.max(unrelated)), 4),
        "unrelated_pairs": len(unrelated),
    }
    for name, value in report.items():
        print(f"{name}: {value}")
    if options.save:
        update_checkpoint(options.checkpoint, metrics=dict(translator.checkpoint.metrics) | {"encodings": report})


if __name__ == "__main__":
    main()
