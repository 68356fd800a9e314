"""What ``synthesize`` promises about its arguments and columns."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from blender_dp.core.errors import ParameterError
from blender_dp.engine.synthetic import Shape, ShapeOptions, SyntheticLog, synthesize
from blender_dp.engine.synthetic.shapes import url_shares

USERS = 2_000


def columns_equal(one: SyntheticLog, other: SyntheticLog) -> bool:
    return (
        np.array_equal(one.user, other.user)
        and np.array_equal(one.query, other.query)
        and np.array_equal(one.url, other.url)
    )


@cache
def small(shape: Shape, seed: int) -> SyntheticLog:
    """Return a log of a shape without its millions of queries where the shape allows it."""
    options = ShapeOptions(queries=10_000) if shape in {Shape.YANDEX, Shape.ZIPF} else None
    return synthesize(shape, USERS, seed, options=options)


@pytest.mark.parametrize("shape", Shape)
def test_a_log_depends_on_its_seed_alone(shape: Shape, seed: int) -> None:
    log = small(shape, seed)
    small.cache_clear()
    assert columns_equal(log, small(shape, seed))
    assert not columns_equal(log, small(shape, seed + 1))


@pytest.mark.parametrize("shape", Shape)
def test_columns_are_aligned_ids(shape: Shape, seed: int) -> None:
    log = small(shape, seed)
    assert len(log) == len(log.user) == len(log.query) == len(log.url)
    assert np.array_equal(np.unique(log.user), np.arange(USERS)), "every user has a record"
    assert np.all(np.diff(log.user) >= 0)
    assert log.query.min() >= 0
    assert (log.url.min(), log.url.max()) == (0, len(url_shares(shape)) - 1)
    for column in (log.user, log.query, log.url):
        assert column.dtype == np.int64


def test_a_zipf_log_has_one_record_a_user(seed: int) -> None:
    assert len(small(Shape.ZIPF, seed)) == USERS


def test_queries_stay_in_the_chosen_number(seed: int) -> None:
    log = synthesize(Shape.ZIPF, USERS, seed, options=ShapeOptions(queries=7, exponent=0))
    assert np.array_equal(np.unique(log.query), np.arange(7))


def test_mean_records_can_be_chosen(seed: int) -> None:
    options = ShapeOptions(queries=1000, mean_records=3)
    log = synthesize(Shape.ZIPF, 50_000, seed, options=options)
    # The standard error is below 0.04; rounding and the cap move the mean by less than 0.2.
    assert len(log) / log.users == pytest.approx(3, abs=0.5)


def test_progress_rises_to_one(seed: int) -> None:
    seen: list[float] = []
    options = ShapeOptions(queries=100)
    synthesize(Shape.ZIPF, 100, seed, options=options, progress=seen.append)
    assert seen[0] == 0
    assert seen[-1] == 1
    assert all(earlier <= later for earlier, later in pairwise(seen))


@pytest.mark.parametrize("users", [0, -1, 2**31])
def test_an_impossible_number_of_users_is_named(users: int) -> None:
    with pytest.raises(
        ParameterError, match=f"^users must be a whole number from 1 to .*; got {users}$"
    ):
        synthesize(Shape.ZIPF, users)


def test_a_negative_seed_is_named() -> None:
    with pytest.raises(ParameterError, match=r"^seed must be a whole number, at least 0; got -1$"):
        synthesize(Shape.ZIPF, 10, -1)


def test_columns_of_different_lengths_are_refused() -> None:
    ids = np.zeros(3, dtype=np.int64)
    with pytest.raises(ParameterError, match="url must be as long as user, 3 rows; got 2"):
        SyntheticLog(shape=Shape.ZIPF, seed=0, users=1, user=ids, query=ids, url=ids[:2])
