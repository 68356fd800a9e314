"""Arrow, ORC and JSON files with a flaw, and many rows in the order of the file."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import feather, orc

from blender_dp.engine.duckdb.readers import open_log

Refusal = Callable[..., str]
PLANTED = "xyzzy"
OBJECT = f'{{"user": "{PLANTED}", "query": "{PLANTED}", "url": "w"}}'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cut.jsonl", f"{OBJECT}\n{OBJECT[:-3]}\n", ", line 2: every line must be a JSON object"),
        ("number.jsonl", f"{OBJECT}\n{OBJECT}\n3\n", ", line 3: every line must be a JSON object"),
        ("cut.json", f"[{OBJECT},\n{OBJECT}", ": it is not one valid JSON array of objects"),
        ("empty.json", "", ": the file is empty"),
        (
            "other.json",
            f'[{{"who": "{PLANTED}", "query": "q"}}]',
            ": there is no column user, only who, query; choose with --user",
        ),
        (
            "short.feather",
            "ARROW1\0\0 and no more",
            ": it is not a complete Arrow file; it may be cut off or damaged",
        ),
        (
            "text.orc",
            "user,query,url\n",
            ": it is not a complete ORC file; it may be cut off or damaged",
        ),
    ],
)
def test_a_flaw_is_one_sentence(
    tmp_path: Path, refusal_of: Refusal, name: str, content: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert refusal_of(path) == f"{path}{message}"


@pytest.mark.parametrize("name", ["log.feather", "log.orc", "log.jsonl"])
def test_rows_are_numbered_in_the_order_of_the_file(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, name: str
) -> None:
    count, path = 200_000, tmp_path / name
    table = pa.table({"user": [str(i) for i in range(count)], "query": ["q"] * count})
    table = table.append_column("url", table["query"])
    if name == "log.feather":
        feather.write_feather(table, path, chunksize=5_000)
    elif name == "log.orc":
        orc.write_table(table, path, stripe_size=1 << 16)
    else:
        path.write_text("".join(f'{{"user":{i},"query":"q","url":"q"}}\n' for i in range(count)))
    sql = open_log(connection, path).sql
    query = f'SELECT count(*), bool_and("row"::VARCHAR = user) FROM ({sql})'  # noqa: S608
    assert connection.execute(query).fetchall() == [(count, True)]
