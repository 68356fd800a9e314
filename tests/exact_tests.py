"""Assertions about randomness whose false-alarm probability is stated, and exact.

Each returns quietly or fails. On correct code it fails with probability at most ``false_alarm``,
whatever the sample size: the tails are those of the binomial or hypergeometric law itself, never
of a normal approximation, and several outcomes share the probability (Bonferroni).
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from scipy.stats import binom, hypergeom

Outcome = TypeVar("Outcome", bound=Hashable)

FALSE_ALARM = 1e-9
"""Per assertion. A hundred assertions a run, twenty runs a day: 730,000 a year, and so one false
alarm in 1,370 years."""


def assert_frequencies(
    draws: Counter[Outcome], expected: Mapping[Outcome, float], false_alarm: float = FALSE_ALARM
) -> None:
    """Fail if ``draws`` are too unlikely to come from the distribution ``expected``."""
    assert abs(sum(expected.values()) - 1) < 1e-9, "what is expected does not add up to one"
    impossible = sorted(repr(x) for x, drawn in draws.items() if drawn and not expected.get(x))
    assert not impossible, f"impossible outcomes: {impossible[:5]}"
    n = draws.total()
    p_values = {x: binomial_p_value(draws[x], n, p) for x, p in expected.items()}
    worst = min(p_values, key=lambda x: p_values[x])
    assert p_values[worst] > false_alarm / len(expected), (
        f"{worst!r}: expected {expected[worst]:.5f}, drew {draws[worst] / n:.5f} "
        f"(n={n}, p={p_values[worst]:.1e})"
    )


def assert_same_law(
    first: Counter[Outcome],
    second: Counter[Outcome],
    outcomes: Sequence[Outcome],
    false_alarm: float = FALSE_ALARM,
) -> None:
    """Fail if two samples are too unlikely to come from one distribution.

    How the occurrences of an outcome are spread over the two samples is hypergeometric, whatever
    its probability (Fisher's exact test). ``outcomes`` are fixed before anything is drawn.
    """
    n, m = first.total(), second.total()
    for x in outcomes:
        law = hypergeom(n + m, first[x] + second[x], n)
        p_value = min(1.0, 2 * min(law.cdf(first[x]), law.sf(first[x] - 1)))
        assert p_value > false_alarm / len(outcomes), (
            f"{x!r}: {first[x] / n:.5f} of the first sample, {second[x] / m:.5f} of the second "
            f"(n={n}, m={m}, p={p_value:.1e})"
        )


def binomial_p_value(count: int, n: int, p: float) -> float:
    """Return twice the smaller exact tail: at most α with probability at most α."""
    return min(1.0, 2 * float(min(binom.cdf(count, n, p), binom.sf(count - 1, n, p))))


def miss_probability(n: int, p: float, p_off: float, false_alarm: float) -> float:
    """Return how often the test of one outcome overlooks that its probability is ``p_off``."""
    low, high = binom.ppf(false_alarm / 2, n, p), binom.isf(false_alarm / 2, n, p)
    return float(binom.cdf(high, n, p_off) - binom.cdf(low - 1, n, p_off))


def assert_sample_catches(
    n: int,
    expected: Mapping[Outcome, float],
    off: Mapping[Outcome, float],
    false_alarm: float = FALSE_ALARM,
) -> None:
    """Fail unless :func:`assert_frequencies` on ``n`` draws from ``off`` would nearly surely fail.

    The most telling outcome alone overlooks the error with probability below ``false_alarm``, so
    a twin that expects the failure is itself wrong no more often than that.
    """
    misses = (
        miss_probability(n, expected[x], off[x], false_alarm / len(expected)) for x in expected
    )
    assert (least := min(misses)) < false_alarm, f"{n} draws overlook the error: {least:.1e}"
