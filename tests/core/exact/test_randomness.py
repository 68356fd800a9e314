"""The source of all coins: what it returns, that it repeats when told to, and never otherwise."""

import copy
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact.randomness import Randomness

counts = st.integers(0, 300)


def everything(source: Randomness) -> tuple[Any, ...]:
    """Use every method once."""
    return (
        source.draw_bytes(40_000),
        source.bits(137),
        source.below(10**30),
        source.words(9).tolist(),
        source.below_each(np.array([3, 10, 2**40])).tolist(),
        source.below_many(10, 3).tolist(),
        source.choose(7, 50).tolist(),
        source.draw_bytes(5),
    )


def test_a_seed_repeats_everything(seed: int) -> None:
    assert everything(Randomness.seeded(seed)) == everything(Randomness.seeded(seed))


def test_another_seed_gives_other_bits(seed: int) -> None:
    """256 bits in common: a false alarm in 2^256."""
    one, other = Randomness.seeded(seed), Randomness.seeded(seed + 1)
    assert one.draw_bytes(32) != other.draw_bytes(32)


def test_only_a_secure_source_says_that_it_is_private(seed: int) -> None:
    assert Randomness.secure().is_private
    assert not Randomness.seeded(seed).is_private


def test_secure_sources_have_nothing_in_common() -> None:
    """A false alarm in 2^256, four hundred pairs: 2^-247."""
    assert len({Randomness.secure().draw_bytes(32) for _ in range(30)}) == 30


def test_a_source_never_repeats_a_block() -> None:
    source = Randomness.secure()
    blocks = [source.draw_bytes(16) for _ in range(5000)]
    blocks += [source.draw_bytes(1 << 16)[i : i + 16] for i in range(0, 1 << 16, 16)]
    assert len(set(blocks)) == len(blocks)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_coins_of_its_own() -> None:
    """The same noise twice would cancel out; bits already buffered count too."""
    source = Randomness.secure()
    source.draw_bytes(8)
    childs_end, parents_end = fork_and_read(source)
    assert parents_end != childs_end
    assert len(childs_end) == len(parents_end) == 32


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_child_repeats_a_seed(seed: int) -> None:
    """The test above has teeth: a source that is not keyed anew says the same in both."""
    childs_end, parents_end = fork_and_read(Randomness.seeded(seed))
    assert parents_end == childs_end


def fork_and_read(source: Randomness) -> tuple[bytes, bytes]:
    """Draw 32 bytes in a child and in this process from what was one source."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, source.draw_bytes(32))
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        return pipe.read(), source.draw_bytes(32)


@given(sizes=st.lists(st.sampled_from([0, 1, 7, 8, 1000, 1 << 14, (1 << 14) + 1, 1 << 17])))
def test_as_many_bytes_come_as_were_asked_for(sizes: list[int]) -> None:
    source = Randomness.seeded(0)
    assert [len(source.draw_bytes(size)) for size in sizes] == sizes


@given(count=counts)
def test_bits_stay_below_their_power_of_two(count: int) -> None:
    source = Randomness.seeded(count)
    assert all(0 <= source.bits(count) < 2**count for _ in range(20))


def test_every_bit_of_a_long_integer_is_drawn(seed: int) -> None:
    """Each of 1,000 bits is missing from 60 draws with probability 2^-60: 1e-15 in all."""
    source, seen = Randomness.seeded(seed), 0
    for _ in range(60):
        seen |= source.bits(1000)
    assert seen == 2**1000 - 1


@given(bound=st.one_of(st.integers(1, 1000), st.integers(1, 2**200)))
def test_a_draw_stays_below_its_bound(bound: int) -> None:
    source = Randomness.seeded(bound)
    assert all(0 <= source.below(bound) < bound for _ in range(20))


@given(count=counts)
def test_words_come_in_the_number_asked_for(count: int) -> None:
    words = Randomness.seeded(count).words(count)
    assert words.shape == (count,)
    assert words.dtype == np.uint64


@given(bounds=st.lists(st.integers(1, 2**63 - 1), max_size=60))
def test_every_draw_stays_below_its_own_bound(bounds: list[int]) -> None:
    draws = Randomness.seeded(len(bounds)).below_each(np.array(bounds, dtype=np.int64))
    assert draws.shape == (len(bounds),)
    assert draws.dtype == np.int64
    assert all(0 <= draw < bound for draw, bound in zip(draws.tolist(), bounds, strict=True))


@given(bound=st.integers(1, 2**63 - 1), count=counts)
def test_draws_below_one_bound_are_those_below_equal_bounds(bound: int, count: int) -> None:
    """Up to a third of all words is drawn again for large bounds; still the same draws."""
    draws = Randomness.seeded(count).below_many(bound, count)
    assert draws.tolist() == Randomness.seeded(count).below_each(np.full(count, bound)).tolist()


@given(bound=st.integers(2, 2**32 - 1), count=st.integers(0, 50) | st.integers(16_380, 33_000))
def test_every_small_draw_stays_below_its_bound(bound: int, count: int) -> None:
    draws = Randomness.seeded(count).small_below_many(bound, count)
    assert draws.shape == (count,)
    assert draws.dtype == np.uint32
    assert not count or draws.max() < bound


@given(among=st.integers(0, 400), share=st.floats(0, 1))
def test_a_choice_is_increasing_and_within_range(among: int, share: float) -> None:
    count = round(share * among)
    chosen = Randomness.seeded(among).choose(count, among).tolist()
    assert chosen == sorted(set(chosen))
    assert len(chosen) == count
    assert all(0 <= position < among for position in chosen)


@pytest.mark.parametrize("among", [0, 1, 5, 1000])
def test_choosing_none_or_all_needs_no_luck(among: int, seed: int) -> None:
    source = Randomness.seeded(seed)
    assert source.choose(0, among).tolist() == []
    assert source.choose(among, among).tolist() == list(range(among))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_source_cannot_be_copied(copied: Callable[[Randomness], object]) -> None:
    """Two sources with one key would draw the same noise, which cancels out."""
    with pytest.raises(TypeError, match="cannot be copied"):
        copied(Randomness.secure())


def test_nothing_is_drawn_below_one_and_no_more_is_chosen_than_there_is() -> None:
    with pytest.raises(BrokenInvariantError, match="below 1"):
        Randomness.seeded(1).below(0)
    with pytest.raises(BrokenInvariantError, match="below 1"):
        Randomness.seeded(1).below_many(0, 5)
    for bound in (0, 1, 2**32):
        with pytest.raises(BrokenInvariantError, match="2 or more, below 2\\^32"):
            Randomness.seeded(1).small_below_many(bound, 5)
    with pytest.raises(BrokenInvariantError, match="no more can be chosen"):
        Randomness.seeded(1).choose(7, among=5)


def test_threads_never_get_the_same_bytes() -> None:
    source = Randomness.secure()
    with ThreadPoolExecutor(8) as threads:
        drawn = list(threads.map(lambda _: source.draw_bytes(16), range(20_000), chunksize=100))
    assert len(set(drawn)) == len(drawn)


def test_a_keyed_source_repeats_itself_and_is_private() -> None:
    first, second = (Randomness.keyed(b"k" * 32) for _ in range(2))
    assert first.is_private
    assert first.draw_bytes(64) == second.draw_bytes(64)
    assert Randomness.keyed(b"l" * 32).draw_bytes(64) != Randomness.keyed(b"k" * 32).draw_bytes(64)


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(BrokenInvariantError, match="32 bytes"):
        Randomness.keyed(b"k" * 16)
