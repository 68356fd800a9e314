"""``theorem:client-variance`` against the exact variance of a multinomial sample.

Reports are a multinomial sample with shares r = p·matrix, and the estimate is linear in them, so
its variance is known exactly. The simulation compares binned estimates with their exact law; each
assertion raises a false alarm with probability at most 1e-9.
"""

from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from core.fig_6_by_hand import Promise, matrix
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multinomial

from blender_dp.core.channels.local_alg import LocalAlgChannel, LocalAlgMechanism
from blender_dp.core.estimate_client_probabilities.paper import client_estimates
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import Cells, FloatArray, IntArray
from blender_dp.core.local_alg.paper import privatize_many
from exact_tests import assert_frequencies, assert_sample_catches

MANY = 10**15
lists = st.lists(st.integers(1, 4), min_size=1, max_size=4)
epsilons = st.fractions(2, 8, max_denominator=10)


def channel(listed_urls: list[int], epsilon: Fraction) -> LocalAlgChannel:
    return LocalAlgChannel.of(
        Cells.of(listed_urls),
        LocalAlgMechanism(
            epsilon=float(epsilon), delta=1e-5, query_budget_fraction=0.85, records_per_client=1
        ),
    )


@cache
def by_hand(listed_urls: tuple[int, ...], epsilon: Fraction) -> FloatArray:
    rows = matrix(list(listed_urls), Promise(epsilon))
    return np.array([[float(p) for p in row] for row in rows])


def true_variances(transition: FloatArray, r: FloatArray, n: int) -> FloatArray:
    """Return the diagonal of A·Cov·Aᵀ, with A the inverse and Cov = (diag r - r rᵀ)/n."""
    inverse = np.linalg.inv(transition.T)
    variances: FloatArray = np.diag(inverse @ (np.diag(r) - np.outer(r, r)) @ inverse.T) / n
    return variances


@given(listed_urls=lists, epsilon=epsilons, draw=st.integers(0, 10**6))
def test_the_formula_is_the_variance_of_the_estimate(
    listed_urls: list[int], epsilon: Fraction, draw: int
) -> None:
    """With r in place of r̂ and n so large that n/(n-1) is one."""
    made, transition = channel(listed_urls, epsilon), by_hand(tuple(listed_urls), epsilon)
    p = np.random.default_rng(draw).dirichlet(np.ones(made.cells.cell_count))
    r = p @ transition
    estimates = client_estimates(np.rint(MANY * r).astype(np.int64), made)
    true = true_variances(transition, r, MANY)
    assert estimates.cells.variance == pytest.approx(true, rel=1e-9, abs=0)
    t, k = made.t, made.cells.query_count
    r_q = made.cells.by_query(r)
    of_queries = r_q * (1 - r_q) / MANY / (t - (1 - t) / (k - 1)) ** 2
    assert estimates.queries.variance == pytest.approx(of_queries, rel=1e-9, abs=0)


def test_the_sign_slip_of_the_appendix_would_be_seen() -> None:
    """One line there has Var[r̂ - p̂(B-A)]; its covariance term has the other sign (reading R8)."""
    made, transition = channel([2, 1], Fraction(3)), by_hand((2, 1), Fraction(3))
    r = np.array([0.3, 0.1, 0.1, 0.2, 0.1, 0.2]) @ transition
    t, k, k_q = made.t, 3, 3
    t_q = float(made.t_q[0])
    shift = (1 - t) / (k - 1) / k_q - t * (1 - t_q) / (k_q - 1)
    covariance = r[0] * (1 - r[:3].sum()) / (t - (1 - t) / (k - 1))
    slipped = (
        true_variances(transition, r, 1)[0]
        - 4 * shift * covariance / (t * (t_q - (1 - t_q) / (k_q - 1))) ** 2
    )
    printed = client_estimates(np.rint(MANY * r).astype(np.int64), made).cells.variance[0] * MANY
    assert printed != pytest.approx(slipped, rel=1e-2)


def trinomial(n: int, r: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return all counts of (cell 0, other cells of its query, the rest), and their law."""
    shares = np.array([r[0], r[1] + r[2], r[3:].sum()])
    counts = np.array([(c, d, n - c - d) for c in range(n + 1) for d in range(n + 1 - c)])
    return counts, multinomial.pmf(counts, n, shares)


def estimates_of(counts: IntArray, made: LocalAlgChannel) -> FloatArray:
    """Return p̂ and σ̂² of cell 0 for each row; only the three sums above matter to them."""
    rows = []
    for cell, siblings, rest in counts.tolist():
        cells = client_estimates(np.array([cell, siblings, 0, rest, 0, 0]), made).cells
        rows.append((cells.probability[0], cells.variance[0]))
    return np.array(rows)


@pytest.mark.parametrize("n", [2, 5, 20])
def test_the_variance_estimate_is_unbiased_but_for_a_second_bessel_factor(n: int) -> None:
    """As printed: σ̂²_q is corrected already, and the factor before the bracket does it again.

    So E[σ̂²] exceeds σ² by the query's term over n-1, and by nothing else.
    """
    made, transition = channel([2, 1], Fraction(3)), by_hand((2, 1), Fraction(3))
    r = np.array([0.3, 0.1, 0.1, 0.2, 0.1, 0.2]) @ transition
    counts, law = trinomial(n, r)
    p_hat, var_hat = estimates_of(counts, made).T
    assert law @ p_hat == pytest.approx(0.3, abs=1e-12)
    true = true_variances(transition, r, n)[0]
    assert law @ (p_hat - 0.3) ** 2 == pytest.approx(true, rel=1e-10)
    t, t_q = made.t, float(made.t_q[0])
    shift = (1 - t) / 6 - t * (1 - t_q) / 2
    r_q = r[:3].sum()
    query_term = shift**2 * r_q * (1 - r_q) / n / (t - (1 - t) / 2) ** 2
    excess = query_term / (n - 1) / (t * (t_q - (1 - t_q) / 2)) ** 2
    assert law @ var_hat == pytest.approx(true + excess, rel=1e-10)


N, RUNS = 60, 32_000
P = np.array([0.3, 0.1, 0.1, 0.2, 0.1, 0.2])
EPSILON = Fraction(3)
Z_BINS = range(-3, 3)


def z_bin(p_hat: FloatArray, spread: float) -> IntArray:
    """Bin by standard deviations from the truth, the outer bins open; nothing ties at an edge."""
    binned: IntArray = np.clip(np.floor((p_hat - P[0]) / spread + 0.137), -3, 2).astype(np.int64)
    return binned


@cache
def spread() -> float:
    transition = by_hand((2, 1), EPSILON)
    return float(true_variances(transition, P @ transition, N)[0] ** 0.5)


@cache
def stated(epsilon: Fraction) -> dict[int, float]:
    """Sum the exact law of p̂ when devices use ``epsilon`` and the server believes EPSILON."""
    counts, law = trinomial(N, P @ by_hand((2, 1), epsilon))
    bins = z_bin(estimates_of(counts, channel([2, 1], EPSILON))[:, 0], spread())
    return {b: float(law[bins == b].sum()) for b in Z_BINS}


def simulated(epsilon: Fraction, seed: int) -> Counter[int]:
    """Let N clients report, RUNS times over."""
    true_cells = np.random.default_rng(seed).choice(6, N * RUNS, p=P)
    reports = privatize_many(true_cells, channel([2, 1], epsilon), Randomness.seeded(seed))
    by_run = reports.reshape(RUNS, N)
    cell = (by_run == 0).sum(axis=1)
    siblings = ((by_run == 1) | (by_run == 2)).sum(axis=1)
    distinct, back = np.unique(
        np.stack([cell, siblings, N - cell - siblings], axis=1), axis=0, return_inverse=True
    )
    p_hat = estimates_of(distinct, channel([2, 1], EPSILON))[:, 0]
    return Counter(z_bin(p_hat, spread())[back.ravel()].tolist())


def test_estimates_from_drawn_reports_follow_their_law(seed: int) -> None:
    assert_frequencies(simulated(EPSILON, seed), stated(EPSILON))


@pytest.mark.parametrize("error", [Fraction(4, 5), Fraction(6, 5)])
def test_devices_with_another_epsilon_are_caught(error: Fraction, seed: int) -> None:
    assert_sample_catches(RUNS, stated(EPSILON), stated(EPSILON * error))
    with pytest.raises(AssertionError, match="expected"):
        assert_frequencies(simulated(EPSILON * error, seed), stated(EPSILON))
