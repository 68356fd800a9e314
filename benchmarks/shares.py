"""Shares of the budget, rule of the branch and caps on several workloads: ``make shares``.

Writes ``shares.md``. The share η is tried in whole runs that draw the same users and the same
noise; all else by the number of records that a plan is expected to list, over all noise.
"""

from pathlib import Path

import numpy as np

from benchmarks.accuracy import DELTA, OPT_IN, made_by, ratio, row
from benchmarks.discovery_plans import (
    EPSILONS,
    branch_table,
    cap_table,
    samples,
    scalar_table,
)
from benchmarks.workloads import MEASURES, Outcome, Targets, logs
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.curator.budget import ESTIMATION_SHARE
from blender_dp.core.parameters import Parameters
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.trials import Experiment

RESULTS = Path(__file__).parent / "shares.md"
RUNS = 8
SHARES = (0.03, 0.05, 0.08, 0.15)
"""Values of η."""
USUAL = float(ESTIMATION_SHARE)
RELAYS = (0.0, 0.02, 0.1, 0.5)
"""Shares of the clients who use a relay."""


# The share for the sums


def share_table() -> str:
    """Try every share on every workload and return the table."""
    parts = [
        "\n## The share for the sums, η\n",
        f"{OPT_IN:.0%} opted in, δ = {DELTA:g}, {RUNS} runs; ± is the standard error. All is "
        f"over the same runs at η = {USUAL:g}: records listed, error of the truly most frequent "
        "records (L1; an unlisted one counts as 0), error of the most frequent queries. "
        f"A share of {RELAYS[1]:g}, {RELAYS[2]:g} and {RELAYS[3]:g} of the clients is "
        "0.4, 1.9 and 9.5 relay clients per opt-in user.\n",
        "| log | ε | relay | η | records | record error | query error |",
        "|---|---|---|---|---|---|---|",
    ]
    pooled: dict[tuple[float, float], list[list[float]]] = {}
    for name, declared, log in logs():
        for epsilon in EPSILONS:
            for relay in RELAYS:
                found = _outcomes(log, epsilon, relay, declared=declared)
                for share in SHARES:
                    cells = [name, str(epsilon), f"{relay:g}", f"{share:g}"]
                    parts.append(row([*cells, *_against_usual(found, share)]))
                    pooled.setdefault((relay, share), []).append(_logarithms(found, share))
    return "\n".join([*parts, *_pooled_table(pooled)])


def _pooled_table(pooled: dict[tuple[float, float], list[list[float]]]) -> list[str]:
    parts = [
        "\nThe geometric means over these ten rows; ± is their standard error over the rows:\n",
        "| relay | η | records | record error | query error |",
        "|---|---|---|---|---|",
    ]
    for (relay, share), rows in pooled.items():
        means, errors = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / len(rows) ** 0.5
        cells = [
            f"{np.exp(mean):.3f} ± {np.exp(mean) * error:.3f}"
            for mean, error in zip(means, errors, strict=True)
        ]
        parts.append(row([f"{relay:g}", f"{share:g}", *cells]))
    return parts


def _outcomes(
    log: CodedLog, epsilon: int, relay: float, *, declared: bool
) -> dict[float, list[Outcome]]:
    """Return the outcomes of every run by share."""

    def experiment(share: float, clients: float) -> Experiment:
        parameters = Parameters(
            epsilon=epsilon, delta=DELTA, one_record_each=declared, estimation_share=share
        )
        return Experiment(parameters=parameters, opt_in=OPT_IN, relay=RelayRules(share=clients))

    targets = Targets.of(log, experiment(USUAL, 0.0))
    return {
        share: [targets.outcome(experiment(share, relay).result(log, i)) for i in range(RUNS)]
        for share in SHARES
    }


def _columns(found: dict[float, list[Outcome]], share: float, name: str) -> list[float]:
    return [float(getattr(outcome, name)) for outcome in found[share]]


def _against_usual(found: dict[float, list[Outcome]], share: float) -> list[str]:
    return [ratio(_columns(found, share, name), _columns(found, USUAL, name)) for name in MEASURES]


def _logarithms(found: dict[float, list[Outcome]], share: float) -> list[float]:
    return [
        float(np.log(np.mean(_columns(found, share, name)) / np.mean(_columns(found, USUAL, name))))
        for name in MEASURES
    ]


def main() -> None:
    """Measure, print and write."""
    head = f"# Shares of the budget, the rule of the branch, and caps\n\n{made_by('shares')}"
    drawn = samples()
    tables = [branch_table(drawn), cap_table(drawn), scalar_table(drawn), share_table()]
    RESULTS.write_text(f"{head}{chr(10).join(tables).lstrip()}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
