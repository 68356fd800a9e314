"""Discovery alone for ``make shares``: the rule of the branch, caps, and the scalars' share.

Compared are numbers of records that a plan is expected to list of the same users, over all noise.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from unittest.mock import patch

import numpy as np
from scipy.stats import norm

from benchmarks.accuracy import DELTA, OPT_IN, ratio, row
from benchmarks.workloads import MEASURES, Targets, logs
from blender_dp.core.curator import discovery
from blender_dp.core.curator.budget import MOST_CANDIDATES, MOST_RECORDS, Budget
from blender_dp.core.curator.discovery import GAUSS_ADVANTAGE
from blender_dp.core.curator.gaussian_plan import GaussianPlan, gaussian_plan
from blender_dp.core.curator.laplace_search import CandidateLaw
from blender_dp.core.curator.plans import count_plan, weight_plan
from blender_dp.core.exact.lattice import UNIT, weights
from blender_dp.core.head_list.cells import FloatArray, IntArray
from blender_dp.core.parameters import Parameters
from blender_dp.engine.synthetic import Shape, ShapeOptions, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedUsers
from blender_dp.evaluation.trials.trials import Experiment

EPSILONS = (1, 4)
CAPS = (8, 16, 32, 64)
ADVANTAGES = (0.6, 0.7, 0.77, 0.85, 1.0, 1.1)
FORMER_ADVANTAGE = 0.77
BRANCH_RUNS = 8
DISCOVERY_USERS = 100_000
DISCOVERY_OPT_IN = 25_000
RECORDS_EACH = (1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 12.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Opt-in users of a log as discovery sees them."""

    name: str
    log: CodedLog
    counts: IntArray
    """Users of each record, if each gives one."""
    users: CodedUsers
    average_weight: float

    @classmethod
    def of(cls, name: str, log: CodedLog, opted_in: int) -> "Sample":
        """Draw the opt-in users of a log."""
        users = CodedUsers.drawn_from(log, 1).between(0, opted_in)
        distinct = users.distinct_records(MOST_RECORDS)
        total = float((np.sqrt(np.arange(len(distinct))) * distinct).sum())
        return cls(
            name=name,
            log=log,
            counts=users.record_counts(1).sum,
            users=users,
            average_weight=max(total / opted_in, 1.0),
        )

    def by_counts(self, budget: Budget) -> float:
        """Return the expected number of records in the Laplace branch."""
        plan = count_plan(budget)
        share = float(plan.noise.right / plan.epsilon)
        law = CandidateLaw(float(plan.epsilon), plan.threshold, share)
        return float(law.passing(self.counts.astype(np.float64)).sum())

    def by_weights(self, plan: GaussianPlan) -> float:
        """Return the same in the Gaussian branch."""
        sums: FloatArray = self.users.record_weights(weights(plan.most), 1).sum / UNIT
        deviations = (sums - plan.threshold / UNIT) / (plan.discovery_sigma / UNIT)
        return float(norm.cdf(deviations).sum())


def samples() -> list[Sample]:
    """Return logs with one to twelve records per user, and the workloads with many."""
    found = [
        Sample.of(f"aol, {mean:g} each", _aol_log(mean), DISCOVERY_OPT_IN) for mean in RECORDS_EACH
    ]
    for name, declared, log in logs():
        if not declared:
            found.append(Sample.of(name, log, round(OPT_IN * log.users)))
    return found


def _aol_log(mean_records: float) -> CodedLog:
    options = ShapeOptions(mean_records=mean_records)
    log = synthesize(Shape.AOL, DISCOVERY_USERS, 6, options=options)
    return CodedLog.of(log.user, log.query, log.url)


def branch_table(drawn: list[Sample]) -> str:
    """Compare both branches and return the tables."""
    parts = [
        "\n## The rule of the branch\n",
        "*Quotient*: the threshold of the Gaussian branch for an average user, over that of the "
        f"Laplace branch. The Gaussian branch is taken below {GAUSS_ADVANTAGE:g}; it was below "
        f"{FORMER_ADVANTAGE:g} before the exact accounting. Records are those expected over all "
        f"noise. Errors, of {BRANCH_RUNS} whole runs with either branch where the rule changed or "
        "nearly did, are those of the truly most frequent records and queries (L1; an unlisted one "
        "counts as 0), Gauss over Laplace.\n",
        "| log | ε | quotient | records, Laplace | records, Gauss | taken | record error "
        "| query error |",
        "|---|---|---|---|---|---|---|---|",
    ]
    cases = []
    for epsilon in EPSILONS:
        budget = Budget.of(Parameters(epsilon=epsilon, delta=DELTA))
        plan, half = weight_plan(budget), count_plan(budget).half
        for sample in drawn:
            quotient = plan.threshold / UNIT / sample.average_weight / half
            both = sample.by_counts(budget), sample.by_weights(plan)
            cases.append((quotient, *both))
            taken = "Gauss" if quotient < GAUSS_ADVANTAGE else "Laplace"
            cells = [sample.name, str(epsilon), f"{quotient:.2f}"]
            errors = ["", ""]
            if FORMER_ADVANTAGE < quotient < max(ADVANTAGES):
                errors = _errors_by_branch(sample, epsilon)
            parts.append(row([*cells, *(f"{one:.1f}" for one in both), taken, *errors]))
    parts += [
        "\nOther limits: the records of the branch that is taken over those of the better one.\n",
        "| limit | mean | worst |",
        "|---|---|---|",
    ]
    for limit in ADVANTAGES:
        kept = [(g if q < limit else c) / max(g, c) for q, c, g in cases]
        parts.append(row([f"{limit:g}", f"{np.mean(kept):.3f}", f"{min(kept):.3f}"]))
    return "\n".join(parts)


def _errors_by_branch(sample: Sample, epsilon: int) -> list[str]:
    """Return the errors of whole runs in the Gaussian branch over those in the Laplace branch."""
    parameters = Parameters(epsilon=epsilon, delta=DELTA)
    experiment = Experiment(parameters=parameters, opt_in=sample.users.size / sample.log.users)
    targets = Targets.of(sample.log, experiment)
    found = []
    for advantage in (0.0, inf):
        with patch.object(discovery, "GAUSS_ADVANTAGE", advantage):
            found.append(
                [targets.outcome(experiment.result(sample.log, i)) for i in range(BRANCH_RUNS)]
            )
    return [
        ratio(*([float(getattr(one, name)) for one in runs] for runs in reversed(found)))
        for name in MEASURES[1:]
    ]


def cap_table(drawn: list[Sample]) -> str:
    """Try other caps of a user's records, and count what K_max would cut; return the tables."""
    parts = [
        "\n## The most records of a user, m\n",
        f"Records of the Gaussian branch, expected over all noise, over those at m = "
        f"{MOST_RECORDS}.\n",
        f"| log | ε | {' | '.join(str(cap) for cap in CAPS)} |",
        f"|---|---|{'---|' * len(CAPS)}",
    ]
    for epsilon in EPSILONS:
        budget = Budget.of(Parameters(epsilon=epsilon, delta=DELTA))
        plans = [gaussian_plan(budget.rest, budget.delta, most=cap) for cap in CAPS]
        usual = weight_plan(budget)
        for sample in drawn:
            at_usual = sample.by_weights(usual)
            cells = [f"{sample.by_weights(plan) / at_usual:.3f}" for plan in plans]
            parts.append(row([sample.name, str(epsilon), *cells]))
    parts += [
        "\n## The most records of a list, K_max\n",
        f"Records expected to pass, over all noise, in the better branch; more than "
        f"{MOST_CANDIDATES:,} would be cut.\n",
        "| log | ε = 4 | ε = 8 |",
        "|---|---|---|",
    ]
    for sample in drawn:
        budgets = [Budget.of(Parameters(epsilon=e, delta=DELTA)) for e in (4, 8)]
        passing = [max(sample.by_counts(b), sample.by_weights(weight_plan(b))) for b in budgets]
        parts.append(row([sample.name, *(f"{one:,.0f}" for one in passing)]))
    return "\n".join(parts)


def scalar_table(drawn: list[Sample]) -> str:
    """Try other shares for the two scalars and return the table."""
    shares = (Fraction(1, 400), Fraction(1, 200), Fraction(1, 100), Fraction(1, 50))
    parts = [
        "\n## The share for the two scalars\n",
        "Records of the Gaussian branch, expected over all noise, over those at 0.01.\n",
        f"| log | ε | {' | '.join(f'{float(share):g}' for share in shares)} |",
        f"|---|---|{'---|' * len(shares)}",
    ]
    for epsilon in EPSILONS:
        budget = Budget.of(Parameters(epsilon=epsilon, delta=DELTA))
        plans = [gaussian_plan(budget.rest, budget.delta, scalar_share=one) for one in shares]
        usual = weight_plan(budget)
        for sample in drawn:
            at_usual = sample.by_weights(usual)
            cells = [f"{sample.by_weights(plan) / at_usual:.3f}" for plan in plans]
            parts.append(row([sample.name, str(epsilon), *cells]))
    return "\n".join(parts)
