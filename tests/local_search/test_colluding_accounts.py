"""Fifty opt-in accounts that all give one record list it, and do not get it served.

Whether it is served depends on the clients' reports alone (the other rule, that the groups agree,
can only withhold more). A client who does not have the planted record names its cells by chance,
with the law of LocalAlg, and independently of all others: the counts of the planted record and of
the rest of its query are multinomial, and thousands of releases can be drawn at once.
"""

from dataclasses import replace
from functools import cache
from typing import get_args

import numpy as np
import pytest
from scipy.stats import binom

from blender_dp.core.blender import blender
from blender_dp.core.channels.local_alg import LocalAlgChannel, LocalAlgMechanism
from blender_dp.core.estimate_client_probabilities.paper import client_estimates
from blender_dp.core.estimation.estimates import GroupEstimates
from blender_dp.core.estimation.release import ReleasedRecord
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.parameters import Parameters, Preset
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedPopulation, CodedUsers
from blender_dp.local_search.serving import ServingRule, served
from blender_dp.wire.documents.document import write_document
from blender_dp.wire.published.release import read_release, release_document
from exact_tests import FALSE_ALARM
from releases import query_row, record_row, release_of

ACCOUNTS, CLIENTS, RELEASES = 50, 493_402, 10_000
AT_MOST = 0.01
"""The share of releases in which a planted record may be served: fewer than this."""
PARAMETERS = Parameters(epsilon=4, delta=1e-5, preset="paper")


def assert_served_in_fewer(count: int) -> None:
    """Fail unless a rate of 1 % or more would give so few with probability 10⁻⁹ at most."""
    assert binom.cdf(count, RELEASES, AT_MOST) < FALSE_ALARM, f"{count} of {RELEASES}"


@cache
def planted_rows(query_clients: int, seed: int) -> list[ReleasedRecord]:
    """Return the row of the planted record in many releases.

    Args:
        query_clients: How many clients have its query, with its one honest URL.
        seed: Which releases.
    """
    records = [Record(f"q{i:02}", "honest") for i in range(50)] + [Record("q00", "planted")]
    head_list = HeadList.of(records, mechanism=LocalAlgMechanism.of(PARAMETERS), private=False)
    cells = head_list.cells
    channel = LocalAlgChannel.of(cells, head_list.mechanism)
    t, t_q, k = channel.t, float(channel.t_q[0]), cells.query_count
    stray = (1 - t) / (k - 1) / 3  # to any of q00's three cells, from another query
    rng = np.random.default_rng(seed)
    law_of_query = [t * t_q, *[t * (1 - t_q) / 2] * 2, 1 - t]  # honest, planted, ⋆, elsewhere
    counts = rng.multinomial(query_clients, law_of_query, RELEASES) + rng.multinomial(
        CLIENTS - query_clients, [stray, stray, stray, 1 - 3 * stray], RELEASES
    )
    reports = np.zeros((RELEASES, cells.cell_count), dtype=np.int64)
    reports[:, :3], reports[:, cells.other] = counts[:, :3], counts[:, 3]
    return [planted_row(client_estimates(row, channel)) for row in reports]


def planted_row(clients: GroupEstimates) -> ReleasedRecord:
    """Return what a release says of cell 1, ⟨q00, planted⟩."""
    return record_row(
        "q00",
        "planted",
        0.01,
        client_probability=float(clients.cells.probability[1]),
        client_std_error=float(clients.cells.std_error[1]),
        opt_in_probability=None,
    )


def served_counts(rule: ServingRule, *, query_clients: int, seed: int) -> int:
    """Count in how many of the releases the planted record is served."""
    return sum(rule.allows(row, RELEASE) for row in planted_rows(query_clients, seed))


RELEASE = release_of([query_row("q00", 0.01)], client_users=CLIENTS)


@pytest.mark.parametrize("query_clients", [0, 10_000], ids=["a new query", "a popular query"])
def test_a_planted_record_is_served_in_fewer_than_one_percent(
    seed: int, query_clients: int
) -> None:
    assert_served_in_fewer(served_counts(ServingRule(), query_clients=query_clients, seed=seed))


@pytest.mark.parametrize("query_clients", [0, 10_000], ids=["a new query", "a popular query"])
def test_a_rule_of_two_standard_errors_would_be_caught(seed: int, query_clients: int) -> None:
    """At 2 one release in 44 serves it: the test above would see that."""
    weak = ServingRule(significance=2, fewest_users=0)
    with pytest.raises(AssertionError, match=f"of {RELEASES}"):
        assert_served_in_fewer(served_counts(weak, query_clients=query_clients, seed=seed))


def test_the_number_of_releases_tells_the_two_apart() -> None:
    """Neither the test nor its twin is wrong by chance more often than 10⁻⁹."""
    passing = max(n for n in range(200) if binom.cdf(n, RELEASES, AT_MOST) < FALSE_ALARM)
    assert binom.sf(passing, RELEASES, 0.0014) < FALSE_ALARM  # 1 - Φ(3) is 0.00135
    assert binom.cdf(passing, RELEASES, 0.018) < FALSE_ALARM  # 1 - Φ(2) is 0.0227


@cache
def log() -> CodedLog:
    """Return a log like AOL's with fifty accounts at its end that have the record to plant."""
    honest = synthesize(Shape.AOL_SINGLE, users=519_371 - ACCOUNTS, seed=0)
    planted = np.full(ACCOUNTS, honest.query.max() + 1)
    accounts = honest.user.max() + 1 + np.arange(ACCOUNTS)
    return CodedLog.of(
        np.append(honest.user, accounts),
        np.append(honest.query, planted),
        np.append(honest.url, np.zeros(ACCOUNTS, dtype=np.int64)),
    )


def attacked(population: CodedPopulation) -> CodedPopulation:
    """Let the accounts opt in, spread evenly: in ``paper`` 95 % of them are in S, 5 % in T."""
    opt_in, clients = population.opt_in, population.clients.users
    assert isinstance(clients, CodedUsers)
    user = np.concatenate([opt_in.user, clients.user])
    drawn = np.concatenate([opt_in.drawn, clients.drawn])
    wanted = np.linspace(0, opt_in.size - 1, ACCOUNTS).astype(int)
    for at, account in zip(wanted, log().users - 1 - np.arange(ACCOUNTS), strict=True):
        now = int(np.flatnonzero(user == account)[0])
        for column in (user, drawn):
            column[[at, now]] = column[[now, at]]
    n = opt_in.size
    return CodedPopulation(
        opt_in=replace(opt_in, user=user[:n], drawn=drawn[:n]),
        clients=replace(population.clients, users=replace(clients, user=user[n:], drawn=drawn[n:])),
    )


@pytest.mark.parametrize("preset", get_args(Preset))
def test_whole_runs_list_the_planted_record_and_do_not_serve_it(
    seed: int, preset: Preset, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of 6 runs more than 3 serve it with probability 2·10⁻¹⁰, if one in 500 does."""
    parameters = replace(PARAMETERS, preset=preset)
    runs, listed, shown = 6, 0, 0
    name = log().name(int(np.argmax(log().query)))
    for run in range(runs):
        randomness = Randomness.seeded(1000 * seed + run)
        population = CodedPopulation.draw(
            log(), opt_in=0.05, seed=1000 * seed + run, randomness=randomness
        )
        result = blender(attacked(population), parameters, randomness)
        path = tmp_path_factory.mktemp("run") / "release.json"
        write_document(path, release_document(result, {}, created=""))
        release = read_release(path)
        listed += any(row.url == name.url for row in release.listed_records().get(name.query, []))
        found = served(release, ServingRule())
        shown += any(row.query == name.query for row in found.queries)
        assert len(found.queries) > 5  # what is popular is served
    assert listed == runs  # without the rule they succeed
    assert shown <= 3
