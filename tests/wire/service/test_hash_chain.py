"""Every field of an entry is vouched for by its hash."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest

from blender_dp.wire.service.hash_chain import entry, entry_hash

NOW = datetime(2026, 11, 15, 12, 30, 15, 999, tzinfo=UTC)
CAMPAIGN = UUID(int=7)


def an_entry(previous: dict[str, Any] | None = None, **changed: Any) -> dict[str, Any]:
    fields = {"time": NOW, "kind": "release", "campaign": CAMPAIGN, "digest": "sha256:00"}
    return entry(previous, **{**fields, **changed})


def test_an_entry_follows_the_one_before_it() -> None:
    first = an_entry()
    second = an_entry(first)
    assert (first["index"], first["previous"]) == (0, None)
    assert (second["index"], second["previous"]) == (1, first["hash"])


def test_times_are_whole_seconds_in_utc() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=9)))
    assert an_entry(time=east)["time"] == "2026-11-15T12:30:15Z"


@pytest.mark.parametrize(
    "field", ["index", "time", "kind", "campaign", "digest", "previous", "actor"]
)
def test_a_change_of_any_field_changes_the_hash(field: str) -> None:
    made = an_entry(an_entry(), actor="ada")
    assert entry_hash(made) == made["hash"]
    assert entry_hash({**made, field: "changed"}) != made["hash"]
