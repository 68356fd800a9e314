"""What an attacker can show of ε who sees reports only: a rigorous lower bound.

The two probabilities of one report under two inputs are bounded from counts alone (Clopper and
Pearson); the bound is above the true ε with probability at most 1e-9. A broken promise must show.
"""

from math import log

import numpy as np
import pytest
from scipy.stats import beta, binom

from blender_dp.core.cells import Cells
from blender_dp.core.channel import LocalAlgChannel
from blender_dp.core.local_alg.paper import privatize_many
from blender_dp.core.mechanism import LocalAlgMechanism
from blender_dp.core.randomness import Randomness
from exact_tests import FALSE_ALARM

N = 1_000_000
EPSILON, DELTA = 2.0, 1e-5
LISTED_URLS = [5, 1]


def channel(epsilon: float) -> LocalAlgChannel:
    return LocalAlgChannel.of(
        Cells.of(LISTED_URLS),
        LocalAlgMechanism(
            epsilon=epsilon, delta=DELTA, query_budget_fraction=0.85, records_per_client=1
        ),
    )


def lower_bound(near: int, far: int, n: int) -> float:
    """Return an ε that is shown, if ``near`` and ``far`` of n reports name one cell.

    Half of the error probability for each of the two bounds.
    """
    p_low = float(beta.ppf(FALSE_ALARM / 2, near, n - near + 1)) if near else 0.0
    q_high = float(beta.isf(FALSE_ALARM / 2, far + 1, n - far))
    return log((p_low - DELTA) / q_high) if p_low > DELTA else 0.0


def shown_epsilon(made: LocalAlgChannel, seed: int) -> float:
    """Attack every pair of one listed cell's truth and another query's, and keep the best.

    Of the cells of a query the one that was true is reported most often, and least often when
    another query was true; that is the pair which the noise hides least.
    """
    reports = [
        np.bincount(
            privatize_many(np.full(N, cell), made, Randomness.seeded(seed + cell)),
            minlength=made.cells.cell_count,
        )
        for cell in (0, made.cells.other)
    ]
    return lower_bound(int(reports[0][0]), int(reports[1][0]), N)


def test_the_promise_of_theorem_localalg_priv_is_kept(seed: int) -> None:
    assert shown_epsilon(channel(EPSILON), seed) <= EPSILON


def test_a_promise_broken_by_a_fifth_is_caught(seed: int) -> None:
    assert shown_epsilon(channel(EPSILON * 1.2), seed) > EPSILON


def test_the_sample_is_large_enough_to_catch_it() -> None:
    """Even counts at their unlucky ends, each passed once in 2e9 runs, show more than ε."""
    itself, _, stranger = map(float, channel(EPSILON * 1.2).column(0))
    unlucky_near = int(binom.ppf(FALSE_ALARM / 2, N, itself))
    unlucky_far = int(binom.isf(FALSE_ALARM / 2, N, stranger))
    assert lower_bound(unlucky_near, unlucky_far, N) > EPSILON


def test_the_bound_comes_close_to_what_is_spent(seed: int) -> None:
    """Within 0.1 of the tight ε: the attack is a good one."""
    made = channel(EPSILON)
    itself, _, stranger = map(float, made.column(0))
    assert log(itself / stranger) == pytest.approx(made.tight_epsilon())
    assert made.tight_epsilon() - 0.1 < shown_epsilon(made, seed) <= made.tight_epsilon()


@pytest.mark.parametrize(("near", "far"), [(0, 0), (0, 5), (3, N)])
def test_nothing_is_shown_by_nothing(near: int, far: int) -> None:
    assert lower_bound(near, far, N) <= 0
