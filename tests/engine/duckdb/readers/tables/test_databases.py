"""Databases whose table is not clear, and files that are none."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb

Refusal = Callable[..., str]
PLANTED = "xyzzy"


def sqlite(path: Path, *tables: str) -> Path:
    with closing(sqlite3.connect(path)) as database:
        for table in tables:
            database.execute(f'CREATE TABLE {table} ("user", query, url)')
            database.execute(f"INSERT INTO {table} VALUES ('{PLANTED}', '{PLANTED}', '')")  # noqa: S608
        database.commit()
    return path


def test_a_table_must_be_there_and_be_chosen(tmp_path: Path, refusal_of: Refusal) -> None:
    path = sqlite(tmp_path / "log.db", "a", "b")
    rule = "it has the tables a, b; choose one as log.db::TABLE"
    assert refusal_of(path) == f"{path}: {rule}"
    wrong = Path(f"{path}::c")
    assert refusal_of(wrong) == f"{wrong}: there is no table c in it, only a, b"


def test_duckdb_lists_its_tables_too(tmp_path: Path, refusal_of: Refusal) -> None:
    path = tmp_path / "log.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute(
            "CREATE TABLE a (x INTEGER); CREATE SCHEMA s; CREATE TABLE s.b (x INTEGER)"
        )
    rule = "it has the tables a, s.b; choose one as log.duckdb::TABLE"
    assert refusal_of(path) == f"{path}: {rule}"
    chosen = Path(f"{path}::s.b")
    assert refusal_of(chosen) == f"{chosen}: there is no column user, only x; choose with --user"


def test_only_databases_have_tables(tmp_path: Path, refusal_of: Refusal) -> None:
    (tmp_path / "log.csv").write_text("user,query,url\n")
    path = Path(f"{tmp_path / 'log.csv'}::a")
    assert refusal_of(path) == f"{path}: only files of SQLite and DuckDB have tables"


def test_a_damaged_database_is_refused(tmp_path: Path, refusal_of: Refusal) -> None:
    path = sqlite(tmp_path / "log.db", "a")
    path.write_bytes(path.read_bytes()[:2000])
    assert refusal_of(path) == f"{path}: SQLite cannot read it; it may be damaged or in use"
