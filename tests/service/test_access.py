"""Who is let in, and how often anybody may ask."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.server.problems import Problem, ProblemError
from blender_dp.service.http.access import Rate, RateLimit, bearer, new_token, token_digest


class Watch:
    """Seconds that a test counts."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def is_let_in(limit: RateLimit, address: str) -> bool:
    try:
        limit.take(address)
    except ProblemError as refused:
        return refused.problem is not Problem.TOO_MANY_REQUESTS or refused.retry_after is None
    return True


def test_a_burst_is_let_in_and_then_one_at_a_time() -> None:
    watch = Watch()
    limit = RateLimit(Rate(burst=3, per_second=0.5), watch)
    assert [is_let_in(limit, "192.0.2.1") for _ in range(5)] == [True] * 3 + [False] * 2
    watch.seconds += 1.9
    assert not is_let_in(limit, "192.0.2.1")
    watch.seconds += 0.1
    assert [is_let_in(limit, "192.0.2.1") for _ in range(2)] == [True, False]
    watch.seconds += 1e6
    assert [is_let_in(limit, "192.0.2.1") for _ in range(4)] == [True] * 3 + [False]


def test_who_waits_as_told_is_let_in() -> None:
    watch = Watch()
    limit = RateLimit(Rate(burst=1, per_second=0.13), watch)
    limit.take("192.0.2.1")
    with pytest.raises(ProblemError) as refused:
        limit.take("192.0.2.1")
    assert refused.value.retry_after is not None
    watch.seconds += refused.value.retry_after
    limit.take("192.0.2.1")


def test_addresses_do_not_share_but_networks_of_ipv6_do() -> None:
    limit = RateLimit(Rate(burst=1, per_second=0.001), Watch())
    assert is_let_in(limit, "192.0.2.1")
    assert is_let_in(limit, "192.0.2.2")
    assert is_let_in(limit, "2001:db8::1")
    assert not is_let_in(limit, "2001:db8::ffff")
    assert is_let_in(limit, "2001:db8:0:1::1")
    assert is_let_in(limit, "")


def test_memory_is_bounded_however_many_addresses_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blender_dp.service.http.access._MOST_ADDRESSES", 100)
    watch = Watch()
    limit = RateLimit(Rate(burst=2, per_second=1e-6), watch)
    for number in range(1000):
        limit.take(f"10.0.{number // 256}.{number % 256}")
    assert len(limit._buckets) <= 101


def test_tokens_are_long_random_and_stored_as_digests() -> None:
    tokens = {new_token(os.urandom) for _ in range(100)}
    assert len(tokens) == 100
    assert {len(token) for token in tokens} == {43}
    assert {len(token_digest(token)) for token in tokens} == {32}


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        *((None, Problem.TOKEN_MISSING), ("", Problem.TOKEN_MISSING)),
        *(("Bearer", Problem.TOKEN_MISSING), ("Bearer ", Problem.TOKEN_MISSING)),
        *(("Basic abc", Problem.TOKEN_MISSING), ("Bearer abc", Problem.TOKEN_UNKNOWN)),
        (f"Bearer {'A' * 43}=", Problem.TOKEN_UNKNOWN),
        (f"Bearer {'é' * 43}", Problem.TOKEN_UNKNOWN),
    ],
)
def test_what_is_no_token_is_refused(header: str | None, problem: Problem) -> None:
    with pytest.raises(ProblemError) as refused:
        bearer(header)
    assert refused.value.problem is problem
    assert "www-authenticate" in refused.value.headers


@given(st.text(max_size=60))
def test_no_header_is_anything_but_a_token_or_a_problem(header: str) -> None:
    with pytest.raises(ProblemError):
        bearer(header)


def test_the_scheme_is_spelled_in_any_case() -> None:
    token = new_token(os.urandom)
    assert bearer(f"bearer {token}") == bearer(f"BEARER {token}") == token
