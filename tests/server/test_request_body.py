"""Bodies are read whole, within limits, in time."""

import asyncio
import gzip
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.server.bodies import request_body
from blender_dp.server.bodies.request_body import (
    Disconnected,
    inflate,
    parse_body,
    read_body,
)
from blender_dp.server.problems import Problem, ProblemError

pytestmark = pytest.mark.anyio
JSON = [(b"content-type", b"application/json")]


def arriving(pieces: Sequence[bytes], *, is_cut: bool = False) -> Any:
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": piece, "more_body": is_cut or number < len(pieces) - 1}
        for number, piece in enumerate(pieces)
    ]
    messages.append({"type": "http.disconnect"})
    waiting = iter(messages)

    async def receive() -> dict[str, Any]:
        return next(waiting)

    return receive


@pytest.mark.parametrize("pieces", [[b"{}"], [b"{", b"", b"}"], [b"", b"{}"]])
async def test_a_body_may_come_in_pieces(pieces: list[bytes]) -> None:
    assert (await read_body(JSON, arriving(pieces), 2)).content == b"{}"


@pytest.mark.parametrize("pieces", [[b"123"], [b"12", b"3"], [b"1", b"2", b"3", b"4"]])
async def test_one_byte_too_many_is_refused(pieces: list[bytes]) -> None:
    with pytest.raises(ProblemError) as refused:
        await read_body(JSON, arriving(pieces), 2)
    assert refused.value.problem is Problem.BODY_TOO_LARGE


async def test_a_length_too_large_is_refused_before_the_body_comes() -> None:
    headers = [*JSON, (b"content-length", b"3")]
    with pytest.raises(ProblemError) as refused:
        await read_body(headers, arriving([]), 2)
    assert refused.value.problem is Problem.BODY_TOO_LARGE


async def test_who_leaves_before_the_end_is_not_answered() -> None:
    with pytest.raises(Disconnected):
        await read_body(JSON, arriving([b"{"], is_cut=True), 10)


async def test_a_body_that_never_comes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_body, "SECONDS", 0.01)

    async def never() -> None:
        await asyncio.Event().wait()

    with pytest.raises(ProblemError) as refused:
        await read_body(JSON, never, 10)
    assert refused.value.problem is Problem.BODY_TOO_SLOW


@given(st.binary(max_size=300))
def test_gzip_is_undone(content: bytes) -> None:
    assert inflate(gzip.compress(content), 300) == content


@given(st.binary(max_size=100))
def test_no_bytes_inflate_beyond_the_limit(content: bytes) -> None:
    with suppress(ProblemError):
        assert len(inflate(content, 50)) <= 50


def test_a_bomb_is_not_inflated_to_its_end() -> None:
    bomb = gzip.compress(bytes(1 << 26))
    with pytest.raises(ProblemError) as refused:
        inflate(bomb, 1 << 16)
    assert refused.value.problem is Problem.INFLATED_TOO_LARGE


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), inner)
    ),
    max_leaves=20,
)


@given(PLAIN)
def test_plain_json_is_read_as_it_was_written(value: object) -> None:
    assert parse_body(json.dumps(value).encode()) == value
    assert parse_body(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary(max_size=200))
def test_no_bytes_are_anything_but_json_or_a_problem(body: bytes) -> None:
    with suppress(ProblemError):
        assert parse_body(body) == json.loads(body)
