"""What was stored before is recognised, whatever the number of reports and their bytes."""

from random import Random

import pytest

from blender_dp.relay.storage import known_reports
from blender_dp.relay.storage.known_reports import KnownReports, digest_of


@pytest.fixture(autouse=True)
def _small_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_reports, "_MOST_YOUNG", 8)


def added(known: KnownReports, digests: set[bytes]) -> None:
    known.add(digests)
    if known.is_unsettled:
        known.settle()


def test_it_answers_as_one_large_set_does(seed: int) -> None:
    random, known, told = Random(seed), KnownReports(), set[bytes]()
    for _ in range(200):
        asked = {digest_of(bytes([random.randrange(256), i])) for i in range(random.randrange(9))}
        assert known.unknown(asked) == asked - told
        added(known, asked - told)
        told |= asked
        assert len(known) == len(told)
    assert len(known._old) > 1
    assert all(len(a) > len(b) for a, b in zip(known._old, known._old[1:], strict=False))


def test_zero_bytes_at_the_ends_are_told_apart() -> None:
    known = KnownReports()
    digests = [bytes(16 - i) + b"\1" * i for i in range(16)] + [
        b"\1" * i + bytes(16 - i) for i in range(1, 17)
    ]
    added(known, set(digests[::2]))
    assert not known._young
    assert known.unknown(digests) == set(digests[1::2])


def test_reports_that_are_read_again_are_all_known() -> None:
    reports = [bytes([i % 40]) * 5 for i in range(100)]
    known = KnownReports.of(reports)
    assert len(known) == 40
    assert not known.unknown({digest_of(one) for one in reports})
    assert known.unknown([digest_of(b"other")]) == {digest_of(b"other")}
