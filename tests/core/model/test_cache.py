"""The key/value cache: what it holds, and what a beam does to it."""

import torch

from model_core.model.cache import KeyValueCache, LayerCache

# B 3, H 2, d_head 5


def keys(length: int, start: int = 0) -> torch.Tensor:
    """Every number says where it belongs: 100 x row + position."""
    rows = 100.0 * torch.arange(3)[:, None, None, None]
    return (rows + torch.arange(start, start + length)[:, None]).expand(3, 2, length, 5)


def test_new_positions_go_behind_the_old_ones() -> None:
    cache = LayerCache()
    key, value = cache.append(keys(4), -keys(4))
    assert torch.equal(key, keys(4)) and torch.equal(value, -keys(4))
    key, value = cache.append(keys(1, start=4), -keys(1, start=4))
    assert torch.equal(key, keys(5)) and torch.equal(value, -keys(5))
    assert cache.key is key and cache.value is value


def test_an_empty_cache_has_no_positions() -> None:
    cache = KeyValueCache.empty(7)
    assert len(cache.layers) == 7 and cache.length == 0
    cache.layers[0].append(keys(4), keys(4))
    assert cache.length == 4
    assert cache.layers[1].key is None, "layers must not share their memory"


def test_rows_are_dropped_copied_and_reordered_everywhere() -> None:
    cache = KeyValueCache.empty(2)
    for layer in cache.layers:
        layer.append(keys(4), -keys(4))
        layer.memory_key, layer.memory_value = keys(7) + 0.25, keys(7) + 0.5
    rows = torch.tensor([2, 0, 2, 2])
    cache.select(rows)
    for layer in cache.layers:
        assert layer.key is not None and torch.equal(layer.key, keys(4)[rows])
        assert layer.value is not None and torch.equal(layer.value, -keys(4)[rows])
        assert layer.memory_key is not None and torch.equal(layer.memory_key, keys(7)[rows] + 0.25)
        assert layer.memory_value is not None and torch.equal(layer.memory_value, keys(7)[rows] + 0.5)


def test_selecting_from_an_empty_cache_changes_nothing() -> None:
    cache = KeyValueCache.empty(1)
    cache.select(torch.tensor([0]))
    assert cache.length == 0 and cache.layers[0].memory_key is None


def test_the_memory_can_be_left_alone() -> None:
    cache = KeyValueCache.empty(1)
    [layer] = cache.layers
    layer.append(keys(4), -keys(4))
    layer.memory_key, layer.memory_value = keys(7) + 0.25, keys(7) + 0.5
    memory = layer.memory_key, layer.memory_value
    cache.select(torch.tensor([2, 0, 1]), memory=False)
    assert layer.key is not None and torch.equal(layer.key, keys(4)[[2, 0, 1]])
    assert layer.memory_key is memory[0] and layer.memory_value is memory[1]


def test_a_cut_cache_has_the_first_positions_and_all_of_the_memory() -> None:
    cache = KeyValueCache.empty(2)
    for layer in cache.layers:
        layer.append(keys(5), -keys(5))
        layer.memory_key, layer.memory_value = keys(7) + 0.25, keys(7) + 0.5
    for length in (3, 0):
        cache.cut(length)
        assert cache.length == length
        for layer in cache.layers:
            assert layer.memory_key is not None and layer.memory_key.shape[2] == 7
    key, value = cache.layers[1].append(keys(2), -keys(2))
    assert torch.equal(key, keys(2)) and torch.equal(value, -keys(2))
    cache.cut(1)
    assert torch.equal(cache.layers[1].append(keys(1, 1), keys(1, 1))[0], keys(2))
