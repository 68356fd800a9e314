"""Whether drawn logs follow what they are said to follow.

Every test is exact: counts are binomial because users are independent of each other, and one
random record of each user is looked at. Each has a twin in which something is a little wrong, and
the sample is checked to be large enough for the twin.
"""

from collections.abc import Mapping
from functools import cache
from typing import TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, binomtest, norm

from blender_dp.engine.synthetic import Shape, ShapeOptions, SyntheticLog, query_probabilities
from blender_dp.engine.synthetic.draws import Columns, cumulate, draw_with_favourites, generator
from blender_dp.engine.synthetic.generate import synthesize
from blender_dp.engine.synthetic.shapes import Activity

Outcome = TypeVar("Outcome")

FALSE_ALARM = 1e-9
"""Per assertion. A thousand of them, daily for ten years: one alarm in 270 such decades."""

USERS = 200_000

# Avent et al., JPC 9(2) 2019, top-10 table, whose tenth row is ★.
TOP_NINE = {
    **{"google": 0.0211, "yahoo": 0.0067, "google.com": 0.0066, "myspace.com": 0.0055},
    **{"mapquest": 0.0055, "yahoo.com": 0.0048, "www.google.com": 0.0044, "myspace": 0.0034},
    **{"ebay": 0.0030},
}
STAR = 0.9121
EXPECTED_QUERIES = {**TOP_NINE, "rank 10 to 50": 1 - STAR - sum(TOP_NINE.values()), "other": STAR}
HEAD_ERROR = 1.15

URL_SHARES = {0: 0.72, 1: 0.1, 2: 0.06, 3: 0.04, 4: 0.03, 5: 0.02, 6: 0.015, 7: 0.01, 8: 0.005}


def assert_frequencies(
    counts: Mapping[Outcome, int], n: int, expected: Mapping[Outcome, float]
) -> None:
    """Fail if counts out of ``n`` are too unlikely: exact binomial tails and Bonferroni."""
    p_values = {x: binomtest(counts[x], n, p).pvalue for x, p in expected.items()}
    worst = min(p_values, key=lambda x: p_values[x])
    assert p_values[worst] > FALSE_ALARM / len(expected), (
        f"{worst}: expected {expected[worst]:.5f}, drew {counts[worst] / n:.5f} "
        f"(n={n}, p={p_values[worst]:.1e})"
    )


def miss_probability(n: int, p: float, p_off: float, outcomes: int) -> float:
    """Return how often the test of one outcome overlooks that its probability is ``p_off``."""
    tail = FALSE_ALARM / outcomes / 2
    low, high = binom.ppf(tail, n, p), binom.isf(tail, n, p)
    return float(binom.cdf(high, n, p_off) - binom.cdf(low - 1, n, p_off))


@cache
def aol(seed: int) -> SyntheticLog:
    return synthesize(Shape.AOL, USERS, seed)


def one_row_a_user(user: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a uniformly random row of each user."""
    counts = np.bincount(user)
    return np.cumsum(counts) - 1 - np.floor(rng.random(len(counts)) * counts).astype(np.int64)


def query_counts(query: NDArray[np.int64]) -> dict[str, int]:
    per_rank = np.bincount(query, minlength=50)
    nine = dict(zip(TOP_NINE, per_rank[:9].tolist(), strict=True))
    return {**nine, "rank 10 to 50": int(per_rank[9:50].sum()), "other": int(per_rank[50:].sum())}


def test_queries_of_random_records_follow_the_published_table(seed: int) -> None:
    log = aol(seed)
    rows = one_row_a_user(log.user, generator(seed, 99))
    assert [log.query_name(rank) for rank in range(9)] == list(TOP_NINE)
    assert_frequencies(query_counts(log.query[rows]), USERS, EXPECTED_QUERIES)


def test_heads_a_seventh_too_popular_are_caught(seed: int) -> None:
    p = query_probabilities(Shape.AOL)
    p[:9] *= HEAD_ERROR
    p[50:] *= (1 - p[:50].sum()) / p[50:].sum()
    rng = generator(seed)
    counts = Activity(mean_records=2, spread=1.35, cap=400).counts(USERS, rng)
    off = draw_with_favourites(cumulate(p), counts, rng)
    rows = one_row_a_user(off.user, rng)
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(query_counts(off.query[rows]), USERS, EXPECTED_QUERIES)


def test_the_sample_shows_heads_a_seventh_too_popular() -> None:
    off = STAR - (HEAD_ERROR - 1) * sum(TOP_NINE.values())
    assert miss_probability(USERS, STAR, off, len(EXPECTED_QUERIES)) < FALSE_ALARM


def test_urls_follow_their_shares(seed: int) -> None:
    log = aol(seed)
    rows = one_row_a_user(log.user, generator(seed, 99))
    counts = dict(enumerate(np.bincount(log.url[rows], minlength=9).tolist()))
    assert_frequencies(counts, USERS, URL_SHARES)
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(counts, USERS, {**URL_SHARES, 0: 0.70})
    assert miss_probability(USERS, 0.70, 0.72, len(URL_SHARES)) < FALSE_ALARM


REPEAT_SHARE = 1 / 12
"""Two of a user's records are repeats with probability 1/4, then of the same of three: 1/3."""


@cache
def chance_agreement() -> float:
    """Return how often two independent records agree."""
    same_query = float((query_probabilities(Shape.AOL) ** 2).sum())
    return same_query * sum(share**2 for share in URL_SHARES.values())


def repeat_probability(repeat_share: float) -> float:
    """Return how often two records of a user agree: by repeating, or by chance."""
    return repeat_share + (1 - repeat_share) * chance_agreement()


def agreeing_pairs(log: SyntheticLog | Columns, rng: np.random.Generator) -> tuple[int, int]:
    """Return how many users have two records, and for how many of them a random two agree."""
    counts = np.bincount(log.user)
    first_row = (np.cumsum(counts) - counts)[counts >= 2]
    counts = counts[counts >= 2]
    one = np.floor(rng.random(len(counts)) * counts).astype(np.int64)
    step = 1 + np.floor(rng.random(len(counts)) * (counts - 1)).astype(np.int64)
    left, right = first_row + one, first_row + (one + step) % counts
    agree = (log.query[left] == log.query[right]) & (log.url[left] == log.url[right])
    return len(counts), int(agree.sum())


def test_half_of_the_records_are_of_three_favourites(seed: int) -> None:
    pairs, agree = agreeing_pairs(aol(seed), generator(seed, 98))
    assert_frequencies({"agree": agree}, pairs, {"agree": repeat_probability(REPEAT_SHARE)})


def test_four_favourites_or_nine_twentieths_are_told_apart_from_that(seed: int) -> None:
    pairs, agree = agreeing_pairs(aol(seed), generator(seed, 98))
    truth = repeat_probability(REPEAT_SHARE)
    for wrong_share in (1 / 4 / 4, 0.45**2 / 3):
        wrong = repeat_probability(wrong_share)
        assert miss_probability(pairs, wrong, truth, 1) < FALSE_ALARM
        with pytest.raises(AssertionError, match="expected"):
            assert_frequencies({"agree": agree}, pairs, {"agree": wrong})


LEVELS = (1, 2, 5, 10, 50, 399)


def at_most(level: int, mean: float, spread: float) -> float:
    """Return how often a lognormal number of this mean, a half less, is at most ``level``."""
    return float(norm.cdf((np.log(level / (mean - 0.5)) + spread**2 / 2) / spread))


@pytest.mark.parametrize(("shape", "mean", "spread"), [("aol", 12, 1.35), ("yandex", 6, 1.1)])
def test_records_a_user_follow_the_lognormal_law(
    shape: str, mean: float, spread: float, seed: int
) -> None:
    options = ShapeOptions(queries=100) if shape == "yandex" else ShapeOptions()
    log = aol(seed) if shape == "aol" else synthesize(Shape(shape), USERS, seed, options=options)
    counts = np.bincount(log.user)
    drawn = {level: int((counts <= level).sum()) for level in LEVELS}
    assert_frequencies(drawn, USERS, {level: at_most(level, mean, spread) for level in LEVELS})
    off_by_a_tenth = {level: at_most(level, mean * 1.1, spread) for level in LEVELS}
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(drawn, USERS, off_by_a_tenth)
    truth = at_most(5, mean, spread)
    assert miss_probability(USERS, off_by_a_tenth[5], truth, len(LEVELS)) < FALSE_ALARM


def test_aol_users_are_as_described(seed: int) -> None:
    counts = np.bincount(aol(seed).user)
    assert np.median(counts) == 5
    # The standard error of the mean is 0.06.
    assert counts.mean() == pytest.approx(12, abs=0.6)
    assert counts.max() == 400
