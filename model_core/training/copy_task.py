"""Learning to copy: random letters in, the same letters out. Small enough to watch attention being learned."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from model_core.checkpoint.about import CheckpointAbout
from model_core.config import BOS_ID, EOS_ID, DecodingConfig, ModelConfig, TrainingConfig
from model_core.model.transformer import Transformer
from model_core.search.decoding import decode
from model_core.text.tokenizer import Tokenizer, word_tokenizer
from model_core.training.batching import Batch, Example, make_batch
from model_core.training.evaluation import teacher_forced

LETTERS = tuple("abcdefghijklmnop")  # with <pad>, <s>, </s> and <unk> a vocabulary of 20
SHORTEST, LONGEST = 3, 10
HELD_OUT = 1000
BATCHES_AN_EPOCH = 100
ROWS = 64

COPY_ABOUT = CheckpointAbout(task="copy", examples=("a b c d", "d c b a", "a b a b a b", "p o n m l k j i h g"))
COPY_MODEL = ModelConfig(
    source_vocabulary=20,
    target_vocabulary=20,
    layers=2,
    d_model=64,
    d_ff=256,
    heads=4,
    dropout=0.0,
)
COPY_TRAINING = TrainingConfig(
    steps=1200,
    learning_rate=2e-3,
    warmup_steps=100,
    schedule="cosine",
    label_smoothing=0.0,
    precision="fp32",
    validate_every=200,
    save_every=200,
    average_decay=0.98,
)


def copy_tokenizer() -> Tokenizer:
    """The letters as words: "a c b" has three pieces."""
    return word_tokenizer(LETTERS)


def random_sequence(ids: Sequence[int], rng: random.Random, longest: int = LONGEST) -> tuple[int, ...]:
    """SHORTEST to `longest` ids, drawn evenly."""
    return tuple(rng.choices(ids, k=rng.randint(SHORTEST, longest)))


class CopyTask:
    """Endless random sequences to learn from; `held_out` ones, never seen in training, to be judged by."""

    def __init__(
        self, tokenizer: Tokenizer, seed: int = 1, held_out: int = HELD_OUT, longest: int = LONGEST, rows: int = ROWS
    ) -> None:
        self.seed, self.longest, self.rows = seed, longest, rows
        self.ids = tokenizer.encode(" ".join(LETTERS))
        rng = random.Random(f"{seed}/held out")
        distinct: dict[tuple[int, ...], None] = {}
        while len(distinct) < held_out:
            distinct[random_sequence(self.ids, rng, longest)] = None
        self.held_out = list(distinct)
        self._held_out = set(self.held_out)

    def _batch(self, rng: random.Random) -> Batch:
        rows: list[Example] = []
        while len(rows) < self.rows:
            sequence = random_sequence(self.ids, rng, self.longest)
            if sequence not in self._held_out:
                rows.append(Example(list(sequence), list(sequence)))
        return make_batch(rows)

    def epoch(self, index: int) -> Sequence[Callable[[], Batch]]:
        """BATCHES_AN_EPOCH batches of `rows` sequences, which follow from the seed and the index."""
        return [
            lambda batch=batch: self._batch(random.Random(f"{self.seed}/{index}/{batch}"))
            for batch in range(BATCHES_AN_EPOCH)
        ]

    def validate(self, model: Transformer) -> dict[str, float]:
        """Teacher-forced figures on 200 held-out sequences."""
        forced = teacher_forced(model, [make_batch([Example(list(s), list(s)) for s in self.held_out[:200]])])
        return {"validation_loss": forced.loss, "token_accuracy": forced.accuracy}

    def exact_share(self, model: Transformer) -> float:
        """The share of all held-out sequences that greedy decoding copies without a mistake, end included."""
        right = 0
        greedy = DecodingConfig(alternatives=0, max_length=2 * self.longest)
        for start in range(0, len(self.held_out), 100):
            rows = self.held_out[start : start + 100]
            copies = decode(model, [[BOS_ID, *row, EOS_ID] for row in rows], greedy)
            right += sum(best[0].ids == (*row, EOS_ID) for best, row in zip(copies, rows, strict=True))
        return right / len(self.held_out)
