"""The table and the figure of the peers, from rows made by hand."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.peers.catalogue import methods
from benchmarks.peers.comparison import Row
from benchmarks.peers.figure import draw, table
from benchmarks.peers.list_scores import ListScores
from benchmarks.peers.own_process import Cost
from blender_dp.core.errors import MissingExtraError

SCORES = ListScores(
    queries=10, records=30, ndcg=0.9, ndcg_against_best=0.8, query_l1=0.02, record_l1=0.03, recall=1
)
ROW = Row(
    peer=methods()[0],
    users=1_234,
    epsilon=5,
    list_size=10,
    repetition=0,
    scores=SCORES,
    cost=Cost(cpu_seconds=1.5, peak_mb=200),
)


def test_a_line_of_the_table_has_the_means_of_the_trials() -> None:
    better = replace(
        ROW, repetition=1, scores=replace(SCORES, ndcg_against_best=0.9, query_l1=0.04)
    )
    other = replace(ROW, peer=methods()[1], users=99)
    lines = table([ROW, other, better]).splitlines()
    assert len(lines) == 4
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        *("BLENDER, preset sharp", "of opt-in users", "1,234", "no", "10", "30"),
        *("0.900", "0.850 ± 0.050", "1.00", "0.0300", "0.0300", "1.5", "200"),
    ]
    assert "| 99 | no | 10 | 30 | 0.900 | 0.800 | 1.00 |" in lines[3]
    assert {line.count("|") for line in lines} == {14}


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_figure_is_drawn(tmp_path: Path, ending: str) -> None:
    rows = [
        replace(ROW, peer=peer, epsilon=epsilon) for peer in methods()[:4] for epsilon in (1.0, 5.0)
    ]
    draw(rows, tmp_path / f"peers.{ending}")
    assert (tmp_path / f"peers.{ending}").stat().st_size > 5_000


def test_without_matplotlib_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"blender-dp\[evaluation\]"):
        draw([ROW], tmp_path / "peers.svg")
