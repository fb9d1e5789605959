"""Batches: what a row holds, what fits, and that nothing is lost."""

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model_core.training.batching import Batch, Example, bucket_batches, make_batch, shard

EXAMPLES = [
    Example([11, 12, 13, 14, 15], [21, 22, 23]),
    Example([16], [24, 25, 26, 27, 28, 29, 30]),
    Example([17, 18, 19], []),
]
lengths_lists = st.lists(st.tuples(st.integers(0, 70), st.integers(0, 50)), max_size=120)


def rows(batch: Batch) -> list[list[list[int]]]:
    return [ids.tolist() for ids in (batch.source, batch.decoder_input, batch.decoder_output)]


def cells(batch: list[int], lengths: list[tuple[int, int]]) -> int:
    """Source and decoder positions of a batch, with special tokens and padding."""
    return len(batch) * (max(lengths[i][0] + 2 for i in batch) + max(lengths[i][1] + 1 for i in batch))


def test_a_batch_has_special_tokens_and_padding() -> None:
    source, decoder_input, decoder_output = rows(make_batch(EXAMPLES))
    assert source == [[1, 11, 12, 13, 14, 15, 2], [1, 16, 2, 0, 0, 0, 0], [1, 17, 18, 19, 2, 0, 0]]
    assert decoder_input == [[1, 21, 22, 23, 0, 0, 0, 0], [1, 24, 25, 26, 27, 28, 29, 30], [1, 0, 0, 0, 0, 0, 0, 0]]
    assert decoder_output == [[21, 22, 23, 2, 0, 0, 0, 0], [24, 25, 26, 27, 28, 29, 30, 2], [2, 0, 0, 0, 0, 0, 0, 0]]


def test_a_batch_is_int64_and_counts_its_target_tokens() -> None:
    batch = make_batch(EXAMPLES)
    assert {ids.dtype for ids in (batch.source, batch.decoder_input, batch.decoder_output)} == {torch.int64}
    assert batch.target_tokens == 4 + 8 + 1


def test_a_batch_moves_to_a_device_whole() -> None:
    batch = make_batch(EXAMPLES).to("meta")
    assert {ids.device.type for ids in (batch.source, batch.decoder_input, batch.decoder_output)} == {"meta"}
    assert batch.source.shape == (3, 7) and batch.decoder_input.shape == batch.decoder_output.shape == (3, 8)


def test_a_batch_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 1 example; it got 0"):
        make_batch([])


@given(lengths_lists, st.integers(1, 300), st.integers())
def test_every_index_stands_in_one_batch_that_fits(
    lengths: list[tuple[int, int]], tokens_per_batch: int, seed: int
) -> None:
    batches = bucket_batches(lengths, tokens_per_batch, random.Random(seed))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert all(batches)
    for batch in batches:
        assert len(batch) == 1 or cells(batch, lengths) / 2 <= tokens_per_batch


def corpus_like_lengths(count: int) -> list[tuple[int, int]]:
    rng = random.Random(13)
    sources = [max(1, int(rng.lognormvariate(2, 0.4))) for _ in range(count)]
    return [(source, max(1, round(source * rng.uniform(0.8, 1.6)))) for source in sources]


def test_batches_are_full_and_hold_little_padding() -> None:
    lengths = corpus_like_lengths(5_003)
    batches = bucket_batches(lengths, 701, random.Random(2))
    positions = sum(cells(batch, lengths) for batch in batches)
    assert sum(source + 2 + target + 1 for source, target in lengths) / positions > 0.9
    assert sorted(cells(batch, lengths) / 2 / 701 for batch in batches)[len(batches) // 2] > 0.9


def test_batches_depend_on_the_seed_alone_and_differ_between_epochs() -> None:
    lengths = corpus_like_lengths(1_009)
    first, again, other = (bucket_batches(lengths, 503, random.Random(seed)) for seed in (1, 1, 2))
    assert first == again
    assert {frozenset(batch) for batch in first} != {frozenset(batch) for batch in other}


def test_batches_do_not_come_shortest_first() -> None:
    lengths = corpus_like_lengths(1_009)
    longest = [max(lengths[i][1] for i in batch) for batch in bucket_batches(lengths, 503, random.Random(1))]
    assert longest != sorted(longest) and longest != sorted(longest, reverse=True)


def test_no_room_for_a_token_is_an_error() -> None:
    with pytest.raises(ValueError, match="tokens_per_batch is 0"):
        bucket_batches([(3, 5)], 0, random.Random(1))


def test_shards_are_every_nth_row_at_the_global_width() -> None:
    batch = make_batch([Example([i] * i, [10 + i] * (8 - i)) for i in range(1, 8)])
    shards = [shard(batch, rank, 3) for rank in range(3)]
    assert [part.source[:, 1].tolist() for part in shards] == [[1, 4, 7], [2, 5], [3, 6]]
    for rank, part in enumerate(shards):
        for name in ("source", "decoder_input", "decoder_output"):
            assert torch.equal(getattr(part, name), getattr(batch, name)[[i for i in range(7) if i % 3 == rank]])
    assert sum(part.target_tokens for part in shards) == batch.target_tokens


def test_a_shard_can_be_empty_and_a_wrong_rank_is_an_error() -> None:
    batch = make_batch(EXAMPLES)
    assert shard(batch, 4, 5).source.shape == (0, 7)
    assert shard(batch, 4, 5).target_tokens == 0
    for rank in (-1, 5):
        with pytest.raises(ValueError, match=f"0 to 4 among 5 processes; it is {rank}"):
            shard(batch, rank, 5)
