"""The group column: who opted in."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blender_dp.core.errors import InputError, ParameterError
from blender_dp.engine.duckdb.readers import LogColumns, LogFormat, LogSource, open_log

GROUPED = LogColumns(group="side")
HEADER = ["user", "query", "url", "side"]
PLANTED = "xyzzy"


def write(folder: Path, suffix: str, rows: list[list[str | None]], name: str = "log") -> Path:
    path = folder / f"{name}.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table(dict(zip(HEADER, zip(*rows, strict=True), strict=True))), path)
        return path
    separator = "," if suffix == "csv" else "\t"
    lines = [HEADER, *([value or "" for value in row] for row in rows)]
    path.write_text("".join(separator.join(line) + "\n" for line in lines))
    return path


def opt_ins(connection: duckdb.DuckDBPyConnection, source: LogSource) -> list[bool]:
    query = f"SELECT opt_in FROM ({source.sql}) ORDER BY row"  # noqa: S608
    return [opt_in for (opt_in,) in connection.execute(query).fetchall()]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
class TestGroups:
    def test_the_column_says_who_opted_in(
        self, tmp_path: Path, connection: duckdb.DuckDBPyConnection, suffix: str
    ) -> None:
        rows: list[list[str | None]] = [
            ["a", "q", "w", "opt-in"],
            ["b", "", "", "client"],
            ["", "q", "w", "client"],
            ["", "q", "w", "opt-in"],
            ["a", "r", "w", "opt-in"],
        ]
        source = open_log(connection, write(tmp_path, suffix, rows), columns=GROUPED)
        assert opt_ins(connection, source) == [True, False, False, True, True]

    @pytest.mark.parametrize("value", ["Opt-in", "opt-in ", "", f"{PLANTED}"])
    def test_any_other_value_is_refused(
        self, tmp_path: Path, connection: duckdb.DuckDBPyConnection, suffix: str, value: str
    ) -> None:
        good: list[list[str | None]] = [["a", "q", "w", "client"]]
        write(tmp_path, suffix, good, name="1")
        bad = write(tmp_path, suffix, [*good, [PLANTED, PLANTED, PLANTED, value]], name="2")
        with pytest.raises(InputError) as refusal:
            open_log(connection, tmp_path, columns=GROUPED)
        rule = "the group column side must be opt-in or client in every row"
        assert str(refusal.value) == f"{bad}, row 2: {rule}"

    def test_a_user_in_both_groups_is_refused(
        self, tmp_path: Path, connection: duckdb.DuckDBPyConnection, suffix: str
    ) -> None:
        path = write(tmp_path, suffix, [[PLANTED, "q", "w", "client"], [PLANTED, "", "", "opt-in"]])
        with pytest.raises(InputError) as refusal:
            open_log(connection, path, columns=GROUPED)
        rule = "the group column side must have the same value in all rows of a user"
        assert str(refusal.value) == f"{path}: {rule}"


def test_a_flaw_met_while_checking_groups_is_explained(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    path = tmp_path / "log.tsv"
    path.write_text(f"user\tquery\turl\tside\n{PLANTED}\tq\tw\n")
    with pytest.raises(InputError) as refusal:
        open_log(connection, path, columns=GROUPED)
    assert str(refusal.value) == f"{path}, line 2: the row has the wrong number of columns"
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__


def test_formats_with_columns_of_their_own_have_no_group(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    path = tmp_path / "log.txt"
    path.write_text("0\tM\t3\t900\n")
    with pytest.raises(ParameterError, match=r"^group must be left out for the yandex format"):
        open_log(connection, path, format=LogFormat.AUTO, columns=GROUPED)
