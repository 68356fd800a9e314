"""Logs at addresses: fetched by DuckDB's extension httpfs, or refused with one sentence."""

import functools
import tempfile
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import duckdb
import pytest

import blender_dp as bdp
from blender_dp.core.errors import InputError
from blender_dp.engine.duckdb.readers import find_log_files, open_log
from blender_dp.engine.duckdb.readers.unpacking.addresses import (
    address_of,
    has_httpfs,
    shown_address,
    write_content,
)
from logs import popular_rows, write_csv

SIGNED = "https://host.example/folder/log.csv?X-Amz-Signature=secret"
PARAMETERS = bdp.Parameters(epsilon=4, delta=1e-3)


@pytest.fixture
def without_httpfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let DuckDB look for its extensions in a home that has none."""
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.usefixtures("without_httpfs")
@pytest.mark.parametrize(
    ("address", "advice"),
    [
        (SIGNED, "pipe the file: curl -L ADDRESS | blender-dp run - …"),
        ("s3://bucket/log.parquet", "use --engine spark"),
        ("gs://bucket/*.parquet", "use --engine spark"),
    ],
)
def test_without_the_extension_one_sentence_says_what_to_do(
    address: str, advice: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as refusal:
        # Not "auto": that takes Spark where a session of another test runs in this process.
        bdp.run(address, PARAMETERS, opt_in=0.3, workspace=bdp.Workspace(engine="duckdb"))
    assert str(refusal.value) == (
        f"{address.partition('?')[0]}: DuckDB reads addresses with its extension httpfs, which is "
        "not installed; install it (python -c \"import duckdb; duckdb.sql('INSTALL httpfs')\"), "
        f"or {advice}"
    )
    assert not list(tmp_path.glob("**/*.duckdb_extension"))  # nothing was installed silently


def test_the_content_of_a_file_is_written_byte_for_byte(tmp_path: Path) -> None:
    content = bytes(range(256)) * 5_000
    (tmp_path / "log.bin").write_bytes(content)
    with duckdb.connect() as connection, tempfile.TemporaryFile() as file:
        write_content(connection, f"file://{tmp_path}/log.bin", file)
        file.seek(0)
        assert file.read() == content


def test_an_address_is_shown_without_what_may_give_access() -> None:
    [path] = find_log_files([SIGNED])
    assert address_of(path) == SIGNED
    assert shown_address(path) == "https://host.example/folder/log.csv"
    assert shown_address("s3://bucket/day?.csv") == "s3://bucket/day?.csv"  # a pattern
    assert shown_address("logs/day?.csv") == "logs/day?.csv"
    port = "https://host.example:8443/a@b.csv"
    assert shown_address(port) == port


@pytest.mark.parametrize("user", ["SECRET", "u:SECRET", "u:SEC@RET", "u:SEC/RET", "u:SEC?RET"])
@pytest.mark.parametrize("scheme", ["https", "HTTP", "s3", "gs", "ftp", "s3a"])
def test_no_user_and_no_password_is_shown(scheme: str, user: str) -> None:
    shown = shown_address(f"{scheme}://{user}@host.example/x.csv")
    assert shown == f"{scheme}://host.example/x.csv"


@pytest.mark.parametrize(
    "address",
    [
        "https://host.example/x.csv#token=SECRET",
        "https://host.example/x.csv?token=SECRET",
        "s3://bucket/x.csv?s3_access_key_id=a&s3_secret_access_key=SECRET",
    ],
)
def test_no_parameter_is_shown(address: str) -> None:
    assert shown_address(Path(address)).endswith("/x.csv")


@pytest.mark.parametrize(
    "rest", ["a//log.csv", "./log.csv", "log.csv?signature=a//b", "log.csv?signature=a/"]
)
def test_an_address_that_a_path_would_change_is_refused(rest: str) -> None:
    """Another address would be fetched; the refusal does not show the signature."""
    shown = rest.partition("?")[0]
    with pytest.raises(InputError) as refusal:
        bdp.run(f"https://host.example/{rest}", PARAMETERS, opt_in=0.3)
    assert str(refusal.value) == (
        f"https://host.example/{shown}: after the host, an address must have no // and no /./, and "
        "no / at its end; pipe the file: curl -L ADDRESS | blender-dp run - …"
    )


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """Serve a folder over HTTP, where the extension is there to read it."""
    if not has_httpfs():
        pytest.skip("DuckDB's extension httpfs is not installed here")
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_an_address_has_the_rows_of_its_file(served: str, tmp_path: Path) -> None:
    file = write_csv(tmp_path / "log.csv", popular_rows(50))
    rows = []
    for path in (file, f"{served}/log.csv?signature=secret"):
        with duckdb.connect() as connection:
            source = open_log(connection, path)
            rows.append(connection.execute(source.sql).fetchall())
            assert "secret" not in source.label
    assert rows[0] == rows[1]
    assert len(rows[0]) == 50


def test_what_cannot_be_fetched_is_named_with_the_answer(served: str) -> None:
    with duckdb.connect() as connection:
        with pytest.raises(InputError, match=r"none.csv: it could not be fetched: .* answers 404"):
            open_log(connection, f"{served}/none.csv?signature=1")
        with pytest.raises(InputError, match=r"/x.csv: it could not be fetched: no connection"):
            open_log(connection, "http://127.0.0.1:1/x.csv")
