"""Training on sentence pairs: the joint tokenizer, an epoch's batches, and validation by loss, BLEU and chrF."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from model_core.config import DecodingConfig, TrainingConfig
from model_core.data.corpus import Pair, group_references
from model_core.data.homographs import HOMOGRAPHS, Homograph, read_homographs
from model_core.model.transformer import Transformer
from model_core.text.tokenizer import Tokenizer, train_tokenizer
from model_core.training.augment import augment_epoch
from model_core.training.batching import Batch, Example, bucket_batches, make_batch
from model_core.training.evaluation import score, teacher_forced, translate_all

LONGEST = 120  # pieces of a side: longer examples are left out of training, and their number is told


def homograph_split(split: str) -> list[Homograph]:
    """The sentences of the shipped homograph set that are for "train" or for "test"."""
    return [homograph for homograph in read_homographs(HOMOGRAPHS) if homograph.split == split]


def _bare(sentence: str) -> str:
    return re.sub(r"\W+", " ", sentence.lower()).strip()


def with_homographs(pairs: Sequence[Pair], repeats: int) -> list[Pair]:
    """The corpus plus the homograph set's training sentences, each `repeats` times, less what that set holds out.

    A pair goes out where either of its sentences is held out, compared without case and punctuation.
    """
    held_out = homograph_split("test")
    sources, targets = {_bare(h.source) for h in held_out}, {_bare(h.target) for h in held_out}
    kept = [pair for pair in pairs if _bare(pair.source) not in sources and _bare(pair.target) not in targets]
    added = [Pair(homograph.source, homograph.target) for homograph in homograph_split("train")]
    return kept + added * repeats


def joint_tokenizer(pairs: Sequence[Pair], vocabulary_size: int) -> Tokenizer:
    """One vocabulary for both languages, trained on all distinct sentences."""
    distinct = dict.fromkeys(sentence for pair in pairs for sentence in (pair.source, pair.target))
    return train_tokenizer(distinct, vocabulary_size)


class TranslationTask:
    """Pairs to learn from and pairs to be judged by, as the loop's `Task`.

    `note` is told how many examples an epoch leaves out for their length, if it leaves out any.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        train: Sequence[Pair],
        valid: Sequence[Pair],
        config: TrainingConfig,
        note: Callable[[str], None] | None = None,
    ) -> None:
        self.tokenizer, self.train, self.config, self.note = tokenizer, train, config, note
        self.references = group_references(valid)[: config.validation_sentences or None]
        self.valid_batches = self._in_batches([self.encode(pair) for pair in valid], random.Random(0))

    def encode(self, pair: Pair) -> Example:
        """A pair's ids, without special tokens."""
        return Example(self.tokenizer.encode(pair.source), self.tokenizer.encode(pair.target))

    def _in_batches(self, examples: Sequence[Example], rng: random.Random) -> list[Batch]:
        lengths = [(len(example.source), len(example.target)) for example in examples]
        groups = bucket_batches(lengths, self.config.tokens_per_batch, rng)
        return [make_batch([examples[i] for i in group]) for group in groups]

    def epoch(self, index: int) -> Sequence[Callable[[], Batch]]:
        """The batches of epoch `index`: all that is random in them follows from the seed and the index."""
        rng = random.Random(f"{self.config.seed}/{index}")
        pairs = augment_epoch(self.train, rng, self.config.join_share, self.config.vary_share)
        examples = [self.encode(pair) for pair in pairs]
        short = [e for e in examples if max(len(e.source), len(e.target)) <= LONGEST and e.source and e.target]
        left_out = len(examples) - len(short)
        if left_out and self.note is not None:
            self.note(f"Epoch {index}: {left_out:,} of {len(examples):,} examples are longer than {LONGEST} pieces.")
        lengths = [(len(example.source), len(example.target)) for example in short]
        groups = bucket_batches(lengths, self.config.tokens_per_batch, rng)
        return [lambda group=group: make_batch([short[i] for i in group]) for group in groups]

    def validate(self, model: Transformer) -> dict[str, float]:
        """Loss and accuracy on all of the validation pairs, greedy BLEU and chrF on its first sentences."""
        forced = teacher_forced(model, self.valid_batches)
        figures = {"validation_loss": forced.loss, "token_accuracy": forced.accuracy}
        if self.references:
            sources = [source for source, _ in self.references]
            translations = translate_all(model, self.tokenizer, sources, DecodingConfig(alternatives=0))
            scores = score(translations, [references for _, references in self.references])
            figures |= {"bleu": scores.bleu, "chrf": scores.chrf}
        return figures
