"""Cover of the intervals of known records, by the release they are from: ``make known-covers``.

Writes ``known_covers.md``. Every run is made three times with the same noise: by the rule, and
with all known records taken for those of a release like this one, and for records from elsewhere.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

import numpy as np

from benchmarks.accuracy import DELTA, OPT_IN, made_by, row, workload
from benchmarks.records import EARLIER_SEED, known_in
from blender_dp.core.blender import BlenderResult
from blender_dp.core.curator.listing_rule import half_listed
from blender_dp.core.estimation.discovery_facts import discovery_facts
from blender_dp.core.head_list.cells import BoolArray
from blender_dp.core.head_list.known_list import KnownFrom, KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.engine.synthetic import Shape
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.trials import Experiment

RESULTS = Path(__file__).parent / "known_covers.md"
EPSILON = 1.0
RUNS = {Shape.AOL_SINGLE: 30, Shape.AOL_MULTI: 8}
CATALOGUE = 1_000
"""Number of the most frequent records that a catalogue names."""
_BEFORE_THAT = 500
"""Added to the number of a run for the release before the earlier one."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """Earlier releases of one log."""

    log: CodedLog
    parameters: Parameters

    def release(
        self, number: int, *, epsilon: float = 1, opt_in: float = 1, known: KnownList | None = None
    ) -> KnownList:
        """Return the list of a release; ε and the share of opt-in users are multiples."""
        experiment = Experiment(
            parameters=replace(self.parameters, epsilon=epsilon * EPSILON),
            opt_in=opt_in * OPT_IN,
            seed=EARLIER_SEED,
        )
        experiment = replace(experiment, known=known) if known else experiment
        return known_in(experiment.result(self.log, number))

    def catalogue(self) -> KnownList:
        """Return the most frequent records."""
        top = np.argsort(-self.log.probability, kind="stable")[:CATALOGUE]
        return KnownList.of([self.log.name(int(code)) for code in top])

    def kinds(self) -> dict[str, Callable[[int], KnownList]]:
        """Return how each kind of earlier release is made, from the number of a run."""
        release, before = self.release, _BEFORE_THAT
        catalogue = self.catalogue()
        return {
            "with the same rule": release,
            "the same, knowing the list of another such release": lambda n: release(
                n, known=release(n + before)
            ),
            "with a quarter of the opt-in users": lambda n: release(n, opt_in=0.25),
            "at ε = 0.9": lambda n: release(n, epsilon=0.9),
            "at ε = 1.25": lambda n: release(n, epsilon=1.25),
            "at ε = 2": lambda n: release(n, epsilon=2),
            "at ε = 4": lambda n: release(n, epsilon=4),
            "with four times the opt-in users": lambda n: release(n, opt_in=4),
            "with the same rule, knowing the list of a release at ε = 4": lambda n: release(
                n, known=release(n + before, epsilon=4)
            ),
            f"with the same rule, knowing the {CATALOGUE:,} most frequent records": lambda n: (
                release(n, known=catalogue)
            ),
        }


def table(shape: Shape) -> str:
    """Measure every kind of earlier release on one workload."""
    log, runs = workload(shape), range(RUNS[shape])
    parameters = Parameters(epsilon=EPSILON, delta=DELTA, one_record_each=shape is Shape.AOL_SINGLE)
    now = Experiment(parameters=parameters, opt_in=OPT_IN)
    half = half_listed(discovery_facts(now.result(log, 0).curated))
    parts = [
        f"\n## {shape}, {RUNS[shape]} runs\n",
        "| earlier release | its threshold, over this one's | by the rule | taken for one like "
        "this | taken for elsewhere |",
        "|---|---|---|---|---|",
    ]
    for kind, make in Earlier(log, parameters).kinds().items():
        known = [make(number) for number in runs]
        halves = [one.half_listed for one in known if one.half_listed]
        over = f"{mean(halves) / half:.2g}" if halves and half else "not taken"
        taken = {
            "by the rule": known,
            "like this": [replace(one, half_listed=1.0) for one in known],
            "elsewhere": [replace(one, half_listed=None) for one in known],
        }
        covers = [
            _cover(log, [replace(now, known=known[n]).result(log, n) for n in runs])
            for known in taken.values()
        ]
        parts.append(row([kind, over, *(f"{cover:.3f}" for cover in covers)]))
        print(parts[-1], flush=True)
    return "\n".join(parts)


def _cover(log: CodedLog, results: list[BlenderResult]) -> float:
    """Return the share of known records, over all runs, whose interval holds the truth."""
    held = [_held(log, result) for result in results]
    return float(np.concatenate(held).mean())


def _held(log: CodedLog, result: BlenderResult) -> BoolArray:
    tally = result.curated.opt_in.tally
    if tally is None or tally.known is None:
        raise ValueError("a known list gives a tally with known records")
    cells = np.asarray(result.head_list.cells.discovered)[tally.known != KnownFrom.NOWHERE]
    low, high = result.blended.cells.interval()
    truth = log.true_cells(result.head_list)
    held: BoolArray = ((low <= truth) & (truth <= high))[cells]
    return held


def main() -> None:
    """Measure, print and write."""
    intro = (
        f"519,371 users, {OPT_IN:.0%} opted in, ε = {EPSILON:g}, δ = {DELTA:g}. Cover is the share "
        "of known records whose 95 % interval holds the truth. A threshold is taken as the "
        "probability of a record that is listed with probability one half; *not taken*: records "
        "of that release were known from elsewhere."
    )
    tables = "\n".join(table(shape) for shape in RUNS)
    head = f"# Cover of known records\n\n{made_by('known-covers')}{intro}\n"
    RESULTS.write_text(f"{head}{tables}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
