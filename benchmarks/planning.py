"""Predictions of the planner against simulations: ``make planning`` writes ``planning.md``.

The picture ``planning.svg`` is drawn beside that page and not kept in git. A simulation runs the
algorithm on a whole synthetic log and compares the result with the truth in the log; the plan is
made without the log.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import mean, stdev

from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.parameters import Parameters
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.scores import Scores
from blender_dp.evaluation.trials.trials import Experiment, run_trials
from blender_dp.planning.plan import plan
from blender_dp.planning.prediction import Predicted

HERE = Path(__file__).parent
RUNS = {100_000: 32, 519_371: 12}
"""Shorter lists vary more, and are made faster."""
LONG = 20
"""List size from which chance is small enough for the bounds to judge the plan."""
DELTA = 1e-5
MEASURES = ("queries", "records", "ndcg", "query_l1", "record_l1")
SEEDS = {Shape.AOL_SINGLE: 0, Shape.AOL_MULTI: 1, Shape.ZIPF: 2}
GRID = (
    *((100_000, opt_in) for opt_in in (0.05, 0.1)),
    *((519_371, opt_in) for opt_in in (0.02, 0.05)),
)
EPSILONS = (1, 2, 4)
RELAY_SETTING = (100_000, 0.1)
"""Users and opt-in share of the settings with a relay."""
RELAY_SHARES = (0.1, 0.5, 1.0)
RELAY_EPSILONS = (1, 4)
RELAY_RUNS = 12
WITHIN = {"queries": 0.1, "records": 0.1, "query_l1": 0.2, "record_l1": 0.2}


@dataclass(frozen=True, slots=True)
class Point:
    """One setting, predicted and simulated."""

    shape: Shape
    users: int
    opt_in: float
    epsilon: int
    relay: float
    """Share of the clients who use a relay."""
    seconds: float
    """Processor time of the plan."""
    predicted: dict[str, Predicted]
    simulated: dict[str, tuple[float, float]]
    """Mean and standard error of the runs."""

    def off(self, measure: str) -> float:
        """Return by how much the prediction is off, relative to the simulation."""
        simulated = self.simulated[measure][0]
        return float(self.predicted[measure].mean / simulated - 1)

    def deviations(self, measure: str) -> float:
        """Return the same in units of what chance and the stated error of the plan allow for."""
        simulated, error = self.simulated[measure]
        allowed = math.hypot(error, self.predicted[measure].error / 2)
        return abs(self.predicted[measure].mean - simulated) / allowed


def main() -> None:
    """Predict, simulate, write."""
    points, relayed = [], relay_points()
    for shape, seed in SEEDS.items():
        for users in sorted({users for users, _ in GRID}):
            made = synthesize(shape, users=users, seed=seed)
            log = CodedLog.of(made.user, made.query, made.url)
            for opt_in in [share for number, share in GRID if number == users]:
                for epsilon in EPSILONS:
                    runs = RUNS[log.users]
                    points.append(_point(log, shape, opt_in, epsilon, relay=0.0, runs=runs))
                    print(_row(points[-1]), flush=True)
    page = _page(points) + relay_section(relayed)
    (HERE / "planning.md").write_text(page, encoding="utf-8")
    (HERE / "planning.svg").write_text(_plot(points), encoding="utf-8")


def relay_points() -> list[Point]:
    """Predict and simulate collections with a relay."""
    users, opt_in = RELAY_SETTING
    points = []
    for shape, seed in SEEDS.items():
        made = synthesize(shape, users=users, seed=seed)
        log = CodedLog.of(made.user, made.query, made.url)
        for epsilon, share in product(RELAY_EPSILONS, RELAY_SHARES):
            points.append(_point(log, shape, opt_in, epsilon, relay=share, runs=RELAY_RUNS))
            print(f"| {share:.0%} {_row(points[-1])}", flush=True)
    return points


def _point(
    log: CodedLog, shape: Shape, opt_in: float, epsilon: int, *, relay: float, runs: int
) -> Point:
    begin = time.process_time()
    made = plan(
        users=log.users, opt_in=opt_in, epsilon=epsilon, delta=DELTA, like=str(shape), relay=relay
    )
    seconds = time.process_time() - begin
    experiment = Experiment(
        parameters=Parameters(epsilon=epsilon, delta=DELTA),
        opt_in=opt_in,
        relay=RelayRules(share=relay),
        repetitions=runs,
        seed=1,
    )
    scores = run_trials(log, experiment, workers=1)
    return Point(
        shape=shape,
        users=log.users,
        opt_in=opt_in,
        epsilon=epsilon,
        relay=relay,
        seconds=seconds,
        predicted=made.prediction.measures,
        simulated={name: _mean(scores, name) for name in MEASURES},
    )


def _mean(scores: Sequence[Scores], name: str) -> tuple[float, float]:
    values = [float(getattr(one, name)) for one in scores]
    return mean(values), stdev(values) / len(values) ** 0.5


def _row(point: Point) -> str:
    cells = [str(point.shape), f"{point.users:,}", f"{point.opt_in:.0%}", str(point.epsilon)]
    for name in MEASURES:
        simulated, error = point.simulated[name]
        digits = 4 if name == "ndcg" else 3
        cells.append(f"{point.predicted[name].mean:.{digits}g}")
        cells.append(f"{simulated:.{digits}g} ± {error:.1g}")
    return "| " + " | ".join([*cells, f"{point.seconds:.1f}"]) + " |"


def _heads() -> list[str]:
    heads = ["shape", "users", "opt-in", "ε"]
    for name in ("queries", "records", "NDCG", "query L1", "record L1"):
        heads += [f"{name}, plan", "simulated"]
    return [*heads, "s"]


def relay_section(points: Sequence[Point]) -> str:
    """Return the part of the page about collections with a relay."""
    heads = ["relay share", *_heads()]
    lines = [
        "",
        "## With a relay",
        "",
        f"Each simulation is the mean of {RELAY_RUNS} runs, ± one standard error; ε0 is at most 8. "
        "A plan with a relay predicts the same users without one too, which takes twice the time.",
        "",
        "| measure | mean difference | largest | largest, in standard errors |",
        "|---|---|---|---|",
        *(
            f"| {name} | {mean(abs(p.off(name)) for p in points):.1%} | "
            f"{max(abs(p.off(name)) for p in points):.1%} | "
            f"{max(p.deviations(name) for p in points):.1f} |"
            for name in MEASURES
        ),
        "",
        "| " + " | ".join(heads) + " |",
        "|" + "---|" * len(heads),
        *(f"| {point.relay:.0%} {_row(point)}" for point in points),
        "",
    ]
    return "\n".join(lines)


def _page(points: Sequence[Point]) -> str:
    heads = _heads()
    long = [point for point in points if point.simulated["queries"][0] >= LONG]
    lines = [
        "# The planner against simulation",
        "",
        "Made by `make planning`, which also draws `planning.svg`. Preset sharp, δ = 10⁻⁵. "
        "A plan draws 3 to 20 "
        f"imagined collections; a simulation is the mean of {min(RUNS.values())} or "
        f"{max(RUNS.values())} runs on a whole log that the plan has not seen, ± one standard "
        "error. The last column is the processor time of a plan.",
        "",
        f"| measure | mean difference | largest, lists from {LONG} queries | largest of all | "
        "asked for | largest, in standard errors |",
        "|---|---|---|---|---|---|",
        *(
            f"| {name} | {mean(abs(p.off(name)) for p in points):.1%} | "
            f"{max(abs(p.off(name)) for p in long):.1%} | "
            f"{max(abs(p.off(name)) for p in points):.1%} | "
            f"{f'{WITHIN[name]:.0%}' if name in WITHIN else '–'} | "
            f"{max(p.deviations(name) for p in points):.1f} |"
            for name in MEASURES
        ),
        "",
        "Standard errors are those of the simulation and half of what a plan states as its error, "
        "together. Most of a difference is chance, above all on short lists.",
        "",
        "| " + " | ".join(heads) + " |",
        "|" + "---|" * len(heads),
        *(_row(point) for point in points),
        "",
    ]
    return "\n".join(lines)


def _plot(points: Sequence[Point]) -> str:
    """Draw predicted over simulated, as ratios, for the four measures that have a bound."""
    width, height, left, panel = 900, 300, 60, 200
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]

    def at(off: float) -> float:
        return 140 - max(min(off, 0.25), -0.25) * 400

    parts += [
        f'<text x="{left - 8}" y="{at(off) + 4}" text-anchor="end">{off:+.0%}</text>'
        for off in (-0.2, -0.1, 0, 0.1, 0.2)
    ]
    colours = {Shape.AOL_SINGLE: "#1b6ca8", Shape.AOL_MULTI: "#c8553d", Shape.ZIPF: "#4d8b31"}
    for number, (name, allowed) in enumerate(WITHIN.items()):
        x = left + number * (panel + 10)
        parts.append(
            f'<rect x="{x}" y="{at(allowed)}" width="{panel}" '
            f'height="{at(-allowed) - at(allowed)}" fill="#e8eef2"/>'
            f'<line x1="{x}" x2="{x + panel}" y1="{at(0)}" y2="{at(0)}" stroke="#888"/>'
            f'<text x="{x + panel / 2}" y="20" text-anchor="middle">{name}</text>'
        )
        parts += [
            f'<circle cx="{x + 8 + i * (panel - 16) / max(len(points) - 1, 1):.1f}" '
            f'cy="{at(point.off(name)):.1f}" r="3.5" fill="{colours[point.shape]}"/>'
            for i, point in enumerate(points)
        ]
    for number, (shape, colour) in enumerate(colours.items()):
        x = left + number * 130
        parts.append(
            f'<circle cx="{x}" cy="272" r="4" fill="{colour}"/>'
            f'<text x="{x + 10}" y="276">{shape}</text>'
        )
    parts.append('<text x="480" y="276">predicted over simulated; shaded: allowed</text></svg>')
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
