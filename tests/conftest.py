"""One seed for the whole run: fixed for a change under review, fresh when asked for."""

import os

import pytest
from hypothesis import settings
from narwhals._duckdb import utils as narwhals_duckdb

# Examples repeat like the seed does, and no test is timed: that is what benchmarks are for.
settings.register_profile("project", deadline=None, derandomize="BLENDER_SEED" not in os.environ)
settings.load_profile("project")


@pytest.fixture
def seed() -> int:
    """Return the run's seed; ``BLENDER_SEED=$RANDOM make test`` draws a new one."""
    return int(os.environ.get("BLENDER_SEED", "20170816"))


def pytest_unconfigure() -> None:
    """Let go of DuckDB's types before DuckDB is unloaded, or it complains on standard error."""
    narwhals_duckdb._non_nested_native_to_narwhals_dtype.cache_clear()
