"""Comparison of BLENDER and its peers on one log: ``make peers`` writes ``peers.md``.

The picture ``peers.svg`` is drawn beside that page and not kept in git.
"""

import argparse
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import made_by
from benchmarks.peers import figure
from benchmarks.peers.catalogue import methods
from benchmarks.peers.comparison import Comparison, Row, compare
from blender_dp.engine.synthetic import Shape, synthesize
from blender_dp.evaluation.trials.coded_log import CodedLog

HERE = Path(__file__).parents[1]
LARGEST = 5.0
SMALLER = (1.0, 2.0, 3.0, 4.0)
DRAWN = (
    "BLENDER, preset sharp",
    "BLENDER, preset paper",
    "OpenDP threshold histogram, opt-in users",
    "OpenDP threshold histogram, everybody",
    "pure-ldp PEM",
    "pure-ldp OUE",
)
"""One method for each idea; the first table has them all."""
CLOSEST = DRAWN[:3]
"""The hybrid and what its curator could do alone: cheap, so compared many times."""
CLOSEST_REPETITIONS = 10


def main() -> None:
    """Compare, print and write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--users", type=int, help="fewer users than the shape has")
    options.add_argument("--repetitions", type=int, default=1)
    options.add_argument("-o", "--output", type=Path, default=HERE)
    chosen = options.parse_args()
    made = synthesize(Shape.AOL, users=chosen.users)
    log = CodedLog.of(made.user, made.query, made.url)
    at_largest = Comparison(epsilons=(LARGEST,), delta=1e-5, repetitions=chosen.repetitions)
    drawn = [peer for peer in methods() if peer.name in DRAWN]
    ten = compare(log, at_largest, methods(), progress=_tell)
    fifty = compare(log, replace(at_largest, list_sizes=(50,)), drawn, progress=_tell)
    smaller = compare(log, replace(at_largest, epsilons=SMALLER), drawn, progress=_tell)
    closest = compare_closest(log, chosen.repetitions)
    by_epsilon = [*smaller, *(row for row in ten if row.peer.name in DRAWN)]
    figure.draw(by_epsilon, chosen.output / "peers.svg")
    page = _page(log, chosen.repetitions, [ten, fifty], by_epsilon) + "\n" + clients_add(closest)
    print(page)
    (chosen.output / "peers.md").write_text(page, encoding="utf-8")


def _page(
    log: CodedLog, repetitions: int, tables: Sequence[list[Row]], by_epsilon: list[Row]
) -> str:
    parts = [
        "# BLENDER and its peers",
        made_by("make peers"),
        f"A synthetic log of the AOL shape: {log.users:,} users, {log.no_record:,} distinct "
        f"records. δ = 1e-5, opt-in share 5 %. What the columns mean and why this is fair: "
        "[compare with peers](../docs/how-to/compare-with-peers.md).",
    ]
    parts.append(f"Means of {repetitions} repetitions." if repetitions > 1 else "One repetition.")
    for rows in tables:
        parts += [
            f"## ε = {rows[0].epsilon:g}, list size {rows[0].list_size}",
            figure.table(rows),
        ]
    parts += [
        "## By ε",
        "NDCG against the best list, list size 10 (`make peers` draws it, and L1, in `peers.svg`):",
        _by_epsilon(by_epsilon),
    ]
    return "\n\n".join(parts) + "\n"


def compare_closest(log: CodedLog, repetitions: int) -> list[Row]:
    """Compare the closest two at every ε, and at both list sizes."""
    comparison = Comparison(
        epsilons=(*SMALLER, LARGEST),
        delta=1e-5,
        list_sizes=(10, 50),
        repetitions=CLOSEST_REPETITIONS * repetitions,
    )
    peers = [peer for peer in methods() if peer.name in CLOSEST]
    return compare(log, comparison, peers, progress=_tell)


def clients_add(rows: list[Row]) -> str:
    """Return the section on what the clients add to a curator of the opt-in users."""
    lines = [
        "## What the clients add",
        "",
        "The hybrid beside what its curator could release alone from the same opt-in users, means "
        f"of {max(row.repetition for row in rows) + 1} repetitions with standard errors.",
        "",
        "| list size | ε | method | NDCG against best | recall | query L1 | record L1 |",
        "|---|---|---|---|---|---|---|",
    ]
    for key in dict.fromkeys((row.list_size, row.epsilon, row.peer.name) for row in rows):
        scores = [r.scores for r in rows if (r.list_size, r.epsilon, r.peer.name) == key]
        means = (
            _with_error([score.ndcg_against_best for score in scores], 3),
            _with_error([score.recall for score in scores], 2),
            _with_error([score.query_l1 for score in scores], 4),
            _with_error([score.record_l1 for score in scores], 4),
        )
        lines.append(f"| {key[0]} | {key[1]:g} | {key[2]} | {' | '.join(means)} |")
    return "\n".join(lines) + "\n"


def _with_error(values: list[float], digits: int) -> str:
    error = statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.fmean(values):.{digits}f} ± {error:.{digits}f}"


def _by_epsilon(rows: list[Row]) -> str:
    epsilons = sorted({row.epsilon for row in rows})
    names = list(dict.fromkeys(row.peer.name for row in rows))
    lines = [f"| method | {' | '.join(f'ε = {e:g}' for e in epsilons)} |"]
    lines.append("|---|" + "---|" * len(epsilons))
    for name in names:
        means = [
            _mean([r for r in rows if (r.peer.name, r.epsilon) == (name, e)]) for e in epsilons
        ]
        lines.append(f"| {name} | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    return "\n".join(lines)


def _mean(rows: Sequence[Row]) -> float:
    return statistics.fmean(row.scores.ndcg_against_best for row in rows)


def _tell(peer: str, done: int, of: int) -> None:
    print(f"{done + 1} of {of}: {peer}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
