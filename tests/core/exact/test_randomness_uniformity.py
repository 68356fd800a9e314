"""Coins are fair: exact tests, each a false alarm with probability at most 1e-9 on right code.

What no sample could show, the bias of one part in 2^64 that rejection removes, is enumerated on
words of eight bits.
"""

import ast
import inspect
from collections import Counter
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from blender_dp.core.exact.randomness import HalfWordArray, Randomness, WordArray
from blender_dp.core.head_list.cells import IntArray
from exact_tests import assert_frequencies, assert_sample_catches

N = 40_000


def uniform(count: int) -> dict[int, float]:
    return dict.fromkeys(range(count), 1 / count)


class Scripted(Randomness):
    """A source that says what it is told to say."""

    def __init__(self, script: list[int]) -> None:
        super().__init__(bytes(32), is_private=False)
        self.script = script

    def bits(self, count: int) -> int:
        word = self.script.pop(0)
        assert word < 2**count
        return word

    def words(self, count: int) -> WordArray:
        said, self.script = self.script[:count], self.script[count:]
        return np.array(said, dtype=np.uint64)

    def half_words(self, count: int) -> HalfWordArray:
        return self.words(count).astype(np.uint32)


def test_bytes_are_uniform(seed: int) -> None:
    assert_frequencies(Counter(Randomness.seeded(seed).draw_bytes(4 * N)), uniform(256))


def test_bits_of_a_width_that_is_no_whole_byte_are_uniform(seed: int) -> None:
    source = Randomness.seeded(seed)
    assert_frequencies(Counter(source.bits(5) for _ in range(N)), uniform(32))


@pytest.mark.parametrize("shift", [0, 29, 59])
def test_words_are_uniform_at_both_ends_and_in_the_middle(shift: int, seed: int) -> None:
    words = Randomness.seeded(seed).words(4 * N) >> np.uint64(shift) & np.uint64(31)
    assert_frequencies(Counter(words.tolist()), uniform(32))


@pytest.mark.parametrize("bound", [1, 2, 6, 17])
def test_a_draw_below_a_bound_is_uniform(bound: int, seed: int) -> None:
    source = Randomness.seeded(seed)
    assert_frequencies(Counter(source.below(bound) for _ in range(N)), uniform(bound))


@pytest.mark.parametrize("bound", [1, 2, 6, 17])
def test_draws_below_many_bounds_are_uniform(bound: int, seed: int) -> None:
    draws = Randomness.seeded(seed).below_each(np.full(N, bound))
    assert_frequencies(Counter(draws.tolist()), uniform(bound))
    assert np.array_equal(draws, Randomness.seeded(seed).below_many(bound, N))


def test_a_draw_that_takes_five_bits_modulo_seventeen_is_caught(seed: int) -> None:
    """The tests above have teeth: the classic mistake, at a width where it is large."""
    source = Randomness.seeded(seed)
    biased = {x: (2 if x < 32 - 17 else 1) / 32 for x in range(17)}
    assert_sample_catches(N, uniform(17), biased)
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(Counter(source.bits(5) % 17 for _ in range(N)), uniform(17))


def test_rejection_leaves_no_bias_in_a_single_draw() -> None:
    """Every word of the fewest bits that hold the bound: those kept say each number once."""
    for bound in range(1, 65):
        width = (bound - 1).bit_length()
        kept = [Scripted([word]).below(bound) for word in range(bound)]
        assert kept == list(range(bound))
        redrawn = [Scripted([word, 0]).below(bound) for word in range(bound, 2**width)]
        assert redrawn == [0] * (2**width - bound)


class EightBits(ast.NodeTransformer):
    """Rewrites all types of integers as ``np.uint8``, and ``2**64`` and ``2**32`` as ``2**8``."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        node.attr = "uint8" if node.attr in {"uint64", "int64", "uint32"} else node.attr
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(8) if node.value in {64, 32} else node


def on_eight_bits(method: Callable[..., IntArray | HalfWordArray]) -> Callable[..., IntArray]:
    """Return one of our methods, word for word, on words of eight bits."""
    tree = EightBits().visit(ast.parse(inspect.cleandoc("\n" + inspect.getsource(method))))
    space = dict(Randomness.below_each.__globals__)
    exec(compile(ast.fix_missing_locations(tree), "<eight bits>", "exec"), space)  # noqa: S102 (our own source)
    drawn: Callable[..., IntArray] = space[method.__name__]
    return drawn


class EightBitSource(Scripted):
    below_each = on_eight_bits(Randomness.below_each)
    below_many = on_eight_bits(Randomness.below_many)
    small_below_many = on_eight_bits(Randomness.small_below_many)  # type: ignore[assignment]  # as wide as the others here

    def words(self, count: int) -> WordArray:
        return super().words(count).astype(np.uint8)

    def half_words(self, count: int) -> HalfWordArray:
        return self.words(count).view(np.uint8)


def draw_each(source: Scripted, bound: int, count: int) -> IntArray:
    return source.below_each(np.full(count, bound))


def draw_many(source: Scripted, bound: int, count: int) -> IntArray:
    return source.below_many(bound, count)


both_ways = pytest.mark.parametrize("draw", [draw_each, draw_many])
Draw = Callable[[Scripted, int, int], IntArray]


@both_ways
def test_rejection_leaves_no_bias_among_many_draws(draw: Draw) -> None:
    """All 256 words of eight bits, for every bound: those kept say each number equally often."""
    source = EightBitSource([])
    for bound in range(1, 256):
        source.script = [*range(256), *([0] * 256)]
        draws = draw(source, bound, 256)
        redrawn = 256 - len(source.script)
        assert redrawn == 256 % bound
        said = np.bincount(draws, minlength=bound)
        said[0] -= redrawn  # a redrawn word said 0 here
        assert set(said.tolist()) == {256 // bound}


def test_without_rejection_there_is_a_bias_to_find() -> None:
    """The twin of the test above: the same enumeration of a plain remainder."""
    for bound in range(1, 256):
        said = np.bincount(np.arange(256) % bound, minlength=bound)
        assert (len(set(said.tolist())) > 1) == (256 % bound > 0)


@both_ways
@pytest.mark.parametrize("bound", [3, 6, 1000, 2**32 + 1, 3 * 2**61, 2**63 - 1])
def test_exactly_the_words_above_the_last_whole_multiple_are_drawn_again(
    draw: Draw, bound: int
) -> None:
    """2^64 mod m words at the top; a redraw is seen by the mark it leaves."""
    mark = 1 % bound
    first_rejected = 2**64 - 2**64 % bound
    for word in (first_rejected, 2**64 - 1):
        assert draw(Scripted([word, mark]), bound, 1).tolist() == [mark]
    last_kept = first_rejected - 1
    assert draw(Scripted([last_kept]), bound, 1).tolist() == [last_kept % bound]


@both_ways
@pytest.mark.parametrize("bound", [1, 2, 2**20, 2**62])
def test_no_word_is_drawn_again_for_a_power_of_two(draw: Draw, bound: int) -> None:
    for word in (0, 2**63, 2**64 - 1):
        assert draw(Scripted([word]), bound, 1).tolist() == [word % bound]


def test_rejection_leaves_no_bias_among_many_small_draws() -> None:
    """All 256 words of eight bits, for every bound from 2 on, as above."""
    source = EightBitSource([])
    for bound in range(2, 256):
        source.script = [*range(256), *([0] * 256)]
        said = np.bincount(source.small_below_many(bound, 256), minlength=bound)
        redrawn = 256 - len(source.script)
        assert redrawn == 256 % bound
        said[0] -= redrawn
        assert set(said.tolist()) == {256 // bound}


@pytest.mark.parametrize("bound", [3, 6, 1000, 3 * 2**29, 2**32 - 1])
def test_exactly_the_half_words_above_the_last_whole_multiple_are_drawn_again(bound: int) -> None:
    first_rejected, one = 2**32 - 2**32 % bound, 2**32 // bound
    for word in (first_rejected, 2**32 - 1):
        assert Scripted([word, one]).small_below_many(bound, 1).tolist() == [1]
    assert Scripted([first_rejected - 1]).small_below_many(bound, 1).tolist() == [bound - 1]


@pytest.mark.parametrize("bound", [2, 17, 126])
def test_small_draws_are_uniform(bound: int, seed: int) -> None:
    draws = Randomness.seeded(seed).small_below_many(bound, N)
    assert_frequencies(Counter(draws.tolist()), uniform(bound))


def test_only_the_rejected_among_many_are_drawn_again() -> None:
    bounds: IntArray = np.array([3, 10, 3, 2**62])
    source = Scripted([2**64 - 1, 27, 2**64 - 1, 2**64 - 1, 4, 2**64 - 1, 5])
    assert source.below_each(bounds).tolist() == [1, 7, 2, 2**62 - 1]
    assert source.script == []


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_subset_is_equally_likely(count: int, seed: int) -> None:
    source = Randomness.seeded(seed)
    subsets = list(combinations(range(5), count))
    draws = Counter(tuple(source.choose(count, 5).tolist()) for _ in range(N // 4))
    assert_frequencies(draws, dict.fromkeys(subsets, 1 / len(subsets)))


def test_a_choice_that_favours_the_first_positions_is_caught(seed: int) -> None:
    """Draw until enough are distinct, then keep the smallest: a slip easily made."""
    source = Randomness.seeded(seed)
    pairs = dict.fromkeys(combinations(range(5), 2), 0.1)
    smallest_two_of_three = dict.fromkeys(pairs, 0.0) | {
        pair: sum(pair == triple[:2] for triple in combinations(range(5), 3)) / 10 for pair in pairs
    }
    assert_sample_catches(N // 4, pairs, smallest_two_of_three)
    draws = Counter(tuple(source.choose(3, 5).tolist()[:2]) for _ in range(N // 4))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(draws, pairs)


def test_every_position_of_a_large_choice_is_as_likely(seed: int) -> None:
    """300 of 1,000: the position in the list says nothing; ten deciles, hypergeometric draws.

    Each decile of one choice holds 30 on average; over 400 choices the membership of one fixed
    position in each decile is Binomial(400, 0.3).
    """
    source = Randomness.seeded(seed)
    chosen = [set(source.choose(300, 1000).tolist()) for _ in range(400)]
    for position in range(5, 1000, 100):
        held = Counter(position in choice for choice in chosen)
        assert_frequencies(held, {True: 0.3, False: 0.7}, false_alarm=1e-10)
