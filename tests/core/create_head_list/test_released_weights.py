"""Which noisy weights are released, and with which value: the law of a draw for each record.

Plans made by hand have noise of a few units, so that every value can be counted. Each assertion
raises a false alarm with probability at most 1e-9.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, norm

from blender_dp.core.create_head_list.released_weights import class_width, release_weights
from blender_dp.core.curator.gaussian_plan import gaussian_plan
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact.discrete_gaussian import DiscreteGaussian
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import Record
from exact_tests import assert_frequencies, assert_same_law, assert_sample_catches, binomial_p_value

SIGMA, TAU = 6, 20
PLAN = replace(gaussian_plan(Fraction(4), Fraction(1, 10**5)), discovery_sigma=SIGMA, threshold=TAU)
WIDTH = 5
COPIES, RUNS = 500, 14
N = COPIES * RUNS
SUMS = (1, 5, 6, 10, 11, 15, 19, 24)
"""Both ends of the classes (0, 5], (5, 10] and (10, 15], where only far noise is drawn: 21 less
the bound is a deviation or more. 19 and 24 are in classes where every record gets its draw."""
FAR_SUMS = SUMS[:-2]

Law = dict[int | str, float]
Seen = dict[int, Counter[int | str]]
"""What became of the records of each sum: the value released, or that it stayed out."""


@dataclass(slots=True)
class Weighed:
    """Records with these sums, in this order, in classes of one width."""

    sums: Mapping[Record, int]
    width: int = WIDTH
    fetched: int = field(default=0)

    def _bound(self, weight: int) -> int:
        return -(-weight // self.width) * self.width

    def classes(self) -> tuple[IntArray, IntArray]:
        bounds = np.array([self._bound(weight) for weight in self.sums.values()], dtype=np.int64)
        return np.unique(bounds, return_counts=True)

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[tuple[Record, int]]:
        members: dict[int, list[tuple[Record, int]]] = {}
        for record, weight in self.sums.items():
            members.setdefault(self._bound(weight), []).append((record, weight))
        found = [members[bound][at] for bound, positions in chosen for at in positions]
        self.fetched += len(found)
        return found


def copies(sums: Sequence[int] = SUMS) -> dict[Record, int]:
    """Return many records of every sum, those of a class in turns."""
    return {Record(str(copy), str(weight)): weight for copy in range(COPIES) for weight in sums}


def stated(weight: int, sigma: float = SIGMA, tau: int = TAU) -> Law:
    """Give D of one record, W + X > τ, from e^(-x²/2σ²) alone; large values together."""
    density = {x: math.exp(-(x**2) / (2 * sigma**2)) for x in range(-200, 200)}
    total = sum(density.values())
    law: Law = {d: density[d - weight] / total for d in range(tau + 1, TAU + 5)}
    law["far"] = sum(p for x, p in density.items() if weight + x >= TAU + 5) / total
    return law | {"out": 1 - sum(law.values())}


def seen(released: Sequence[tuple[Record, int]], sums: Sequence[int] = SUMS) -> Seen:
    """Count what became of every record of ``copies``."""
    values = {weight: Counter[int | str]() for weight in sums}
    for record, noisy in released:
        values[int(record.url)]["far" if noisy >= TAU + 5 else noisy] += 1
    for counted in values.values():
        counted["out"] = COPIES - counted.total()
    return values


def repeated(weighed: Weighed, randomness: Randomness, sums: Sequence[int] = SUMS) -> Seen:
    found: Seen = {weight: Counter() for weight in sums}
    for _ in range(RUNS):
        for weight, counted in seen(release_weights(weighed, PLAN, randomness), sums).items():
            found[weight] += counted
    return found


@cache
def sampled(seed: int) -> Seen:
    return repeated(Weighed(copies()), Randomness.seeded(seed))


@pytest.mark.parametrize("weight", SUMS)
def test_values_follow_the_law_of_a_draw_for_each_record(weight: int, seed: int) -> None:
    assert_frequencies(sampled(seed)[weight], stated(weight))


def test_values_agree_with_a_draw_for_each_record(seed: int) -> None:
    randomness, noise = Randomness.seeded(seed + 1), DiscreteGaussian(SIGMA)
    drawn = [(record, weight + noise.draw(randomness)) for record, weight in copies().items()]
    plain = seen([(record, noisy) for record, noisy in drawn if noisy > TAU])
    for weight in SUMS:
        assert_same_law(sampled(seed)[weight], plain[weight], list(stated(weight)))


@pytest.mark.parametrize("weight", [15, 19])
def test_noise_a_third_wider_is_caught(weight: int, seed: int) -> None:
    """One sum whose tail alone is drawn, and one that gets its draw."""
    off = stated(weight, sigma=SIGMA * 4 / 3)
    assert_sample_catches(N, off, stated(weight))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(sampled(seed)[weight], off)


@pytest.mark.parametrize("weight", [11, 15, 19, 24])
def test_a_threshold_off_by_one_is_caught(weight: int, seed: int) -> None:
    """With τ - 1 the value 20 is expected and never comes; with τ + 1 the value 21 may not come."""
    lower = stated(weight, tau=TAU - 1)
    assert_sample_catches(N, lower, {TAU: 0.0, **stated(weight)})
    with pytest.raises(AssertionError, match="20: expected"):
        assert_frequencies(sampled(seed)[weight], lower)
    with pytest.raises(AssertionError, match=r"impossible outcomes: \['21'\]"):
        assert_frequencies(sampled(seed)[weight], stated(weight, tau=TAU + 1))


def test_a_tail_without_its_second_coin_is_caught(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All candidates stand: the twin of the rejection by e^(-j²/2σ²)."""
    right, weight = DiscreteGaussian.draw_candidate, 15
    candidates = float(
        DiscreteGaussian(SIGMA).candidate_probability(TAU + 1 - weight, 64).ends()[0]
    )
    more = candidates / (1 - stated(weight)["out"])
    off: Law = {x: p * more for x, p in stated(weight).items() if x != "out"}
    assert_sample_catches(N, stated(weight), off | {"out": 1 - candidates})

    def always(noise: DiscreteGaussian, least: int, randomness: Randomness) -> int:
        while (x := right(noise, least, randomness)) is None:
            pass
        return x

    monkeypatch.setattr(DiscreteGaussian, "draw_candidate", always)
    found = repeated(Weighed(copies(FAR_SUMS)), Randomness.seeded(seed), FAR_SUMS)
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(found[weight], stated(weight))


class FirstOnes(Randomness):
    """A source with a broken choice: always the first of a class."""

    def choose(self, count: int, among: int) -> IntArray:
        assert count <= among
        return np.arange(count)


def test_a_choice_that_is_not_uniform_is_caught(seed: int) -> None:
    """Records of one class in order of their sums: only the smallest would be looked at."""
    in_order = dict(sorted(copies(FAR_SUMS).items(), key=lambda item: item[1]))
    broken = FirstOnes(seed.to_bytes(32), is_private=False)
    found = repeated(Weighed(in_order), broken, FAR_SUMS)
    assert_sample_catches(N, stated(15), dict.fromkeys(stated(15), 0.0) | {"out": 1.0})
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(found[15], stated(15))
    right = repeated(Weighed(in_order), Randomness.seeded(seed), FAR_SUMS)
    assert_frequencies(right[15], stated(15))


def numbers(weight: int, size: int, runs: int, seed: int) -> Counter[int]:
    """Count how many of ``size`` records of one sum are released together."""
    weighed = Weighed({Record(str(i), ""): weight for i in range(size)})
    randomness = Randomness.seeded(seed)
    return Counter(len(release_weights(weighed, PLAN, randomness)) for _ in range(runs))


@pytest.mark.parametrize("weight", [15, 19])
def test_records_of_one_class_are_released_independently(weight: int, seed: int) -> None:
    """The number released among six is binomial; one draw for all six would be all or none."""
    size, runs = 6, 500
    p = 1 - stated(weight)["out"]
    expected = {i: float(binom.pmf(i, size, p)) for i in range(size + 1)}
    together = {i: 1 - p if i == 0 else p if i == size else 0.0 for i in range(size + 1)}
    assert_frequencies(numbers(weight, size, runs, seed), expected)
    assert_sample_catches(runs, expected, together)


@pytest.mark.parametrize(("epsilon", "delta"), [("4", "1e-5"), ("0.5", "1e-7")])
def test_with_a_real_plan_the_cost_is_that_of_what_is_released(
    epsilon: str, delta: str, seed: int
) -> None:
    """Twenty thousand rare records: as many pass as the normal tail says, few are looked at."""
    plan = gaussian_plan(Fraction(epsilon), Fraction(delta))
    size, weight = 20_000, plan.threshold - 3 * plan.discovery_sigma
    weighed = Weighed({Record(str(i), ""): weight for i in range(size)}, class_width(plan))
    released = release_weights(weighed, plan, Randomness.seeded(seed))
    assert binomial_p_value(len(released), size, float(norm.sf(3))) > 1e-9
    assert weighed.fetched <= 2 * binom.isf(1e-12, size, norm.sf(3 - 1 / 16))
    assert all(noisy > plan.threshold for _, noisy in released)


def test_a_class_is_a_sixteenth_of_a_deviation_wide() -> None:
    plan = gaussian_plan(Fraction(4), Fraction(1, 10**5))
    assert class_width(plan) == plan.discovery_sigma // 16
    assert 50 < plan.threshold / class_width(plan) < 150
    assert class_width(PLAN) == 1


def test_what_nobody_could_miss_is_released_in_byte_order(seed: int) -> None:
    plan = gaussian_plan(Fraction(4), Fraction(1, 10**5))
    records = [Record(q, u) for q in ("z", "é", "a", "Z") for u in ("2", "10", "ß")]
    weighed = Weighed(dict.fromkeys(records, 10**6 * UNIT), class_width(plan))
    released = release_weights(weighed, plan, Randomness.seeded(seed))
    found = [record for record, _ in released]
    assert found == sorted(records, key=lambda r: (r.query.encode(), r.url.encode()))
    assert {type(noisy) for _, noisy in released} == {int}
    assert all(abs(noisy - 10**6 * UNIT) < 10 * plan.discovery_sigma for _, noisy in released)


def test_no_records_release_nothing(seed: int) -> None:
    assert release_weights(Weighed({}), PLAN, Randomness.seeded(seed)) == []


@dataclass(slots=True)
class Misfiled(Weighed):
    """A population that counts records in a class below their sums."""

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[tuple[Record, int]]:
        found = Weighed.fetch(self, chosen)
        return [(record, weight + WIDTH) for record, weight in found]


def test_a_record_in_the_wrong_class_stops_the_run(seed: int) -> None:
    with pytest.raises(BrokenInvariantError, match="outside the class"):
        release_weights(Misfiled(copies()), PLAN, Randomness.seeded(seed))
