"""Released counts: one draw for a class and one for a survivor have the law of one for a record.

Values are pooled from two above the threshold on, and three records are looked at together, so
that inclusion, value and independence are all in it. Each assertion raises a false alarm with
probability at most 1e-9.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from blender_dp.core.create_head_list.released_counts import release_counts
from blender_dp.core.curator.laplace_plan import LaplacePlan, laplace_plan
from blender_dp.core.exact.asymmetric_laplace import AsymmetricLaplace
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import Record
from exact_tests import assert_frequencies, assert_same_law, assert_sample_catches

N = 3_000
PLAN = LaplacePlan(threshold=4, noise=AsymmetricLaplace(right=Fraction(3, 5), left=Fraction(2, 5)))
COUNTS = {Record("a", "1"): 3, Record("b", "1"): 6, Record("b", "2"): 3}
HIDDEN = 0

Seen = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """Records with these counts, fetched in this order."""

    counts: Mapping[Record, int]

    def classes(self) -> tuple[IntArray, IntArray]:
        counts, sizes = np.unique(list(self.counts.values()), return_counts=True)
        return counts.astype(np.int64), sizes.astype(np.int64)

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[tuple[Record, int]]:
        return [
            ([record for record, of in self.counts.items() if of == count][at], count)
            for count, positions in reversed(chosen)
            for at in positions
        ]


def pooled(value: int) -> int:
    """HIDDEN, 4, 5, or 6 for all above."""
    return HIDDEN if value < PLAN.threshold else min(value, PLAN.threshold + 2)


def seen(randomness: Randomness, plan: LaplacePlan = PLAN) -> Seen:
    released = dict(release_counts(Counted(COUNTS), plan, randomness))
    assert all(value >= plan.threshold for value in released.values())
    return tuple(pooled(released.get(record, HIDDEN)) for record in COUNTS)


@cache
def grouped(seed: int) -> Counter[Seen]:
    randomness = Randomness.seeded(seed)
    return Counter(seen(randomness) for _ in range(N))


def noise_for_each_record(seed: int) -> Counter[Seen]:
    """Do it plainly: a draw of Y, the difference of two geometric numbers, for every record."""
    rng, size = np.random.default_rng(seed), (N, len(COUNTS))
    up, down = (rng.geometric(-math.expm1(-s), size) for s in (PLAN.noise.right, PLAN.noise.left))
    noisy = np.array(list(COUNTS.values())) + up - down
    return Counter(tuple(pooled(value) for value in row) for row in noisy.tolist())


def stated(right: float = 0.6, left: float = 0.4) -> dict[Seen, float]:
    """Multiply out the law of each record, normalised term by term."""
    weights = {y: math.exp(-right * y if y >= 0 else left * y) for y in range(-200, 200)}
    total = math.fsum(weights.values())

    def of_record(count: int) -> Counter[int]:
        law = Counter[int]()
        for y, weight in weights.items():
            law[pooled(count + y)] += weight / total  # type: ignore[assignment]  # floats
        return law

    laws = [of_record(count).items() for count in COUNTS.values()]
    return {
        tuple(value for value, _ in outcome): math.prod(p for _, p in outcome)
        for outcome in product(*laws)
    }


def test_what_is_released_follows_the_law_of_noise_for_each_record(seed: int) -> None:
    assert_frequencies(grouped(seed), stated())


def test_grouped_draws_agree_with_noise_for_each_record(seed: int) -> None:
    plain = noise_for_each_record(seed)
    assert_frequencies(plain, stated())
    assert_same_law(grouped(seed), plain, list(stated()))


@pytest.mark.parametrize(
    "slopes", [(Fraction(6, 5), Fraction(2, 5)), (Fraction(3, 5), Fraction(4, 5))]
)
def test_a_slope_that_is_off_is_caught(slopes: tuple[Fraction, Fraction], seed: int) -> None:
    """Either slope twice what it should be; finer errors show in the draws of the noise alone."""
    right, left = slopes
    assert_sample_catches(N, stated(), stated(float(right), float(left)))
    off = LaplacePlan(threshold=4, noise=AsymmetricLaplace(right=right, left=left))
    randomness = Randomness.seeded(seed)
    draws = Counter(seen(randomness, off) for _ in range(N))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(draws, stated())


def test_survivors_that_keep_their_exact_count_are_caught(seed: int) -> None:
    """The right records with the wrong values: max(c, T) in place of a draw given D ≥ T."""
    kept = [pooled(max(count, PLAN.threshold)) for count in COUNTS.values()]
    draws = Counter[Seen]()
    for values, times in grouped(seed).items():
        draws[tuple(k if v else HIDDEN for k, v in zip(kept, values, strict=True))] += times
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(draws, stated())


def test_noisy_counts_are_right_on_average_after_centring(seed: int) -> None:
    """D - E[Y] of 2,000 records that surely pass; within eight standard errors.

    By Bernstein's inequality for tails that fall by e^-0.288, beyond that less often than 1e-11.
    """
    counts = {Record("q", str(i)): 1000 + i for i in range(2000)}
    plan = laplace_plan(Fraction(2), Fraction(1, 10**5))
    released = release_counts(Counted(counts), plan, Randomness.seeded(seed))
    assert len(released) == len(counts)
    errors = [value - plan.noise.mean - counts[record] for record, value in released]
    assert abs(np.mean(errors)) < 8 * math.sqrt(plan.noise.variance / len(errors))


@pytest.mark.parametrize("arrange", [sorted, lambda items: sorted(items, reverse=True)])
def test_the_order_of_the_data_leaves_no_trace(
    arrange: Callable[[list[tuple[Record, int]]], list[tuple[Record, int]]], seed: int
) -> None:
    """Byte order, and with one seed the same values, whatever came first."""
    popular = {Record(q, u): 10**6 for q in ("é", "z", "Z", "a") for u in ("2", "10", "ß")}
    counted = Counted(dict(arrange(list(popular.items()))))
    released = release_counts(counted, PLAN, Randomness.seeded(seed))
    names = [record for record, _ in released]
    assert names == [Record(q, u) for q in ("Z", "a", "z", "é") for u in ("10", "2", "ß")]
    ordered = Counted(dict(sorted(popular.items())))
    assert released == release_counts(ordered, PLAN, Randomness.seeded(seed))


def test_work_is_for_each_class_and_survivor_and_not_for_each_record(seed: int) -> None:
    """Ten million records of one user each, as a class without its records: few survive."""
    plan = laplace_plan(Fraction(2), Fraction(1, 10**5))
    fetched: list[tuple[int, IntArray]] = []

    class OneClass:
        def classes(self) -> tuple[IntArray, IntArray]:
            return np.array([1]), np.array([10_000_000])

        def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[tuple[Record, int]]:
            fetched.extend(chosen)
            return [(Record("q", str(at)), count) for count, among in chosen for at in among]

    released = release_counts(OneClass(), plan, Randomness.seeded(seed))
    assert len(fetched) == 1
    assert 20 < len(released) < 190  # Poisson of mean 100 or a little less: eight deviations
    assert len({record for record, _ in released}) == len(released)


def test_values_are_plain_integers(seed: int) -> None:
    """Not of a width that could overflow, and nothing that carries more digits than it shows."""
    counts = {Record("q", "u"): 2**62}
    [(record, value)] = release_counts(Counted(counts), PLAN, Randomness.seeded(seed))
    assert record == Record("q", "u")
    assert type(value) is int
    assert abs(value - 2**62) < 1000


def test_users_without_any_record_release_nothing(seed: int) -> None:
    assert release_counts(Counted({}), PLAN, Randomness.seeded(seed)) == []
