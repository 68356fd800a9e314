"""All bytes of a result, of two logs that differ in one user's rows, under the same coins.

The two logs differ in what that user searched for, in how many rows and in how many bytes, and they
are such that every count before noise is equal: the user's records are rare in both. So whatever
differs between the files was released without noise.
"""

import csv
from pathlib import Path
from typing import Literal

import pytest

from blender_dp.analysis.files import run_facts
from blender_dp.core.parameters import Parameters
from blender_dp.engine.duckdb.readers import LogColumns
from blender_dp.engine.log import Log
from blender_dp.engine.run import LogRun, run
from blender_dp.pages.outputs import FILES, write_outputs

Group = Literal["opt-in", "client"]
USERS = 600
ONE_ROW = [("a rare query", "rare.example")]
MANY_ROWS = [("another rare query, a long one", "elsewhere.example/a/long/page")] * 50
LISTED_TOO = [("query 0", "0.example")] * 3


def ran(directory: Path, group: Group, rows: list[tuple[str, str]], preset: str) -> LogRun:
    """Run a log in which one user of the group has these rows and the others always the same."""
    directory.mkdir()
    with (directory / "log.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["user", "query", "url", "group"])
        for user in range(USERS):
            side = "opt-in" if user % 2 else "client"
            table.writerow([f"user {user}", f"query {user % 3}", f"{user % 3}.example", side])
            if user == USERS // 2:
                table.writerows(["the one who differs", *record, group] for record in rows)
    log = Log(paths=[directory / "log.csv"], columns=LogColumns(group="group"))
    parameters = Parameters(epsilon=4.0, delta=1e-4, preset=preset)  # type: ignore[arg-type]
    return run(log, parameters, seed=1)


def published(directory: Path, result: LogRun) -> dict[str, bytes]:
    """Return every file that is written of a result, by name."""
    output = directory / "out"
    output.mkdir()
    facts = run_facts(result, synthetic=False)
    created = "2026-01-01T00:00:00Z"
    write_outputs(output, result.blender, result.certificate, created=created, facts=facts)
    return {path.name: path.read_bytes() for path in output.iterdir()}


@pytest.mark.parametrize("preset", ["sharp", "paper"])
@pytest.mark.parametrize("group", ["opt-in", "client"])
def test_nothing_but_noisy_counts_depends_on_a_users_rows(
    tmp_path: Path, group: Group, preset: str
) -> None:
    results = {
        name: ran(tmp_path / name, group, rows, preset)
        for name, rows in {"one": ONE_ROW, "many": MANY_ROWS}.items()
    }
    assert results["one"].blender.head_list.queries
    one, many = (published(tmp_path / name, result) for name, result in results.items())
    assert set(one) <= set(FILES)
    assert {"report.html", "run.json", "release.json", "head_list.json"} < set(one)
    for name in one:
        assert one[name] == many[name], name
    assert one.keys() == many.keys()


@pytest.mark.parametrize("group", ["opt-in", "client"])
def test_a_listed_record_of_that_user_is_counted(tmp_path: Path, group: Group) -> None:
    """The test above has teeth: that user takes part, in either group."""
    one = ran(tmp_path / "one", group, ONE_ROW, "sharp")
    listed = ran(tmp_path / "listed", group, LISTED_TOO, "sharp")
    assert one.records.to_pylist() != listed.records.to_pylist()
