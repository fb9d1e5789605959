"""What map_picker sends and how it settles on a map; how it behaves in a page is tests/browser/test_map_picker.py."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from model_core.trace import SITES, Site, TranslationTrace
from tests.small_traces import small_trace
from viz.components.handshake import Agreement, Report
from viz.components.map_picker.choice import Choice, fit_choice, read_choice, settle_choice
from viz.components.map_picker.pack import LEVELS, Shape, pack_maps, packed_shapes

NASTY = ("<b>bold</b>", "&", '"q"', "$x^2$", "`", "שלום", "你好", "🙂", "\n", "\0", "\ud800", "")
SHAPES: dict[Site, Shape] = {"encoder_self": (2, 5, 7, 7), "decoder_self": (3, 4, 5, 5), "cross": (3, 4, 5, 7)}
LAST = 2  # the last layer of cross-attention


def unpack(packed: bytes) -> tuple[dict[str, Any], dict[str, Any], dict[str, NDArray]]:
    """Header, descriptions, and per site levels `[L, H, Q, K]`, -1 where none was sent; as pack.py lays it out."""
    header, stream = packed.split(b"\n", 1)
    described, cells = zlib.decompress(stream).split(b"\n", 1)
    shapes, maps = json.loads(header)["shapes"], {}
    for site in SITES:
        layers, heads, queries, keys = shapes[site]
        size = -(-queries * keys // 8)
        allowed = np.unpackbits(np.frombuffer(cells[:size], np.uint8))[: queries * keys].astype(bool)
        count = layers * heads * int(allowed.sum())
        maps[site] = np.full((layers, heads, queries * keys), -1, dtype=np.int64)
        sent = np.frombuffer(cells[size : size + count], np.uint8)
        maps[site][:, :, allowed] = sent.reshape(layers, heads, -1)
        maps[site] = maps[site].reshape(layers, heads, queries, keys)
        cells = cells[size + count :]
    assert cells == b""
    return json.loads(header), json.loads(described), maps


def test_every_weight_arrives_within_the_promised_error() -> None:
    trace = small_trace()
    header, _, sent = unpack(pack_maps(trace))
    assert {site: tuple(shape) for site, shape in header["shapes"].items()} == SHAPES
    for site in SITES:
        maps = trace.maps(site)
        assert np.array_equal(sent[site][0, 0] >= 0, maps.allowed)
        error = np.abs((sent[site] / LEVELS) ** 2 - maps.weights)[:, :, maps.allowed]
        assert error.max() <= 0.016


def test_faint_weights_are_not_rounded_to_nothing() -> None:
    trace = small_trace()
    weights = np.full_like(trace.cross.weights, 0.0001)
    _, _, sent = unpack(pack_maps(replace(trace, cross=replace(trace.cross, weights=weights))))
    assert sent["cross"].min() == sent["cross"].max() == 1


def test_only_the_triangle_of_a_causal_map_is_sent() -> None:
    _, _, sent = unpack(pack_maps(small_trace()))
    assert (sent["decoder_self"] >= 0).sum() == 3 * 4 * (5 * 6 // 2)


def test_weights_that_a_hook_put_out_of_range_are_clipped() -> None:
    trace = small_trace()
    weights = trace.cross.weights.copy()
    weights[0, 0, 0, :2] = (-0.5, 7.0)
    _, _, sent = unpack(pack_maps(replace(trace, cross=replace(trace.cross, weights=weights))))
    assert sent["cross"][0, 0, 0, :2].tolist() == [0, LEVELS]


def test_the_strongest_weight_of_each_head_and_of_the_mean_is_told() -> None:
    trace = small_trace()
    _, described, _ = unpack(pack_maps(trace))
    for site in SITES:
        maps = trace.maps(site)
        for layer in range(maps.layers):
            told = described[site]["strongest"][layer]
            assert len(told) == maps.heads + 1
            for head, (query, key, weight) in enumerate(told):
                one = maps.map(layer, head if head < maps.heads else None)
                assert maps.allowed[query, key]
                free = maps.allowed.sum(axis=1) > 1  # a row with one key has no choice
                assert one[query, key] == one[free].max() == pytest.approx(weight, abs=1e-4)


def test_a_map_of_zeros_points_at_an_allowed_cell() -> None:
    trace = small_trace()
    allowed = ~np.eye(5, 7, dtype=bool)
    cross = replace(trace.cross, weights=np.zeros_like(trace.cross.weights), allowed=allowed)
    _, described, _ = unpack(pack_maps(replace(trace, cross=cross)))
    assert described["cross"]["strongest"][0][0] == [0, 1, 0.0]


def test_tokens_arrive_as_typed_with_symbols_for_what_cannot_be_seen() -> None:
    _, described, _ = unpack(pack_maps(small_trace(source=NASTY)))
    assert described["cross"]["keys"][:8] == list(NASTY[:8])
    assert described["cross"]["keys"][8:] == ["␤", "␀", "\ufffd", "▁"]
    assert described["cross"]["queries"] == ["<s>", "Comment", "allez", "-", "vous"]


def test_equal_traces_pack_to_equal_bytes_and_others_to_another_digest() -> None:
    assert pack_maps(small_trace()) == pack_maps(small_trace())
    digests = {unpack(pack_maps(small_trace(seed=seed)))[0]["digest"] for seed in range(3)}
    assert len(digests) == 3


@pytest.mark.parametrize("worst", [False, True])
def test_a_long_sentence_stays_below_the_size_that_the_page_is_allowed(worst: bool) -> None:
    texts = ["<s>", *(f"piece{i}" for i in range(64)), "</s>"]
    trace = small_trace(texts, texts[:-1], encoder=(6, 8), decoder=(6, 8))
    if worst:  # each level as often as the others: nothing to deflate
        generator = np.random.default_rng(0)
        for site in SITES:
            roots = generator.random(trace.maps(site).weights.shape, dtype=np.float32)
            trace = replace(trace, **{site: replace(trace.maps(site), weights=roots**2)})
    assert len(pack_maps(trace)) < 400_000


@pytest.mark.parametrize("damaged", [b"", b"no maps", b"{}\n", b'{"shapes": 3}\n', b"[1]\n", b"\xff\n"])
def test_bytes_of_something_else_are_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=f"These {len(damaged)} bytes are no maps"):
        packed_shapes(damaged)


def test_shapes_can_be_read_from_the_packed_bytes() -> None:
    assert packed_shapes(pack_maps(small_trace())) == SHAPES


@pytest.mark.parametrize(
    ("choice", "fitting"),
    [
        (Choice("cross", 1, 3), Choice("cross", 1, 3)),
        (Choice("cross", 1, None), Choice("cross", 1, None)),
        (Choice("cross", 7, 1), Choice("cross", LAST, 1)),
        (Choice("cross", -1, 1), Choice("cross", 0, 1)),
        (Choice("cross", 1, 4), Choice("cross", 1, None)),
        (Choice("encoder_self", 2, 4), Choice("encoder_self", 1, 4)),
    ],
)
def test_a_choice_that_does_not_exist_is_replaced(choice: Choice, fitting: Choice) -> None:
    assert fit_choice(choice, SHAPES) == fitting


def test_an_unknown_site_is_an_error_that_names_the_sites() -> None:
    with pytest.raises(ValueError, match="no site 'memory'; the sites are encoder_self, decoder_self, cross"):
        fit_choice(Choice("memory", 0, 0), SHAPES)  # type: ignore[arg-type]


STATE = {"site": "cross", "layer": 1, "head": None, "token": "a"}


def test_the_components_state_is_read() -> None:
    assert read_choice({"choice": STATE}) == Report(Choice("cross", 1, None), "a")


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {"choice": None},
        {"choice": 3},
        *({"choice": STATE | wrong} for wrong in (
            {"site": "memory"}, {"site": ["cross"]}, {"layer": None}, {"layer": "1"}, {"head": 0.5}, {"token": None},
        )),
    ],
)  # fmt: skip
def test_a_state_that_no_component_makes_is_none(state: Any) -> None:
    assert read_choice(state) is None


class Page:
    """The component in the browser and the script that calls it, as far as choosing goes."""

    def __init__(self) -> None:
        self.memory: Agreement[Choice] | None = None
        self.shown: Choice | None = None
        self.token = ""
        self.state: Report[Choice] | None = None

    def pick(self, choice: Choice) -> None:
        self.shown = choice
        self.state = Report(choice, self.token)

    def run(self, site: Site, layer: int | None, head: int | None, *, reaches_page: bool = True) -> Choice:
        self.memory = settle_choice(self.memory, site, layer, head, self.state, SHAPES)
        if reaches_page and self.token != self.memory.token:
            self.token, self.shown = self.memory.token, self.memory.sent
        return self.memory.chosen


FIRST, SECOND, THIRD = Choice("cross", 0, 1), Choice("cross", 1, None), Choice("decoder_self", 2, 3)


def test_the_first_run_shows_what_the_caller_passes() -> None:
    page = Page()
    assert page.run(*FIRST) == page.shown == FIRST


def test_no_wish_is_the_last_layer_at_first_and_the_chosen_one_later() -> None:
    page = Page()
    assert page.run("cross", None, 2) == Choice("cross", LAST, 2)
    page.pick(SECOND)
    page.run(*SECOND)
    assert page.run("cross", None, None) == SECOND


def test_a_pick_wins_over_the_callers_older_value_and_tells_the_page_nothing() -> None:
    page = Page()
    page.run(*FIRST)
    token = page.token
    page.pick(SECOND)
    assert page.run(*FIRST) == SECOND
    assert page.run(*SECOND) == page.shown == SECOND
    assert page.token == token


def test_the_page_follows_a_caller_that_wants_another_map() -> None:
    page = Page()
    page.run(*FIRST)
    page.pick(SECOND)
    page.run(*FIRST)
    assert page.run(*THIRD) == page.shown == THIRD
    assert page.run(*THIRD) == page.shown == THIRD


def test_the_same_pick_after_the_caller_overruled_it_counts_again() -> None:
    page = Page()
    page.run(*FIRST)
    page.pick(SECOND)
    page.run(*FIRST)
    page.run(*THIRD)
    page.pick(SECOND)
    assert page.run(*THIRD) == page.shown == SECOND


def test_a_pick_from_before_the_page_heard_of_the_callers_wish_wins() -> None:
    page = Page()
    page.run(*FIRST)
    page.run(*THIRD, reaches_page=False)
    page.pick(SECOND)
    assert page.run(*THIRD) == page.shown == SECOND


def test_a_smaller_trace_moves_the_choice_to_what_it_has() -> None:
    memory = settle_choice(None, "cross", 2, 3, None, SHAPES)
    smaller: dict[Site, Shape] = {**SHAPES, "cross": (1, 2, 5, 7)}
    moved = settle_choice(memory, *memory.chosen, None, smaller)
    assert moved.chosen == moved.sent == Choice("cross", 0, None)
    assert moved.token != memory.token


choices = st.builds(Choice, st.sampled_from(SITES), st.integers(0, 1), st.none() | st.integers(0, 3))


@given(st.lists(st.tuples(st.booleans(), choices), max_size=11))
def test_page_and_script_never_disagree(moves: list[tuple[bool, Choice]]) -> None:
    page, link = Page(), FIRST
    page.run(*link)
    for by_person, choice in moves:
        if by_person:
            page.pick(choice)
        else:
            link = choice
        link = page.run(*link)
        assert link == page.shown == choice


def test_the_trace_is_left_as_it_was() -> None:
    trace: TranslationTrace = small_trace()
    before = trace.cross.weights.copy()
    pack_maps(trace)
    assert np.array_equal(trace.cross.weights, before)
