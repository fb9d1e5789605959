"""How close the encodings of sentences that mean the same are, beside those of sentences that do not.

python -m benchmarks.encodings checkpoints/en-fr [--save]
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model_core.checkpoint import load_checkpoint, update_checkpoint
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


def mean_encoding(translator: Translator, text: str) -> NDArray[np.float64]:
    """Mean over the source tokens of the encoder's output: `[d_model]`."""
    return translator.trace(text).encoder_states[-1].mean(axis=0, dtype=np.float64)


def cosine(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Cosine of the angle between two vectors."""
    return float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))


def main() -> None:
    """Prints the cosines; saves them where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--save", action="store_true", help="write the figures into metrics.json")
    options = parser.parse_args()
    translator = Translator(load_checkpoint(options.checkpoint))
    same = {
        f"{first} / {second}": round(cosine(mean_encoding(translator, first), mean_encoding(translator, second)), 4)
        for first, second in SAME_MEANING
    }
    vectors = [mean_encoding(translator, text) for text in UNRELATED]
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
