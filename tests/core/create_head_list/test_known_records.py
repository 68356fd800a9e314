"""Known records: their law, what a swap of one of them may cost, when they leave.

Each statistical assertion raises a false alarm with probability at most 1e-9.
"""

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import erfc, exp, sqrt

import numpy as np
import pytest
from core.create_head_list.opt_in_users import CountedUsers
from core.sharp_cases import TwoSlopes

from blender_dp.core.create_head_list import sharp
from blender_dp.core.create_head_list.known_records import release_known, still_listed
from blender_dp.core.curator.budget import Branch, Budget
from blender_dp.core.curator.laplace_plan import LaplacePlan, laplace_plan
from blender_dp.core.curator.plans import weight_plan
from blender_dp.core.curator.value_law import value_law
from blender_dp.core.errors import ParameterError
from blender_dp.core.exact.asymmetric_laplace import AsymmetricLaplace
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import FloatArray, IntArray
from blender_dp.core.head_list.head_list import Record
from blender_dp.core.head_list.known_list import MOST_KNOWN, KnownList
from blender_dp.core.parameters import Parameters
from exact_tests import assert_frequencies, assert_sample_catches

PARAMETERS = Parameters(epsilon=1.0, delta=1e-5)
BUDGET = Budget.of(PARAMETERS)
PLAN = laplace_plan(BUDGET.discovery_epsilon, BUDGET.delta)
NARROW = AsymmetricLaplace(right=Fraction(3, 5), left=Fraction(2, 5))
SAMPLE = 4_000


@dataclass(frozen=True)
class OneRecord(CountedUsers):
    """Users who take the Laplace branch."""

    def distinct_records(self, most: int) -> IntArray:
        return np.array([0, self.size, *(0 for _ in range(most - 1))], dtype=np.int64)


@dataclass(frozen=True)
class ManyRecords(CountedUsers):
    """Users who take the Gaussian branch: a record of count c has the weight c."""

    def distinct_records(self, most: int) -> IntArray:
        return np.append(np.zeros(most, dtype=np.int64), self.size)

    def record_weights(self, weights: IntArray, class_width: int) -> CountedUsers:
        sums = {record: count * int(weights[1]) for record, count in self.counts.items()}
        return Classed(sums, class_width)


@dataclass(frozen=True)
class Classed(CountedUsers):
    """Sums in classes of one width."""

    width: int

    def classes(self) -> tuple[IntArray, IntArray]:
        bounds = [-(-total // self.width) * self.width for total in self.counts.values()]
        return np.unique(np.array(bounds, dtype=np.int64), return_counts=True)

    def fetch(self, chosen: "list[tuple[int, IntArray]]") -> "list[tuple[Record, int]]":  # type: ignore[override]
        found = []
        for bound, positions in chosen:
            members = [
                (record, total)
                for record, total in self.counts.items()
                if -(-total // self.width) * self.width == bound
            ]
            found += [members[at] for at in positions]
        return found


def law_of(count: int, noise: AsymmetricLaplace) -> dict[int, float]:
    """Return the law of a known record's value, pooled at both ends."""
    y, p = TwoSlopes(right=float(noise.right), left=float(noise.left)).law
    law: dict[int, float] = {}
    for value, probability in zip((count + y).tolist(), p.tolist(), strict=True):
        pooled = int(min(max(value, -6), 6))
        law[pooled] = law.get(pooled, 0.0) + probability
    return law


def values_of(count: int, noise: AsymmetricLaplace, seed: int) -> Counter[int]:
    names = [Record(f"{i:05d}", "u") for i in range(SAMPLE)]
    users = CountedUsers(dict.fromkeys(names, count) if count else {})
    released = release_known(users, KnownList.of(names), noise, Randomness.seeded(seed))
    assert [record for record, _ in released] == names
    return Counter(min(max(value, -6), 6) for _, value in released)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_known_record_is_released_with_noise_whatever_its_count(count: int, seed: int) -> None:
    assert_frequencies(values_of(count, NARROW, seed), law_of(count, NARROW))


def test_noise_that_is_too_steep_is_caught(seed: int) -> None:
    """The twin: a known record's noise with twice the slopes."""
    steep = AsymmetricLaplace(right=2 * NARROW.right, left=2 * NARROW.left)
    assert_sample_catches(SAMPLE, law_of(1, NARROW), law_of(1, steep))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(values_of(1, steep, seed), law_of(1, NARROW))


def divergence(before: list[FloatArray], after: list[FloatArray], epsilon: float) -> float:
    """Return Σ max(0, Pr_D - e^ε·Pr_D') over all outcomes of independent records."""
    joint = [np.multiply.outer(one, two).ravel() for one, two in (before, after)]
    return float(np.maximum(joint[0] - exp(epsilon) * joint[1], 0).sum())


def seen_of(count: int, plan: LaplacePlan, *, known: bool) -> FloatArray:
    """Return the law of what is seen of a record: every value, or hidden below the threshold."""
    y, p = TwoSlopes(right=float(plan.noise.right), left=float(plan.noise.left)).law
    seen = np.zeros(1_000)
    for value, probability in zip((count + y).astype(int).tolist(), p.tolist(), strict=True):
        if known:
            seen[min(max(value + 500, 0), 999)] += probability
        elif count:
            seen[value + 500 if value >= plan.threshold else 0] += probability
    if not known and not count:
        seen[0] = 1.0
    return seen


def worst_swap_of_a_known_record(plan: LaplacePlan, epsilon: float) -> float:
    """Let a user move from or to a known record, the other record being known or not."""
    counts = [0, 1, 2, plan.threshold - 1, plan.threshold]
    found = []
    for n, m, (first, second) in product(
        counts, counts, [(True, True), (True, False), (False, True)]
    ):
        if not n:
            continue
        before = [seen_of(n, plan, known=first), seen_of(m, plan, known=second)]
        after = [seen_of(n - 1, plan, known=first), seen_of(m + 1, plan, known=second)]
        found.append(divergence(before, after, epsilon))
    return max(found)


def test_swapping_a_known_record_costs_no_more_than_the_plan() -> None:
    assert worst_swap_of_a_known_record(PLAN, float(PLAN.epsilon)) <= float(BUDGET.delta) * 1.001


def test_a_known_record_without_enough_noise_would_cost_more() -> None:
    """The twin: slopes one percent too steep for the ε of the plan."""
    steep = replace(
        PLAN,
        noise=AsymmetricLaplace(
            right=PLAN.noise.right * Fraction(101, 100), left=PLAN.noise.left * Fraction(101, 100)
        ),
    )
    assert worst_swap_of_a_known_record(steep, float(PLAN.epsilon)) > 10 * float(BUDGET.delta)


BRANCHES: list[tuple[type[CountedUsers], Branch]] = [
    (OneRecord, "laplace"),
    (ManyRecords, "gauss"),
]


@pytest.mark.parametrize("branch", ["laplace", "gauss"])
def test_a_known_record_leaves_when_its_interval_is_below_the_threshold(branch: Branch) -> None:
    law = value_law(branch, BUDGET)

    def stays(users: float) -> bool:
        value = round((users + law.mean) * law.unit)
        return bool(still_listed([(Record("q", "u"), value)], law))

    found = [stays(users) for users in np.arange(-law.threshold, 2 * law.threshold, 0.5)]
    assert found == sorted(found), "once it stays it stays for every larger value"
    assert stays(law.threshold)
    assert stays(0.7 * law.threshold)
    assert not stays(-sqrt(law.variance))


@pytest.mark.parametrize("branch", ["laplace", "gauss"])
def test_a_value_by_noise_alone_has_the_probability_of_the_noise(branch: Branch) -> None:
    law = value_law(branch, BUDGET)
    if branch == "laplace":
        tails = {y: float(PLAN.noise.tail(y, 128).ends()[1]) for y in range(-40, 60)}
    else:
        sigma = weight_plan(BUDGET).discovery_sigma
        tails = {y: erfc(y / sigma / sqrt(2)) / 2 for y in range(-4 * sigma, 8 * sigma, sigma // 3)}
    found = {y: law.by_noise(y) for y in tails}
    assert found == pytest.approx(tails, rel=1e-9)


NOBODY = [Record(f"n{i:05d}", "u") for i in range(20_000)]
USED = {Record(f"q{i}", "u"): 5 * i for i in range(1, 60)}


@pytest.mark.parametrize(("kind", "branch"), BRANCHES)
def test_names_that_nobody_has_do_not_fill_the_list(
    kind: type[CountedUsers], branch: Branch, seed: int
) -> None:
    """A catalogue: of 20,000 names some 1,300 and 80 would stay by their interval alone.

    At most as many as others may be expected to stay by noise: 59, or twice that with a probability
    below 1e-9.
    """
    law = value_law(branch, BUDGET)
    known = KnownList.of([*NOBODY, *USED])
    found = sharp.create_head_list(kind(USED), PARAMETERS, Randomness.seeded(seed), known)
    assert found.values is not None
    listed = dict(zip(found.head_list.records(), found.values.tolist(), strict=True))
    assert len(set(listed) & set(NOBODY)) < 2 * len(USED)
    popular = {record for record, users in USED.items() if users > 2 * law.threshold}
    assert popular <= set(listed)


def test_a_list_of_what_is_used_loses_nothing_to_the_limit_on_noise() -> None:
    """As many low values as a list of a release has: none leaves that its interval would keep."""
    law = value_law("laplace", BUDGET)
    least = next(value for value in range(100) if law.may_pass(value))
    released = [(Record(f"q{i}", "u"), least + i) for i in range(50)]
    assert still_listed(released, law) == released
    unused = [(Record(f"n{i}", "u"), -50) for i in range(5_000)]
    assert released[0] not in still_listed([*released, *unused], law)


def test_a_value_that_passes_stays_however_long_the_list_is() -> None:
    law = value_law("laplace", BUDGET)
    value = next(value for value in range(100) if law.passes(value))
    low = [(Record(f"n{i}", "u"), -50) for i in range(MOST_KNOWN - 1)]
    assert still_listed([(Record("q", "u"), value), *low], law) == [(Record("q", "u"), value)]


COUNTS = {Record(f"q{i}", "u"): 2 * i for i in range(1, 60)}
NAMES = [*list(COUNTS)[::3], Record("nobody", "has"), Record("q7", "other")]


@pytest.mark.parametrize(("kind", "branch"), BRANCHES)
def test_unknown_records_are_discovered_as_without_a_known_list(
    kind: type[CountedUsers], branch: Branch, seed: int
) -> None:
    """The same draws decide about them, so a known list takes nothing from them."""
    plain, known = (
        sharp.create_head_list(
            kind(COUNTS), PARAMETERS, Randomness.seeded(seed), KnownList.of(names)
        )
        for names in ([], NAMES)
    )
    assert plain.choice is not None
    assert plain.choice.branch == branch
    assert plain.known is None
    assert known.known is not None
    assert plain.values is not None
    assert known.values is not None
    of_plain = dict(zip(plain.head_list.records(), plain.values.tolist(), strict=True))
    of_known = dict(zip(known.head_list.records(), known.values.tolist(), strict=True))
    was_known = dict(zip(known.head_list.records(), known.known.tolist(), strict=True))
    assert {r: v for r, v in of_plain.items() if r not in NAMES} == {
        r: v for r, v in of_known.items() if not was_known[r]
    }
    assert {r for r, public in was_known.items() if public} <= set(NAMES)
    assert Record("q58", "u") in was_known, "a known record of many users stays"


@pytest.mark.parametrize(("kind", "branch"), BRANCHES)
def test_a_known_list_that_is_an_experiment_marks_the_list(
    kind: type[CountedUsers], branch: Branch
) -> None:
    known = KnownList.of(NAMES, private=False)
    found = sharp.create_head_list(kind(COUNTS), PARAMETERS, Randomness.secure(), known)
    assert found.choice is not None
    assert found.choice.branch == branch
    assert not found.head_list.private


def test_a_known_list_is_in_byte_order_and_not_too_long() -> None:
    assert KnownList.of([Record("b", "1"), Record("a", "2"), Record("b", "1")]).records == (
        Record("a", "2"),
        Record("b", "1"),
    )
    with pytest.raises(ParameterError, match=r"at most 100,000 records; got '100,001 records'"):
        KnownList.of(Record(str(i), "u") for i in range(MOST_KNOWN + 1))
