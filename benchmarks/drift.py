"""Size and power of the test for drift between the two groups: ``make drift``.

Writes ``drift.md``. A tilt of t makes every query either 1 + t or 1 - t times as frequent among
those who opt in, by a coin for each query: users are drawn into the group with such weights. The
truth is that of all users.
"""

import math
import os
import platform
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.accuracy import DELTA, OPT_IN, SEEDS
from blender_dp.core.blend_probabilities.sharp import combine
from blender_dp.core.blender import BlenderResult, blender
from blender_dp.core.estimation.client_views import ClientViews
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.parameters import Parameters
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedPopulation, CodedUsers
from blender_dp.evaluation.trials.metrics import coverage

RESULTS = Path(__file__).parent / "drift.md"
RUNS = {0.0: 300, 0.2: 60, 0.4: 40}
LEVEL = 0.05
EPSILON = 4.0
TILTS = {Shape.AOL_SINGLE: (0.0, 0.2, 0.4), Shape.AOL_MULTI: (0.0,)}
"""Where users have many records a preference for one of them hardly tilts the others."""


def tilted(log: CodedLog, population: CodedPopulation, tilt: float, seed: int) -> CodedPopulation:
    """Draw again who opts in, with a preference of ``tilt`` for or against every query."""
    rng = np.random.default_rng(seed)
    factor = 1 + tilt * rng.choice([-1.0, 1.0], int(log.query.max()) + 1)
    rows = np.diff(log.first_row)
    owner = np.repeat(np.arange(log.users), rows)
    weight = np.bincount(owner, factor[log.query[log.row_record]], log.users) / np.maximum(rows, 1)
    # The users of the smallest exponential times, at rates by weight, are drawn without
    # replacement with these weights (Efraimidis and Spirakis, 2006).
    order = np.argsort(rng.exponential(size=log.users) / weight)
    everyone = _all_users(population, log)
    n = population.opt_in.size
    # In a random order again: those who come first are asked for the query.
    opt_in, clients = rng.permutation(order[:n]), rng.permutation(order[n:])
    return CodedPopulation(
        opt_in=_at(everyone, opt_in),
        clients=replace(population.clients, users=_at(everyone, clients)),
    )


def _all_users(population: CodedPopulation, log: CodedLog) -> CodedUsers:
    """Return all users in the order of the log."""
    opt_in, clients = population.opt_in, population.clients.users
    if not isinstance(clients, CodedUsers):
        raise TypeError("clients of a coded log are coded users")
    user = np.concatenate([opt_in.user, clients.user])
    drawn = np.empty(log.users, dtype=np.int64)
    drawn[user] = np.concatenate([opt_in.drawn, clients.drawn])
    return replace(opt_in, user=np.arange(log.users), drawn=drawn)


def _at(users: CodedUsers, chosen: IntArray) -> CodedUsers:
    return replace(users, user=users.user[chosen], drawn=users.drawn[chosen])


def one_run(log: CodedLog, parameters: Parameters, tilt: float, number: int) -> BlenderResult:
    """Run once with a tilted opt-in group."""
    randomness = Randomness.seeded(number)
    population = CodedPopulation.draw(log, opt_in=OPT_IN, seed=number, randomness=randomness)
    return blender(tilted(log, population, tilt, number), parameters, randomness)


def query_coverage(result: BlenderResult, log: CodedLog, *, robust: bool) -> float:
    """Return how many of the query intervals hold the truth, with or without the robust blend."""
    released, reported = result.curated.opt_in.evidence, result.clients.evidence
    if not isinstance(released, OptInViews) or not isinstance(reported, ClientViews):
        raise TypeError("only sharp has what drift is tested with")
    views = released.among(released.users + reported.reports)
    level = combine(views, reported, robust=robust).queries
    truth = released.cells.by_query(log.true_cells(result.head_list))
    low, high = level.interval()
    return coverage((low[:-1], high[:-1]), truth[:-1]).share


def row(log: CodedLog, shape: Shape, epsilon: float, tilt: float) -> str:
    """Measure one setting."""
    parameters = Parameters(epsilon=epsilon, delta=DELTA, one_record_each=shape is Shape.AOL_SINGLE)
    results = [one_run(log, parameters, tilt, number) for number in range(RUNS[tilt])]
    p_values = np.array(
        [result.blended.drift.p_value for result in results if result.blended.drift]
    )
    found = float((p_values < LEVEL).mean())
    error = math.sqrt(found * (1 - found) / len(p_values))
    covered = [
        np.mean([query_coverage(result, log, robust=robust) for result in results[:40]])
        for robust in (False, True)
    ]
    detectable = [r.blended.drift.smallest_detectable for r in results if r.blended.drift]
    cells = [
        str(shape),
        f"{epsilon:g}",
        f"{tilt:.0%}",
        str(len(p_values)),
        f"{found:.3f} ± {error:.3f}",
        f"{np.median(detectable):.0%}",
        *(f"{share:.3f}" for share in covered),
    ]
    line = f"| {' | '.join(cells)} |"
    print(line, flush=True)
    return line


def table() -> str:
    """Measure everything."""
    lines = [
        "| workload | ε | tilt | runs | share with p < 0.05 | smallest detectable | "
        "query cover, plain | query cover, robust |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for shape, tilts in TILTS.items():
        made = synthesize(shape, seed=SEEDS[shape])
        log = CodedLog.of(made.user, made.query, made.url)
        lines += [row(log, shape, EPSILON, tilt) for tilt in tilts]
    return "\n".join(lines)


def main() -> None:
    """Measure, print and write."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    head = (
        "# Do the groups differ: size and power of the test\n\n"
        f"Made by `make drift` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, "
        f"{memory:.0f} GiB, Python {platform.python_version()}. Synthetic data, 519,371 users, "
        f"{OPT_IN:.0%} opted in, δ = {DELTA:g}. At a tilt of 0 % the share with p < 0.05 is the "
        "size of the test, otherwise its power. A tilt of t makes every query 1 + t or 1 - t "
        "times as frequent among those who opt in. Coverage is that of the 95 % intervals of "
        "queries in up to 40 of the runs, the truth being that of all users.\n\n"
    )
    RESULTS.write_text(head + table() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
