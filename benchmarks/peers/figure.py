"""Table and figure that compare BLENDER with its peers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.comparison import Row
from benchmarks.peers.task import Peer
from blender_dp.core.errors import MissingExtraError

_COLUMNS = (
    *("method", "sees raw records", "users", "told the records", "queries", "records"),
    *("NDCG of the list", "NDCG against best", "recall", "query L1", "record L1"),
    *("CPU s", "peak MB"),
)
_SEES = {"hybrid": "of opt-in users", "central": "of its users", "local": "no"}
_LINES = {"hybrid": "-", "central": "--", "local": ":"}


def table(rows: Sequence[Row]) -> str:
    """Return the rows of one ε and one list size as a Markdown table: one line per method."""
    lines = [f"| {' | '.join(_COLUMNS)} |", "|" + "---|" * len(_COLUMNS)]
    for peer in _peers_of(rows):
        of_peer = [row for row in rows if row.peer.name == peer.name]
        lines.append(f"| {' | '.join(_cells(peer, of_peer))} |")
    return "\n".join(lines)


def _cells(peer: Peer, rows: Sequence[Row]) -> list[str]:
    best = _over(rows, lambda row: row.scores.ndcg_against_best)
    spread = f" ± {best.std_error:.3f}" if len(rows) > 1 else ""
    return [
        peer.name,
        _SEES[peer.model],
        f"{rows[0].users:,}",
        "yes" if peer.is_told_records else "no",
        f"{_over(rows, lambda row: row.scores.queries).mean:.0f}",
        f"{_over(rows, lambda row: row.scores.records).mean:.0f}",
        f"{_over(rows, lambda row: row.scores.ndcg).mean:.3f}",
        f"{best.mean:.3f}{spread}",
        f"{_over(rows, lambda row: row.scores.recall).mean:.2f}",
        f"{_over(rows, lambda row: row.scores.query_l1).mean:.4f}",
        f"{_over(rows, lambda row: row.scores.record_l1).mean:.4f}",
        f"{_over(rows, lambda row: row.cost.cpu_seconds).mean:.1f}",
        f"{_over(rows, lambda row: row.cost.peak_mb).mean:.0f}",
    ]


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw the rows of one list size by ε: how good the list is, and how far off its numbers.

    Args:
        rows: Methods at several ε.
        path: Where to; the ending decides the format.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - in an extra
    except ImportError as error:
        raise MissingExtraError("evaluation", "drawing a figure") from error
    figure = Figure(figsize=(10, 5.6), layout="constrained")
    quality, error_axes = figure.subplots(1, 2)
    for number, peer in enumerate(_peers_of(rows)):
        of_peer = [row for row in rows if row.peer.name == peer.name]
        style = {
            "color": f"C{number}",
            "linestyle": _LINES[peer.model],
            "linewidth": 3 if peer.model == "hybrid" else 1.6,
            "marker": "o",
            "markersize": 4,
        }
        for axes, measure in (
            (quality, lambda row: row.scores.ndcg_against_best),
            (error_axes, lambda row: row.scores.query_l1),
        ):
            epsilons, means = _by_epsilon(of_peer, measure)
            axes.plot(epsilons, means, label=_label(peer), **style)
    quality.set(ylabel="NDCG against the best list", xlabel="ε", ylim=(0, 1.02))
    error_axes.set(ylabel="L1 over the listed queries", xlabel="ε", yscale="log")
    for axes in (quality, error_axes):
        axes.grid(alpha=0.3)
        axes.set_xticks(sorted({row.epsilon for row in rows}))
    handles, labels = quality.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(f"What hybrid buys: lists of {rows[0].list_size} queries, the same users")
    figure.savefig(path, dpi=150)


def _label(peer: Peer) -> str:
    told = ", told the records" if peer.is_told_records else ""
    return f"{peer.name} ({peer.model}{told})"


def _by_epsilon(
    rows: Sequence[Row], measure: Callable[[Row], float]
) -> tuple[list[float], list[float]]:
    epsilons = sorted({row.epsilon for row in rows})
    means = [_over([row for row in rows if row.epsilon == e], measure).mean for e in epsilons]
    return epsilons, means


@dataclass(frozen=True, slots=True)
class _Mean:
    mean: float
    std_error: float


def _over(rows: Sequence[Row], measure: Callable[[Row], float]) -> _Mean:
    values = np.array([measure(row) for row in rows])
    spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return _Mean(float(values.mean()), float(spread))


def _peers_of(rows: Sequence[Row]) -> list[Peer]:
    """Return the methods in the order of the rows, each once."""
    return list({row.peer.name: row.peer for row in rows}.values())
