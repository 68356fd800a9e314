"""CreateHeadList keeps its promise: every swap of a user is enumerated, nothing is sampled.

A release is one bit for each record that the changed user touches; all others are the same on
both sides. The divergence at ε is computed in sixty digits from the paper's formulas and the
discrete law, not from the code, which enters by its threshold only.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from functools import cache
from itertools import product

import pytest

from blender_dp.core.create_head_list.paper import least_passing_count
from blender_dp.core.parameters import Parameters

ONE = Decimal(1)


class Rule:
    """The release rule of one instance, in sixty digits."""

    def __init__(self, epsilon: float, delta: float, m_o: int = 1, *, lower_by: int = 0) -> None:
        parameters = Parameters(
            preset="paper", epsilon=epsilon, delta=delta, records_per_optin_user=m_o
        )
        self.least = least_passing_count(parameters) - lower_by
        self.m_o = m_o
        self.a = (-Decimal(str(epsilon)) / (2 * m_o)).exp()
        self.odds = Decimal(str(epsilon)).exp()
        self.promised = Decimal(str(delta)) / (1 + self.a)
        self.passes = cache(self._passes)

    def _passes(self, count: int) -> Decimal:
        """Return Pr[count + Y ≥ least]; a record that nobody has is never released."""
        y = self.least - count
        if count == 0:
            return Decimal(0)
        if y >= 1:
            return self.a**y / (1 + self.a)
        return 1 - self.a ** (1 - y) / (1 + self.a)

    def divergence(self, before: Sequence[int], after: Sequence[int]) -> Decimal:
        """Return Σ max(0, Pr[o|before] - e^ε·Pr[o|after]) over all releases o."""
        joint = [(ONE, ONE)]
        for n, m in zip(before, after, strict=True):
            p, q = self.passes(n), self.passes(m)
            joint = [(a * x, b * y) for a, b in joint for x, y in ((p, q), (1 - p, 1 - q))]
        return sum((max(a - self.odds * b, Decimal(0)) for a, b in joint), Decimal(0))


@pytest.fixture(autouse=True)
def _sixty_digits() -> Iterator[None]:
    with localcontext() as context:
        context.prec = 60
        yield


def worst_swap_of_one(rule: Rule) -> Decimal:
    """Enumerate all swaps n → n-1, m → m+1 with counts up to five beyond the threshold.

    Further out every probability changes by a factor of at most e^(1/b) in either direction.
    """
    most = rule.least + 5
    return max(
        rule.divergence((n, m), (n - 1, m + 1)) for n in range(1, most + 1) for m in range(most + 1)
    )


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1, 2, 3.6, 4, 6])
@pytest.mark.parametrize("delta", [1e-5, 1e-7, 0.05])
def test_every_swap_of_one_record_stays_within_delta(epsilon: float, delta: float) -> None:
    """(ε, δ/(1+a)), which is within δ and, for wide noise, near δ/2 (PRIVACY.md)."""
    rule = Rule(epsilon, delta)
    worst = worst_swap_of_one(rule)
    assert worst <= rule.promised < Decimal(str(delta))
    assert worst >= rule.a * rule.promised / 2  # and the threshold is not needlessly high


@pytest.mark.parametrize("epsilon", [0.7, 2, 4, 6])
def test_a_threshold_lower_by_one_is_caught(epsilon: float) -> None:
    rule = Rule(epsilon, 1e-5, lower_by=1)
    assert worst_swap_of_one(rule) > rule.promised


def contributions(m_o: int) -> list[tuple[int, ...]]:
    """Return what one user may add to distinct records: at most m_O counts, largest first."""
    parts = product(range(m_o + 1), repeat=m_o)
    return sorted({tuple(sorted(p, reverse=True)) for p in parts if 0 < sum(p) <= m_o})


def worst_swap(rule: Rule, others: Sequence[int]) -> Decimal:
    """Enumerate what the user had, what the user has instead, and what others have of each."""
    worst = Decimal(0)
    for had, has in product(contributions(rule.m_o), repeat=2):
        removed, added = [n for n in had if n], [n for n in has if n]
        for base in product(others, repeat=len(removed) + len(added)):
            kept, found = base[: len(removed)], base[len(removed) :]
            before = [*(n + o for n, o in zip(removed, kept, strict=True)), *found]
            after = [*kept, *(n + o for n, o in zip(added, found, strict=True))]
            worst = max(worst, rule.divergence(before, after))
    return worst


@pytest.mark.parametrize("epsilon", [0.7, 2, 6])
@pytest.mark.parametrize("delta", [1e-5, 0.05])
def test_every_swap_of_two_records_stays_within_delta(epsilon: float, delta: float) -> None:
    rule = Rule(epsilon, delta, m_o=2)
    others = [0, 1, rule.least - 1, rule.least + 1]
    assert worst_swap(rule, others) <= rule.promised


@pytest.mark.parametrize("epsilon", [0.7, 4])
def test_every_swap_of_three_records_stays_within_delta(epsilon: float) -> None:
    rule = Rule(epsilon, 1e-5, m_o=3)
    assert worst_swap(rule, [0, rule.least]) <= rule.promised


def test_a_threshold_for_one_record_does_not_hide_two() -> None:
    """The twin: m_O = 2 with the threshold of m_O = 1 and its narrower noise is not private."""
    rule = Rule(2, 1e-5, m_o=1)
    rule.m_o = 2
    assert worst_swap(rule, [0, 1]) > rule.promised


@pytest.mark.parametrize("m_o", [1, 2])
@pytest.mark.parametrize("delta", [0.05, 0.5])
def test_the_promise_holds_at_the_edge_of_the_proof(m_o: int, delta: float) -> None:
    """ε a little above m_O·δ·1.2, near the smallest that is not refused."""
    rule = Rule(round(1.2 * m_o * delta, 6), delta, m_o)
    assert worst_swap(rule, [0, 1, rule.least]) <= rule.promised
