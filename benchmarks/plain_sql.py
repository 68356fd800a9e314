"""Peer in plain DuckDB SQL, which counts without privacy, in a process of its own.

One random record of each user, the records counted, the fifty most frequent queries. Three ways
to write the first: the obvious one, the one with two packed columns, and one that draws a row
number per user and reads the strings of these rows in a second scan (for Parquet only, which
numbers its rows).
"""

import sys
from pathlib import Path

import duckdb

SAMPLES = {
    "obvious": "SELECT user, unnest(arg_min({{'query': query, 'url': url}}, random())) "
    "FROM {log} GROUP BY user",
    "packed": "SELECT user, arg_min(query, key) AS query, arg_min(url, key) AS url "
    "FROM (SELECT *, hash(random()) AS key FROM {log}) GROUP BY user",
    "two scans": "SELECT query, url FROM {log} WHERE file_row_number IN "
    "(SELECT arg_min(file_row_number, random()) FROM {log} GROUP BY user)",
}


def forms_for(path: Path) -> list[str]:
    """Return the forms that a file allows."""
    return [form for form in SAMPLES if form != "two scans" or path.suffix == ".parquet"]


def main(form: str, path: str) -> None:
    """Sample, count and rank."""
    connection = duckdb.connect()
    log = f"read_parquet('{path}')"
    if Path(path).suffix == ".tsv":
        columns = "{'user': 'VARCHAR', 'query': 'VARCHAR', 'url': 'VARCHAR'}"
        options = "delim='\t', quote='', escape='', header=true, auto_detect=false"
        log = f"read_csv('{path}', {options}, columns={columns})"
    sample = SAMPLES[form].format(log=log)
    connection.execute(f"CREATE TABLE sample AS {sample}")
    connection.execute(
        "CREATE TABLE pairs AS SELECT query, url, count(*) AS n FROM sample GROUP BY ALL"
    )
    top = "SELECT query, sum(n) FROM pairs GROUP BY query ORDER BY 2 DESC LIMIT 50"
    print(len(connection.execute(top).fetchall()))


if __name__ == "__main__":
    main(*sys.argv[1:])
