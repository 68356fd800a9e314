"""True probabilities, against the definition written out slowly."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.engine.synthetic import (
    Shape,
    SyntheticLog,
    TrueProbabilities,
    synthesize,
    true_probabilities,
)

USERS = 5
rows_of_a_log = st.lists(
    st.tuples(st.integers(0, USERS - 1), st.integers(0, 6), st.integers(0, 3)), max_size=40
)


def log_of(rows: list[tuple[int, int, int]]) -> SyntheticLog:
    user, query, url = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return SyntheticLog(shape=Shape.ZIPF, seed=0, users=USERS, user=user, query=query, url=url)


def by_definition(rows: list[tuple[int, int, int]]) -> dict[tuple[int, int], float]:
    """Average over the users the share that each record has of a user's own."""
    own: dict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
    for user, query, url in rows:
        own[user][query, url] += 1
    p: dict[tuple[int, int], float] = defaultdict(float)
    for mine in own.values():
        for record, count in mine.items():
            p[record] += count / mine.total() / USERS
    return p


def as_mapping(truth: TrueProbabilities) -> dict[tuple[int, int], float]:
    records = zip(truth.query.tolist(), truth.url.tolist(), strict=True)
    return dict(zip(records, truth.probability.tolist(), strict=True))


@given(rows_of_a_log)
def test_records_match_the_definition(rows: list[tuple[int, int, int]]) -> None:
    truth = true_probabilities(log_of(rows))
    assert as_mapping(truth) == pytest.approx(by_definition(rows))
    assert list(as_mapping(truth)) == sorted(as_mapping(truth))


@given(rows_of_a_log)
def test_queries_are_the_sums_of_their_urls(rows: list[tuple[int, int, int]]) -> None:
    truth = true_probabilities(log_of(rows))
    sums: dict[int, float] = defaultdict(float)
    for (query, _), p in by_definition(rows).items():
        sums[query] += p
    totals = zip(truth.distinct_query.tolist(), truth.query_probability.tolist(), strict=True)
    assert dict(totals) == pytest.approx(sums)


@given(rows_of_a_log)
def test_the_sum_is_the_share_of_users_with_a_record(rows: list[tuple[int, int, int]]) -> None:
    active = len({user for user, _, _ in rows})
    assert true_probabilities(log_of(rows)).probability.sum() == pytest.approx(active / USERS)


@pytest.mark.parametrize("shape", [Shape.AOL, Shape.AOL_SINGLE])
def test_probabilities_of_a_drawn_log_sum_to_one(shape: Shape, seed: int) -> None:
    truth = true_probabilities(synthesize(shape, 3_000, seed))
    assert truth.probability.sum() == pytest.approx(1, abs=1e-12)
    assert truth.query_probability.sum() == pytest.approx(1, abs=1e-12)


def test_an_active_user_weighs_no_more_than_another() -> None:
    truth = true_probabilities(log_of([(0, 1, 0)] * 30 + [(user, 2, 0) for user in range(1, 5)]))
    assert as_mapping(truth) == pytest.approx({(1, 0): 0.2, (2, 0): 0.8})
