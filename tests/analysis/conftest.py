"""Results of small runs, made once."""

import matplotlib as mpl
import pyarrow as pa
import pytest

import blender_dp as bdp

mpl.use("agg")

PARAMETERS = bdp.Parameters(epsilon=4, delta=1e-4, head_list_size=30)
HOSTILE = "<img src=x>\u202egnp.exe $x_1^2$"
"""A query that is markup, turns the text around it, and reads as a formula."""


def log_of(popularity: dict[str, int]) -> pa.Table:
    """Return a log in which so many users have each query."""
    queries = [query for query, users in popularity.items() for _ in range(users)]
    return pa.table(
        {
            "user": [str(user) for user in range(len(queries))],
            "query": queries,
            "url": [f"{len(query)}.example" for query in queries],
        }
    )


@pytest.fixture(scope="session")
def result() -> bdp.RunResult:
    log = log_of({"weather": 900, HOSTILE: 600, "news": 500})
    return bdp.run(log, PARAMETERS, opt_in=0.3, seed=7)


@pytest.fixture(scope="session")
def later_result() -> bdp.RunResult:
    log = log_of({"weather": 200, HOSTILE: 600, "news": 1200})
    return bdp.run(log, PARAMETERS, opt_in=0.3, seed=8)
