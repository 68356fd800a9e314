"""Intervals cover as they say where shares are large: a survey of 12 answers, 20,000 people.

Every run draws groups, records and noise anew and looks at one record and one query, so that runs
are independent and the number of misses is binomial. If an interval misses with a probability of
``MOST_MISSES`` or less, a test fails with a probability of ``FALSE_ALARM`` or less. The twin uses
the rule of once: each group counts as the only sample of all users, and the groups as independent.
Its record intervals miss in ``MISSES_OF_THE_TWIN`` of the runs and more.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from blender_dp.core.blender import PRESETS, blender
from blender_dp.core.channels.channel import Estimator
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.estimation import client_views, opt_in_views
from blender_dp.core.estimation.estimates import Blend, GroupEstimates
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import FloatArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedPopulation
from exact_tests import FALSE_ALARM

USERS, OPT_IN, EPSILON, RUNS = 20_000, 0.05, 8, 400
MOST_MISSES, MISSES_OF_THE_TWIN = 0.07, 0.30
ALLOWED = int(binom.isf(FALSE_ALARM, RUNS, MOST_MISSES))
QUESTIONS, ANSWERS = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.6, 0.3, 0.1])


def ask_half_for_the_query(head_list: HeadList, opt_in: GroupEstimates, clients: int) -> Mechanism:
    """Make two groups of the local clients, whatever would be best here."""
    del opt_in, clients
    return SubsetSelectionMechanism(epsilon=head_list.mechanism.epsilon, query_share=0.5)


def misses(seed: int, *, relay: float) -> tuple[int, int]:
    """Count the runs whose interval misses the truth, of one record and of one query."""
    rng = np.random.default_rng(seed)
    query, url = rng.choice(4, USERS, p=QUESTIONS), rng.choice(3, USERS, p=ANSWERS)
    log = CodedLog.of(np.arange(USERS), query, url)
    parameters = Parameters(epsilon=EPSILON, delta=1e-5, one_record_each=True)
    steps = replace(PRESETS["sharp"], choose_mechanism=ask_half_for_the_query)
    found = np.zeros(2, dtype=np.int64)
    for number in range(RUNS):
        randomness = Randomness.seeded(seed + number)
        population = CodedPopulation.draw(
            log, opt_in=OPT_IN, relay=relay, seed=seed + number, randomness=randomness
        )
        rules = RelayRules(share=relay)
        result = blender(population, parameters, randomness, steps=steps, relay=rules)
        cells, truth = result.head_list.cells, log.true_cells(result.head_list)
        record = int(cells.listed[number % len(cells.listed)])
        found[0] += _missed(result.blended.cells, truth, record)
        found[1] += _missed(result.blended.queries, cells.by_query(truth), number % 4)
    return int(found[0]), int(found[1])


def _missed(level: Blend, truth: FloatArray, item: int) -> bool:
    low, high = level.interval()
    return not low[item] <= truth[item] <= high[item]


@pytest.fixture(params=[0.0, 0.5], ids=["local", "half relayed"])
def relay(request: pytest.FixtureRequest) -> float:
    share: float = request.param
    return share


@pytest.mark.slow
def test_intervals_of_large_shares_cover(seed: int, relay: float) -> None:
    records, queries = misses(seed, relay=relay)
    assert records <= ALLOWED
    assert queries <= ALLOWED


@pytest.fixture
def rule_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variances that treat each group as the only sample of all users."""

    def report_variance(channel: Estimator, p: FloatArray, reports: int) -> FloatArray:
        return channel.variance(p, reports) + p * OPT_IN / reports

    def sampling_variance(views: OptInViews, mu: FloatArray) -> FloatArray:
        return (mu - mu**2 / views.users) * (1 - OPT_IN)

    def target_variance(p: FloatArray, concentration: float, users: float) -> FloatArray:
        del concentration, users
        return 0 * p

    monkeypatch.setattr(client_views, "report_variance", report_variance)
    monkeypatch.setattr(OptInViews, "sampling_variance", sampling_variance)
    monkeypatch.setattr(opt_in_views, "target_variance", target_variance)


@pytest.mark.slow
@pytest.mark.usefixtures("rule_of_once")
def test_groups_taken_for_independent_are_caught(seed: int, relay: float) -> None:
    records, _ = misses(seed, relay=relay)
    assert records > ALLOWED


def test_the_runs_are_enough_to_catch_it() -> None:
    assert binom.cdf(ALLOWED, RUNS, MISSES_OF_THE_TWIN) < FALSE_ALARM
