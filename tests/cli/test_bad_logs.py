"""Logs that cannot be used: which file and which rule, and never what stands in it."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.outcomes import PROMISE, Command, assert_refused, names_in

from logs import (
    GROUPED_HEADER,
    HEADER,
    PLANTED,
    grouped,
    secret_rows,
    write_csv,
    write_parquet,
    write_tsv,
)

ROWS = secret_rows()


def text_of(folder: Path) -> bytes:
    return write_csv(folder / "whole.csv", ROWS).read_bytes()


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def latin_1_after_utf_8(folder: Path) -> Path:
    return written(
        folder / "log.csv", text_of(folder) + f"u,{PLANTED} caf\xe9,w\n".encode("latin-1")
    )


def truncated_gzip(folder: Path) -> Path:
    packed = gzip.compress(text_of(folder))
    return written(folder / "log.csv.gz", packed[: len(packed) // 2])


def damaged_gzip(folder: Path) -> Path:
    packed = bytearray(gzip.compress(text_of(folder)))
    packed[-6] ^= 0xFF
    return written(folder / "log.csv.gz", bytes(packed))


def truncated_parquet(folder: Path) -> Path:
    path = write_parquet(folder / "log.parquet", ROWS)
    return written(path, path.read_bytes()[:-20])


def folder_without_logs(folder: Path) -> Path:
    (folder / "empty").mkdir()
    (folder / "empty" / f"{PLANTED}.doc").write_text(PLANTED)
    return folder / "empty"


def folder_of_two_formats(folder: Path) -> Path:
    (folder / "two").mkdir()
    write_csv(folder / "two" / "a.csv", ROWS)
    write_tsv(folder / "two" / "b.tsv", ROWS)
    return folder / "two"


BAD_LOGS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a missing column": (
        lambda folder: write_csv(folder / "log.csv", [row[:2] for row in ROWS], HEADER[:2]),
        "there is no column url",
    ),
    "no header": (
        lambda folder: write_csv(folder / "log.csv", ROWS[1:], ROWS[0]),
        "the first line must name the columns",
    ),
    "no header, and a query like a column": (
        lambda folder: write_csv(folder / "log.csv", ROWS, (PLANTED, "query", PLANTED)),
        "column",
    ),
    "a column missing from Parquet": (
        lambda folder: write_parquet(folder / "log.parquet", ROWS, ("user", "query", "page")),
        "there is no column url",
    ),
    "a truncated gzip": (truncated_gzip, "cut off"),
    "a damaged gzip": (damaged_gzip, "damaged"),
    "no gzip at all": (lambda folder: written(folder / "log.csv.gz", text_of(folder)), "not gzip"),
    "a truncated Parquet": (truncated_parquet, "Parquet"),
    "no Parquet at all": (lambda folder: written(folder / "x.parquet", text_of(folder)), "Parquet"),
    "mixed encodings": (latin_1_after_utf_8, "line 62: the text is not UTF-8"),
    "UTF-16 that is cut off": (
        lambda folder: written(folder / "log.csv", text_of(folder).decode().encode("utf-16")[:-1]),
        "the text is not UTF-16, as it begins",
    ),
    "an old Excel workbook": (
        lambda folder: written(folder / "log.csv", bytes.fromhex("d0cf11e0a1b11ae1")),
        "it is an old Excel workbook, which is not read here; save it as CSV (UTF-8)",
    ),
    "an empty file": (lambda folder: written(folder / "log.csv", b""), "the file is empty"),
    "an empty Parquet": (lambda folder: written(folder / "x.parquet", b""), "the file is empty"),
    "a header alone": (lambda folder: write_csv(folder / "log.csv", []), "empty"),
    "a row too wide": (
        lambda folder: write_csv(folder / "log.csv", [*ROWS, (PLANTED,) * 4]),
        "line 62: the row has the wrong number of columns",
    ),
    "a row too narrow": (
        lambda folder: write_tsv(folder / "log.tsv", [*ROWS, (PLANTED,)]),
        "line 62: the row has the wrong number of columns",
    ),
    "an open quote": (
        lambda folder: written(folder / "log.csv", text_of(folder) + f'u,"{PLANTED},w\n'.encode()),
        "line 62: the quotes do not match",
    ),
    "a folder without logs": (folder_without_logs, "the folder holds no log"),
    "a folder of two formats": (folder_of_two_formats, "--format"),
    "a missing file": (lambda folder: folder / "none.csv", "there is no such file or folder"),
    "a pattern without matches": (lambda folder: folder / "*.csv", "no file matches this pattern"),
    "a name without a format": (
        lambda folder: write_csv(folder / "log", ROWS, ("who", "what", "where")),
        "--format",
    ),
}


@pytest.mark.parametrize(("make", "rule"), BAD_LOGS.values(), ids=BAD_LOGS)
def test_a_log_that_cannot_be_read_is_named_with_the_rule(
    command: Command, tmp_path: Path, place: Path, make: Callable[[Path], Path], rule: str
) -> None:
    path = make(tmp_path)
    outcome = command("run", path, *PROMISE, "--opt-in=0.5", "-o", place / "out")
    assert_refused(outcome, path, rule)
    assert names_in(place) == []


@pytest.mark.parametrize("make", [truncated_gzip, latin_1_after_utf_8, truncated_parquet])
def test_one_side_of_a_bad_log_is_refused_as_well(
    command: Command, head_list: Path, tmp_path: Path, place: Path, make: Callable[[Path], Path]
) -> None:
    path = make(tmp_path)
    assert_refused(command("head-list", path, *PROMISE, "-o", place / "out"), path)
    assert_refused(command("privatize", head_list, path, "-o", place / "reports.parquet"), path)
    assert names_in(place) == []


def test_rows_without_a_user_are_refused(command: Command, tmp_path: Path, place: Path) -> None:
    path = write_csv(tmp_path / "log.csv", [*ROWS, ("", PLANTED, PLANTED)])
    outcome = command("run", path, *PROMISE, "--opt-in=0.5", "-o", place / "out")
    assert_refused(outcome, "every row must name its user")
    assert names_in(place) == []


TOO_FEW = {
    "one user": (1, "--opt-in=0.5"),
    "one user with many records": (0, "--opt-in=0.5"),
    "nobody opted in": (400, "--opt-in=0.000001"),
    "everybody opted in": (400, "--opt-in=0.99999"),
    "two users opted in": (400, "--opt-in=0.005"),
}


@pytest.mark.parametrize(("users", "opt_in"), TOO_FEW.values(), ids=TOO_FEW)
def test_a_group_without_enough_users_is_refused(
    command: Command, tmp_path: Path, place: Path, users: int, opt_in: str
) -> None:
    rows = secret_rows(users) if users else [(PLANTED, f"{PLANTED} {i}", "w") for i in range(60)]
    path = write_csv(tmp_path / "log.csv", rows)
    outcome = command("run", path, *PROMISE, opt_in, "-o", place / "out")
    assert_refused(outcome, "both groups need users: at least 3 who opted in and 2 clients")
    assert names_in(place) == []


@pytest.mark.parametrize("opt_in_every", [0, 1], ids=["all clients", "all opted in"])
def test_a_group_column_with_one_group_is_refused(
    command: Command, tmp_path: Path, place: Path, opt_in_every: int
) -> None:
    rows = grouped(ROWS, opt_in_every=opt_in_every)
    path = write_csv(tmp_path / "log.csv", rows, GROUPED_HEADER)
    outcome = command("run", path, *PROMISE, "--group=side", "-o", place / "out")
    assert_refused(outcome, "both groups need users")
    assert names_in(place) == []


@pytest.mark.parametrize("users", [1, 2])
def test_a_curator_with_too_few_users_is_refused(
    command: Command, tmp_path: Path, place: Path, users: int
) -> None:
    path = write_csv(tmp_path / "log.csv", secret_rows(users))
    outcome = command("head-list", path, *PROMISE, "-o", place / "out")
    assert_refused(outcome, f"at least 3 opt-in users are needed; this log has {users}")
    assert names_in(place) == []


def test_a_side_that_has_nobody_is_refused(
    command: Command, head_list: Path, tmp_path: Path, place: Path
) -> None:
    opted_in = write_csv(tmp_path / "o.csv", grouped(ROWS, opt_in_every=1), GROUPED_HEADER)
    clients = write_csv(tmp_path / "c.csv", grouped(ROWS, opt_in_every=0), GROUPED_HEADER)
    sides = ["--group=side", "-o"]
    outcome = command("privatize", head_list, opted_in, *sides, place / "reports.parquet")
    assert_refused(outcome, "client", "this log has 0")
    outcome = command("head-list", clients, *PROMISE, *sides, place / "out")
    assert_refused(outcome, "opt-in", "this log has 0")
    assert names_in(place) == []


def test_a_group_column_that_is_not_one_is_refused(
    command: Command, tmp_path: Path, place: Path
) -> None:
    rows = grouped(ROWS)
    wrong = {
        "missing": (ROWS, HEADER, "there is no column side"),
        "value": ([*rows, ("u", "q", "w", PLANTED)], GROUPED_HEADER, "must be opt-in or client"),
        "both": ([*rows, (*ROWS[0], "client")], GROUPED_HEADER, "the same value in all rows"),
    }
    for name, (content, header, rule) in wrong.items():
        path = write_csv(tmp_path / f"{name}.csv", content, header)
        outcome = command("run", path, *PROMISE, "--group=side", "-o", place / "out")
        assert_refused(outcome, path, rule)
    assert names_in(place) == []
