"""Rows in memory are counted as those of a file, and nothing of them reaches the disk."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.errors import BlenderError, TooMuchForMemoryError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.engine.log import Log, Workspace
from blender_dp.engine.population.held_rows import opened_rows
from blender_dp.engine.population.one_side import opened_side
from logs import popular_rows, write_csv

LISTED = HeadList(
    queries=("query 1", "query 3"),
    urls=(("1.example",), ("3.example",)),
    mechanism=SubsetSelectionMechanism(epsilon=1.0, query_share=0.0),
    private=True,
)


def held(rows: list[tuple[str, str | None, str | None]]) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    return pa.table(
        {
            name: pa.array(values, pa.string())
            for name, values in zip(("user", "query", "url"), columns, strict=True)
        }
    )


def test_rows_in_memory_are_counted_as_those_of_a_file(tmp_path: Path, seed: int) -> None:
    log = popular_rows()
    path = write_csv(tmp_path / "log.csv", log)
    table = held([(user, query, url) for user, query, url, *_ in log])
    with (
        opened_rows(
            table, Randomness.seeded(seed), records_per_user=1, all_rows=True
        ) as from_memory,
        opened_side(
            Log.of(path),
            "opt-in",
            Randomness.seeded(seed),
            Workspace(),
            records_per_user=1,
            all_rows=True,
        ) as from_file,
    ):
        assert from_memory.size == from_file.size
        for users in ((from_memory, from_file),):
            a, b = (one.share_sums(LISTED, 1 << 20) for one in users)
            assert a.cells.tolist() == b.cells.tolist()
            assert (a.record_squares, a.query_squares) == (b.record_squares, b.query_squares)
        counts = [one.distinct_records(5).tolist() for one in (from_memory, from_file)]
        assert counts[0] == counts[1]
        sampled = [one.cell_counts(LISTED, 1).tolist() for one in (from_memory, from_file)]
        assert sampled[0] == sampled[1]


def test_a_user_without_records_counts_as_a_user() -> None:
    table = held([("a", "q", "u"), ("b", None, None), ("c", " ", "u"), ("c", "q", "u")])
    with opened_rows(table, Randomness.secure(), records_per_user=1, all_rows=True) as users:
        assert users.size == 3
        assert users.distinct_records(2).tolist() == [1, 2, 0]


@pytest.mark.parametrize("users", [1, 2])
def test_too_few_users_are_refused(users: int) -> None:
    table = held([(str(number), "q", "u") for number in range(users)])
    with (
        pytest.raises(BlenderError, match="at least 3 opt-in users"),
        opened_rows(table, Randomness.secure(), records_per_user=1, all_rows=True),
    ):
        pass


def test_what_does_not_fit_the_memory_fails_and_leaves_nothing_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    users = 60_000
    texts = np.char.add("x" * 2000, np.arange(users).astype(str))
    table = pa.table({"user": np.arange(users).astype(str), "query": texts, "url": texts})
    with (
        pytest.raises(TooMuchForMemoryError),
        opened_rows(
            table,
            Randomness.secure(),
            records_per_user=1,
            all_rows=True,
            memory_limit=64 << 20,
        ),
    ):
        pass
    assert list(tmp_path.rglob("*")) == []
