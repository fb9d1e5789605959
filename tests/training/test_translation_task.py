"""Training on sentence pairs: what is held out stays out, epochs repeat, and what is too long is told."""

from dataclasses import replace

import pytest

from model_core.config import TrainingConfig
from model_core.data.corpus import Pair
from model_core.training.translation_task import (
    LONGEST,
    TranslationTask,
    homograph_split,
    joint_tokenizer,
    with_homographs,
)
from tests.small_checkpoint import small_model, small_tokenizer

CONFIG = TrainingConfig(tokens_per_batch=70, join_share=0.3, vary_share=0.3, seed=7)
PAIRS = [
    Pair("How are you?", "Comment allez-vous ?"),
    Pair("How old are you?", "Quel âge as-tu ?"),
    Pair("I don't speak French.", "Je ne parle pas français."),
    Pair("Where is the station?", "Où est la gare ?"),
    Pair("He is not here.", "Il n'est pas là."),
] * 3


def task(config: TrainingConfig = CONFIG, pairs: list[Pair] = PAIRS, valid: list[Pair] = PAIRS[:4]) -> TranslationTask:
    return TranslationTask(small_tokenizer(), pairs, valid, config)


def contents(task: TranslationTask, epoch: int) -> list[list[list[int]]]:
    return [make().source.tolist() + make().decoder_output.tolist() for make in task.epoch(epoch)]


def sides(task: TranslationTask, epoch: int) -> tuple[str, str]:
    """All source and all target text of an epoch, in one string each."""
    decode = task.tokenizer.decode
    batches = [make() for make in task.epoch(epoch)]
    return tuple(" ".join(decode(row) for batch in batches for row in side(batch).tolist()) for side in SIDES)  # type: ignore[return-value]


SIDES = (lambda batch: batch.source, lambda batch: batch.decoder_output)


def test_an_epoch_follows_from_the_seed_and_its_number() -> None:
    one = task()
    assert contents(one, 3) == contents(one, 3) == contents(task(), 3)
    assert contents(one, 3) != contents(one, 4)
    assert contents(one, 3) != contents(task(replace(CONFIG, seed=8)), 3)


def test_every_pair_stands_in_every_epoch() -> None:
    for epoch in range(3):
        _, french = sides(task(), epoch)
        for pair in PAIRS[:5]:
            assert french.count(pair.target) == 3


def test_without_augmentation_an_epoch_is_the_corpus() -> None:
    plain = task(replace(CONFIG, join_share=0.0, vary_share=0.0))
    rows = [row for make in plain.epoch(0) for row in make().source.tolist()]
    found = sorted(plain.tokenizer.decode(row) for row in rows)
    assert found == sorted(pair.source for pair in PAIRS)


def test_what_is_too_long_is_left_out_and_told() -> None:
    notes: list[str] = []
    long = Pair("How " * (LONGEST + 1), "Quel âge ?")
    longer = Pair("How old?", "âge " * (LONGEST + 1))
    exact = Pair("How " * LONGEST, "Quel âge ?")
    config = replace(CONFIG, join_share=0.0, vary_share=0.0)
    one = TranslationTask(small_tokenizer(), [*PAIRS, long, longer, exact], PAIRS[:1], config, notes.append)
    assert len(small_tokenizer().encode(exact.source.strip())) == LONGEST
    rows = [row for make in one.epoch(2) for row in make().source.tolist()]
    assert len(rows) == len(PAIRS) + 1
    assert notes == ["Epoch 2: 2 of 18 examples are longer than 120 pieces."]
    assert TranslationTask(small_tokenizer(), [long], PAIRS[:1], config).epoch(0) == []


def test_a_validation_judges_by_all_references_of_its_first_sentences() -> None:
    valid = [PAIRS[0], Pair("How are you?", "Comment vas-tu ?"), *PAIRS[1:4]]
    assert task(replace(CONFIG, validation_sentences=2), valid=valid).references == [
        ("How are you?", ["Comment allez-vous ?", "Comment vas-tu ?"]),
        ("How old are you?", ["Quel âge as-tu ?"]),
    ]
    assert len(task(replace(CONFIG, validation_sentences=0), valid=valid).references) == 4
    figures = task(valid=valid).validate(small_model())
    assert set(figures) == {"validation_loss", "token_accuracy", "bleu", "chrf"}
    assert figures["validation_loss"] > 1.0 and 0.0 <= figures["token_accuracy"] < 0.5
    again = task(replace(CONFIG, tokens_per_batch=400), valid=valid).validate(small_model())
    assert again == pytest.approx(figures)


def test_the_tokenizer_is_a_joint_one_of_the_size_that_was_asked_for() -> None:
    tokenizer = joint_tokenizer(PAIRS, 300)
    assert tokenizer.vocabulary_size == 300
    assert joint_tokenizer(PAIRS[:5], 300).serialized == tokenizer.serialized, "repeats count once"
    for pair in PAIRS[:5]:
        assert tokenizer.decode(tokenizer.encode(pair.target)) == pair.target


# --- homographs ---


def test_held_out_homographs_never_reach_training() -> None:
    """Not from the set itself, and not from a corpus that happens to have one, however it is spelled."""
    held_out = homograph_split("test")
    corpus = [
        *PAIRS,
        Pair(held_out[0].source.upper().rstrip("."), "Autre chose."),
        Pair("Something else.", held_out[1].target.lower()),
        Pair(held_out[2].source, held_out[2].target),
    ]
    pairs = with_homographs(corpus, 2)
    config = replace(CONFIG, join_share=0.0, vary_share=0.0, tokens_per_batch=4000)
    tokenizer = joint_tokenizer(pairs, 2000)
    english, french = sides(TranslationTask(tokenizer, pairs, PAIRS[:1], config), 0)
    assert pairs[: len(PAIRS)] == PAIRS and len(pairs) == len(PAIRS) + 2 * len(homograph_split("train"))
    for homograph in held_out:
        assert homograph.source.lower().rstrip(".!?") not in english.lower()
        assert homograph.target.lower().rstrip(".!?") not in french.lower()


@pytest.mark.parametrize("repeats", [0, 1, 3])
def test_the_sets_training_sentences_are_repeated(repeats: int) -> None:
    pairs = with_homographs(PAIRS, repeats)
    for homograph in homograph_split("train")[::97]:
        assert pairs.count(Pair(homograph.source, homograph.target)) == repeats
