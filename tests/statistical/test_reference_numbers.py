"""The ``paper`` preset against numbers of an independent implementation, on the same workload.

The reference is a dense simulation that shares no code with this project, on the workload
``aol-single``, seed 0, 519,371 users, 5 % opted in, δ = 1e-5, M = 50. TABLE has the published
means of its first 20 runs (± standard error), REFERENCE those of 80 runs, the first 20 among
them. It drew real-valued Laplace noise. The exact discrete noise that this project draws (reading
R4) passes other records at the threshold when τ is no integer, so the list is longer or shorter
by a known amount: that is computed here exactly and tested too. Everything after the list agrees
once the list is drawn by the same law.

Error rates: two means of runs like these lie more than 4 combined standard errors apart by chance
about once in 6,000 (t with 38 degrees of freedom: 1 in 3,500); 27 comparisons of each kind, so
one run in 100 with a fresh seed raises a false alarm. The comparison with TABLE is made at one
fixed seed, because its query L1 at ε = 1 is itself 2.4 standard errors above that of the next 60
runs of the same simulation.
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cache
from math import exp, floor, log
from typing import cast

import numpy as np
import pytest
from scipy.stats import binom

from blender_dp.core.blender import PRESETS, blender
from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.curator.discovery import Discovery
from blender_dp.core.curator.steps import Steps
from blender_dp.core.estimate_optin_probabilities.paper import fold_other_urls, trim
from blender_dp.core.estimation.estimates import Estimate, GroupEstimates
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import FloatArray, IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.head_list.known_list import KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.core.population import OptInUsers
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedPopulation
from blender_dp.evaluation.trials.scores import Scores, score

RUNS = 20
OPT_IN, DELTA = 0.05, 1e-5


@dataclass(frozen=True)
class Published:
    """Means and standard errors of the reference, and its median record L1."""

    mean: dict[str, float]
    std_error: dict[str, float]
    median_record_l1: float


NAMES = (
    "candidate_queries",
    "candidate_records",
    "ndcg",
    "ndcg_opt_in",
    "ndcg_clients",
    "query_l1",
    "query_l1_opt_in",
    "query_l1_clients",
    "negative_variances",
)


def published(means: str, std_errors: str, median_record_l1: float) -> Published:
    """Read one row of the reference table."""
    mean, std_error = (
        dict(zip(NAMES, map(float, row.split()), strict=True)) for row in (means, std_errors)
    )
    return Published(mean, std_error, median_record_l1)


TABLE = {
    1: published(
        "27.35 29.45 .8961 .9426 .6457 .06032 .06235 .1325 .00172",
        ".302 .380 .0172 .0122 .0303 .0020 .0023 .0043 .0012",
        0.06995,
    ),
    2: published(
        "57.80 66.25 .9592 .9564 .6784 .04826 .05645 .0936 .00225",
        ".683 .820 .0034 .0035 .0292 .0013 .0013 .0027 .0011",
        0.06609,
    ),
    4: published(
        "119.60 143.85 .9690 .9624 .9681 .01633 .04538 .01804 .0202",
        ".731 .955 .0138 .0032 .0024 .00036 .0014 .00032 .0021",
        0.03499,
    ),
}

REFERENCE = {
    1: published(
        "26.62 28.84 .8895 .9428 .6223 .05579 .0596 .121 .001327",
        ".223 .243 .00872 .00523 .0125 .00121 .00127 .0025 .000617",
        0.06988,
    ),
    2: published(
        "57.52 65.94 .9549 .9523 .6654 .04841 .05713 .09408 .002726",
        ".382 .447 .00184 .00197 .0158 .000578 .000679 .00119 .00052",
        0.06604,
    ),
    4: published(
        "120.2 145.2 .9755 .9601 .9697 .01627 .04599 .01775 .01937",
        ".63 .738 .00437 .00157 .0011 .000184 .000656 .000194 .00111",
        0.03383,
    ),
}
MEDIAN_NDCG_AT_4 = 0.9818
FIXED_SEED = 20170816

MANY_RECORDS = {
    1: ({"candidate_queries": (26.1, 0.6), "candidate_records": (28.2, 0.5)}, 0.06978),
    2: ({"candidate_queries": (54.9, 1.8), "candidate_records": (63.1, 1.8)}, 0.06386),
    4: ({"candidate_queries": (124.1, 1.8), "candidate_records": (150.5, 2.1)}, 0.03489),
}
MANY_RECORDS[1][0].update(ndcg=(0.9825, 0.0171), query_l1=(0.04992, 0.0021))
MANY_RECORDS[2][0].update(ndcg=(0.9708, 0.0052), query_l1=(0.04886, 0.0014))
MANY_RECORDS[4][0].update(ndcg=(0.9804, 0.0020), query_l1=(0.01604, 0.00058))
"""Published means of 8 runs (± standard error) on ``aol-multi``, seed 1; median record L1."""


@cache
def workload(shape: Shape = Shape.AOL_SINGLE) -> CodedLog:
    log = synthesize(shape, seed=0 if shape is Shape.AOL_SINGLE else 1)
    return CodedLog.of(log.user, log.query, log.url)


def real_valued_head_list(
    users: OptInUsers, parameters: Parameters, randomness: Randomness, _: KnownList
) -> Discovery:
    """Create the head list with a draw of real-valued Laplace noise for every record (Fig. 3)."""
    rng = np.random.default_rng(randomness.bits(64))
    b = 2 / parameters.epsilon
    tau = max(b * (parameters.epsilon / 2 - log(parameters.delta)), 1)
    counts = users.record_counts(1)
    survivors = [
        (count, np.flatnonzero(count + rng.laplace(0, b, size) > tau))
        for count, size in zip(*(c.tolist() for c in counts.classes()), strict=True)
    ]
    found = [record for record, _ in counts.fetch(survivors)]
    mechanism = LocalAlgMechanism.of(parameters)
    return Discovery(head_list=HeadList.of(found, mechanism=mechanism, private=False))


def real_valued_estimates(
    users: OptInUsers, candidates: Discovery, parameters: Parameters, randomness: Randomness
) -> tuple[HeadList, GroupEstimates]:
    """Estimate with real-valued Laplace noise and its variance 2b² (Fig. 4)."""
    rng = np.random.default_rng(randomness.bits(64))
    b, n = 2 / parameters.epsilon, users.size
    hl_s = candidates.head_list
    folded = fold_other_urls(users.cell_counts(hl_s, 1), hl_s.cells)
    drawn = folded + rng.laplace(0, b, len(folded))
    # trim is written for integers and sorts and adds reals just as well.
    head_list, noisy = trim(hl_s, cast("IntArray", drawn), parameters.head_list_size)
    cells = head_list.cells
    released = np.append(cells.is_listed[:-1], True)
    p = np.zeros(cells.cell_count)
    p[released] = noisy / n

    def estimate(p_hat: FloatArray) -> Estimate:
        variance = p_hat * (1 - p_hat) / (n - 1) + 2 * b**2 / (n * (n - 1))
        return Estimate(probability=p_hat, variance=variance)

    return head_list, GroupEstimates(
        cells=estimate(np.where(released, p, np.nan)),
        queries=estimate(cells.by_query(p)),
        counts=np.rint(p * n).astype(np.int64),
        total=n,
    )


REAL_VALUED = replace(
    PRESETS["paper"],
    create_head_list=real_valued_head_list,
    estimate_optin_probabilities=real_valued_estimates,
)


@cache
def scores(epsilon: int, steps: Steps, seed: int, shape: Shape = Shape.AOL_SINGLE) -> FloatArray:
    log = workload(shape)
    parameters = Parameters(preset="paper", epsilon=epsilon, delta=DELTA, head_list_size=50)
    rows = []
    for run in range(RUNS):
        randomness = Randomness.seeded(seed + run)
        population = CodedPopulation.draw(
            log, opt_in=OPT_IN, seed=seed + run, randomness=randomness
        )
        result = blender(population, parameters, randomness, steps=steps)
        rows.append(astuple(score(result, log.true_cells(result.head_list))))
    return np.array(rows)


def column(name: str) -> int:
    return list(Scores.__dataclass_fields__).index(name)


def deviation(values: FloatArray, mean: float, std_error: float = 0.0) -> float:
    """Return how many combined standard errors the mean of ``values`` is off."""
    own = values.std(ddof=1) / RUNS**0.5
    return float((values.mean() - mean) / np.hypot(own, std_error))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", TABLE)
def test_means_agree_with_the_published_table_when_the_list_is_drawn_by_its_law(
    epsilon: int,
) -> None:
    require_agreement(scores(epsilon, REAL_VALUED, FIXED_SEED), TABLE[epsilon])


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", REFERENCE)
def test_means_agree_with_the_reference_when_the_list_is_drawn_by_its_law(
    epsilon: int, seed: int
) -> None:
    ours = scores(epsilon, REAL_VALUED, seed)
    # The mean NDCG is normal at ε = 2 only: at 1 most records are projected to zero and the order
    # of ties makes two clusters, at 4 one run in forty meets the pole of flaw F1.
    require_agreement(ours, REFERENCE[epsilon], but=() if epsilon == 2 else ("ndcg",))
    if epsilon == 4:
        require_median(ours[:, column("ndcg")], MEDIAN_NDCG_AT_4)


def require_agreement(ours: FloatArray, reference: Published, but: Sequence[str] = ()) -> None:
    off = {
        name: deviation(ours[:, column(name)], reference.mean[name], reference.std_error[name])
        for name in NAMES
        if name not in but
    }
    assert max(map(abs, off.values())) < 4, off
    # The mean of record L1 has no finite variance when a variance goes negative (flaw F1).
    require_median(ours[:, column("record_l1")], reference.median_record_l1)


def require_median(values: FloatArray, median: float) -> None:
    """Compare a median of 20 runs with one of 20 or more; both spreads are taken as ours."""
    spread = np.subtract(*np.percentile(values, [75, 25])) / 1.35
    assert abs(np.median(values) - median) < 4 * spread * (2 * np.pi / 2 / RUNS) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", REFERENCE)
def test_the_exact_noise_lists_as_many_records_as_its_law_says(epsilon: int, seed: int) -> None:
    ours = scores(epsilon, PRESETS["paper"], seed)[:, column("candidate_records")]
    assert abs(deviation(ours, expected_list(epsilon, discrete_tail))) < 4


@pytest.mark.slow
def test_the_reference_lists_as_many_records_as_real_valued_noise_does() -> None:
    """So the difference between the two lists is the noise, and nothing else."""
    for epsilon, reference in REFERENCE.items():
        expected = expected_list(epsilon, real_tail)
        off = reference.mean["candidate_records"] - expected
        assert abs(off) < 4 * reference.std_error["candidate_records"]
    gap = expected_list(4, discrete_tail) - expected_list(4, real_tail)
    assert gap == pytest.approx(5.80, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [2, 4])
def test_estimates_agree_with_the_reference_under_the_exact_noise_too(
    epsilon: int, seed: int
) -> None:
    ours, reference = scores(epsilon, PRESETS["paper"], seed), REFERENCE[epsilon]
    for name in ("query_l1", "query_l1_opt_in", "query_l1_clients"):
        values = ours[:, column(name)]
        assert abs(deviation(values, reference.mean[name], reference.std_error[name])) < 4, name


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", MANY_RECORDS)
@pytest.mark.parametrize("steps", [PRESETS["paper"], REAL_VALUED], ids=["exact", "real-valued"])
def test_means_agree_with_the_published_table_where_users_have_many_records(
    epsilon: int, steps: Steps
) -> None:
    ours = scores(epsilon, steps, FIXED_SEED, Shape.AOL_MULTI)
    means, median_record_l1 = MANY_RECORDS[epsilon]
    off = {name: deviation(ours[:, column(name)], *means[name]) for name in means}
    assert max(map(abs, off.values())) < 4, off
    require_median(ours[:, column("record_l1")], median_record_l1)


@pytest.mark.slow
def test_a_slightly_wrong_client_estimate_would_be_caught(seed: int) -> None:
    """The comparison has teeth: a client L1 a third too large is more than 4 errors off."""
    ours = scores(4, REAL_VALUED, seed)[:, column("query_l1_clients")]
    reference = REFERENCE[4]
    name = "query_l1_clients"
    assert abs(deviation(1.33 * ours, reference.mean[name], reference.std_error[name])) > 4


def expected_list(epsilon: int, tail: Callable[[float, float, int], float]) -> float:
    """Return the expected number of listed records: binomial counts, then the threshold."""
    truth = workload().probability
    users = round(0.95 * round(OPT_IN * workload().users))
    b = 2 / epsilon
    tau = b * (epsilon / 2 - log(DELTA))
    passes = np.array([0.0, *(tail(tau, b, count) for count in range(1, 3000))])
    total = 0.0
    for p, records in zip(*np.unique(truth, return_counts=True), strict=True):
        counts = np.arange(binom.ppf(1e-13, users, p), binom.isf(1e-13, users, p) + 1).astype(int)
        total += records * float(binom.pmf(counts, users, p) @ passes[counts])
    return total


def real_tail(tau: float, b: float, count: int) -> float:
    return 0.5 * exp(-(tau - count) / b) if count < tau else 1 - 0.5 * exp((tau - count) / b)


def discrete_tail(tau: float, b: float, count: int) -> float:
    a, y = exp(-1 / b), floor(tau) + 1 - count
    return a**y / (1 + a) if y >= 1 else 1 - a ** (1 - y) / (1 + a)
