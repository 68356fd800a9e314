"""A user's sample depends on that user's rows and the secret key, on nothing of other users."""

from collections.abc import Sequence

import numpy as np
from contracts.logs import MECHANISM, Opener

from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.engine.population.in_memory import LogRow

RECORDS = [Record("watched", f"{i}.example") for i in range(4)]
WATCHED = [
    LogRow(f"watched {user}", *record, opt_in=True) for record in RECORDS for user in range(60)
]
HALF = [LogRow(f"user {i % 7}", f"query {i}", "other.example", opt_in=True) for i in range(40)]
BLANK = [LogRow("user 3", None, None, opt_in=True)]
CLIENTS = [LogRow(f"client {i}", "query", "other.example", opt_in=False) for i in range(2)]


def interleaved(rows: Sequence[LogRow], others: Sequence[LogRow]) -> list[LogRow]:
    """Return ``rows`` in their order, with the others spread among them."""
    places = np.linspace(0, len(rows), len(others)).astype(int)
    found = list(rows)
    for place, other in sorted(zip(places.tolist(), others, strict=True), reverse=True):
        found.insert(place, other)
    return found


BEFORE = HALF + WATCHED + CLIENTS
MORE = [LogRow("somebody", "query", "other.example", opt_in=True), HALF[0]]
CHANGED = interleaved(WATCHED, [*MORE, *HALF[:3:-1], *BLANK]) + CLIENTS
"""The watched rows as before; others are more and less, blank, elsewhere, and of a new user."""


def sampled(opened: Opener, rows: Sequence[LogRow], seed: int) -> object:
    """Return all that is asked about the watched users."""
    head_list = HeadList.of(RECORDS, mechanism=MECHANISM, private=False)
    with opened(rows, seed, opt_in=None, records_per_user=2, all_rows=True) as population:
        users = population.opt_in
        cells = [users.cell_counts(head_list, m)[: len(RECORDS)].tolist() for m in (1, 2)]
        sums = users.record_weights(np.array([0, 4, 2]), 1)
        classes = [(of, np.arange(size)) for of, size in zip(*sums.classes(), strict=True)]
        kept = {record.url: total for record, total in sums.fetch(classes) if record in RECORDS}
    assert sum(cells[1]) == sum(kept.values()) // 2 == 120
    return cells, kept


def test_other_users_rows_leave_a_users_sample_alone(opened: Opener, seed: int) -> None:
    """A test of all, since a sample takes long on Spark; another key shows that it has teeth."""
    before = sampled(opened, BEFORE, seed)
    assert sampled(opened, CHANGED, seed) == before
    assert sampled(opened, [HALF[0], *BEFORE], seed) == before, "a single row more"
    assert sampled(opened, BEFORE, seed + 1) != before


def sampled_once(opened: Opener, rows: Sequence[LogRow], seed: int) -> list[int]:
    """Return how often each watched record is taken where a user gives one."""
    head_list = HeadList.of(RECORDS, mechanism=MECHANISM, private=False)
    with opened(rows, seed, opt_in=None, records_per_user=1) as population:
        counts: list[int] = population.opt_in.cell_counts(head_list, 1)[: len(RECORDS)].tolist()
    assert sum(counts) == 60
    return counts


def test_one_record_of_a_user_depends_on_own_rows_only(opened: Opener, seed: int) -> None:
    before = sampled_once(opened, BEFORE, seed)
    assert sampled_once(opened, CHANGED, seed) == before
    assert sampled_once(opened, BEFORE, seed + 1) != before
