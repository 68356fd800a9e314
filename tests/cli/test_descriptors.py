"""The service has descriptors for its connections, or says that it has too few."""

import resource

import pytest

from blender_dp.cli.descriptors import RESERVED, connection_limit
from blender_dp.service.connections import MOST_CONNECTIONS

_ENOUGH = MOST_CONNECTIONS + RESERVED


@pytest.mark.parametrize(
    ("soft", "hard", "raised_to", "connections"),
    [
        (_ENOUGH, _ENOUGH, None, MOST_CONNECTIONS),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, None, MOST_CONNECTIONS),
        (1024, resource.RLIM_INFINITY, _ENOUGH, MOST_CONNECTIONS),
        (1024, 10**6, _ENOUGH, MOST_CONNECTIONS),
        (1024, 4096, 4096, 4096 - RESERVED),
        (256, 256, 256, 64),
    ],
)
def test_the_limit_is_raised_as_far_as_allowed_and_a_shortage_is_said(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    soft: int,
    hard: int,
    raised_to: int | None,
    connections: int,
) -> None:
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _kind, limits: raised.append(limits))
    assert connection_limit() == connections
    assert raised == ([] if raised_to is None else [(raised_to, hard)])
    said = capsys.readouterr().err
    assert (said == "") == (connections == MOST_CONNECTIONS)
    assert said == "" or f"allow it {_ENOUGH:,}" in said
