"""Translate one sentence and record all its attention: this project beside Hugging Face's MarianMT of the same size.

Both run on one thread, in turns, and give what exact float32 gives: greedy first, then with a beam. MarianMT has random
weights (its speed does not depend on them) and is given the same numbers of source and target pieces:
`generate(output_attentions=True)`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from transformers import MarianConfig, MarianMTModel  # pyright: ignore[reportMissingImports]

from model_core.config import EOS_ID, PAD_ID, DecodingConfig, ModelConfig
from model_core.translator import Translator

CHECKPOINT = Path(__file__).parent.parent / "checkpoints" / "en-fr"
PARK = (
    "The children are playing in the park, and their mother is reading a book under the old tree near the river, "
    "because it is not cold at all today."
)
SENTENCES = {  # by their pieces
    12: "I have never seen such a beautiful garden in my life.",
    32: PARK,
    64: PARK
    + " When the sun goes down they will all walk home together, cook some good rice with fish, and tell each other "
    "what they have seen and heard this week.",
}
TARGET_RATIO = 0.5  # at 12 pieces


def marian_of(shape: ModelConfig) -> MarianMTModel:
    """A MarianMT with the shape of our model."""
    config = MarianConfig(
        vocab_size=shape.source_vocabulary,
        d_model=shape.d_model,
        encoder_layers=shape.layers,
        decoder_layers=shape.layers,
        encoder_attention_heads=shape.heads,
        decoder_attention_heads=shape.heads,
        encoder_ffn_dim=shape.d_ff,
        decoder_ffn_dim=shape.d_ff,
        pad_token_id=PAD_ID,
        eos_token_id=EOS_ID,
        decoder_start_token_id=PAD_ID,
        forced_eos_token_id=None,
        attn_implementation="eager",  # the only one that returns its weights
    )
    return MarianMTModel(config).eval()


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of one call, as the processor's time of this thread, which other programs hardly change."""
    started = time.thread_time()
    work()
    return 1000 * (time.thread_time() - started)


def compare(
    translator: Translator, marian: MarianMTModel, sentence: str, rounds: int, beam: int
) -> tuple[int, int, float, float]:
    """Source pieces, target pieces, and the median milliseconds of ours and of MarianMT's, measured in turns.

    `beam` is the width of the beam on both sides; 1 is greedy search.
    """
    decoding = DecodingConfig("beam", beam_width=beam) if beam > 1 else DecodingConfig()
    trace = translator.trace(sentence, decoding=decoding)
    source = torch.tensor([[token.id for token in trace.source_tokens]])
    steps = len(trace.predicted_tokens)

    def theirs() -> object:
        return marian.generate(
            input_ids=source,
            attention_mask=torch.ones_like(source),
            num_beams=beam,
            do_sample=False,
            min_new_tokens=steps,
            max_new_tokens=steps,
            output_attentions=True,
            return_dict_in_generate=True,
        )

    def ours() -> object:
        return translator.trace(sentence, decoding=decoding)

    for work in (ours, theirs):
        work()
    pairs = [(timed(ours), timed(theirs)) for _ in range(rounds)]
    medians = [statistics.median(times) for times in zip(*pairs, strict=True)]
    return len(trace.source_tokens) - 2, steps - 1, medians[0], medians[1]


def table(translator: Translator, marian: MarianMTModel, rounds: int, beam: int) -> dict[int, float]:
    """Prints a line a sentence and returns the ratios of ours to MarianMT's, by source pieces."""
    print("Greedy search" if beam == 1 else f"Beam search of width {beam}")
    print("source  target      ours  MarianMT  ratio")
    ratios = {}
    for pieces, sentence in SENTENCES.items():
        read, written, ours, theirs = compare(translator, marian, sentence, rounds, beam)
        ratios[pieces] = ours / theirs
        print(f"{read:6} {written:7} {ours:6.1f} ms {theirs:6.1f} ms  {ratios[pieces]:5.2f}", flush=True)
    return ratios


def main() -> int:
    """Prints the tables; 1 where the target at 12 pieces is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--beam", type=int, default=4, help="width of the beam of the second table; 0: no such table")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    started = time.perf_counter()
    translator = Translator.load(CHECKPOINT)
    translator.translate("How are you?")
    first = time.perf_counter() - started
    marian = marian_of(translator.config)
    size = sum(p.numel() for p in marian.parameters()) / 1e6
    print(f"Loading the checkpoint and the first translation: {first:.2f} s")
    print(f"Parameters: ours {translator.checkpoint.model.parameter_count() / 1e6:.1f} M, MarianMT {size:.1f} M")
    ratio = table(translator, marian, options.rounds, 1)[12]
    if options.beam > 1:
        table(translator, marian, max(3, options.rounds // 3), options.beam)
    verdict = "met" if ratio <= TARGET_RATIO else "MISSED"
    print(f"Greedy, 12 pieces: {ratio:.2f} of MarianMT's time; the target is {TARGET_RATIO}: {verdict}.")
    return 0 if verdict == "met" else 1


if __name__ == "__main__":
    sys.exit(main())
