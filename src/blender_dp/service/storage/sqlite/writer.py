"""Thread that writes: all waiting requests in one transaction, then all are answered.

A transaction costs one wait for the disk, whatever its size. Requests that arrive during the wait
form the next transaction. A refused request changes nothing and does not affect the others.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from operator import attrgetter
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

from blender_dp.server.databases.sqlite_scrubbing import empty_log
from blender_dp.server.databases.sqlite_statements import error_name, run_synchronously
from blender_dp.server.databases.statements import Checkpoint
from blender_dp.service.jobs.backlog import LINGER_SECONDS, Backlog, Request, settle
from blender_dp.service.storage.sqlite.older_ids import OlderIds
from blender_dp.service.storage.sqlite.transaction import SqliteTransaction
from blender_dp.service.storage.store import Reason, StoreRefusal
from blender_dp.service.storage.tables import reports

_LOG = logging.getLogger(__name__)
_RETRY_SECONDS = 1.0
"""Pause before the next attempt to empty a log that has readers."""
_FORGET_SECONDS = 1.0
"""Between two looks for campaigns that ended in other processes, while only reports come."""
Outcomes = list[tuple[Request, Any]]


class Writer:
    """A thread with a connection of its own."""

    def __init__(self, connection: sqlite3.Connection, reach: Checkpoint, older: OlderIds) -> None:
        self._connection = connection
        self._reach = reach
        self._older = older
        self._backlog = Backlog()
        self._is_needed = Event()
        self._is_closing = False
        self._undone_pages = ""
        self._next_forgetting = 0.0
        # A killed process may have left a log that still holds withdrawn contributions.
        self._must_empty_log = True
        self._next_try = 0.0
        self._thread = Thread(target=self._write_until_closed, name="store writer", daemon=True)
        self._thread.start()

    async def write(self, request: Request) -> Any:  # noqa: ANN401 - what its work returns
        """Return the outcome of a request once it is on disk."""
        if self._is_closing:
            raise StoreRefusal(Reason.OVERLOADED)
        self._backlog.add(request)
        if not self._is_needed.is_set():
            self._is_needed.set()
        return await request.answer

    def empty_log_soon(self) -> None:
        """Empty the log of changes after the next commit; retried until done."""
        self._must_empty_log, self._next_try = True, 0.0
        self._is_needed.set()

    async def close(self) -> None:
        """Write all waiting requests, then end."""
        self._is_closing = True
        self._is_needed.set()
        await asyncio.to_thread(self._thread.join)
        self._connection.close()

    def _write_until_closed(self) -> None:
        while True:
            self._is_needed.wait(_RETRY_SECONDS if self._must_empty_log else None)
            self._is_needed.clear()
            while group := self._backlog.take():
                _answer(self._outcomes(group), self._reach)
                self._empty_log_if_due()
                if len(group) > 1:
                    sleep(LINGER_SECONDS)
            self._empty_log_if_due()
            if self._is_closing and not len(self._backlog):
                return

    def _empty_log_if_due(self) -> None:
        if not self._must_empty_log or monotonic() < self._next_try:
            return
        self._must_empty_log = False  # reset first: a later request may set it again
        try:
            is_empty = empty_log(self._connection)
        except sqlite3.Error as error:  # a full disk
            _LOG.warning("the log could not be emptied: %s", error_name(error))
            is_empty = False
        if not is_empty:
            self._must_empty_log, self._next_try = True, monotonic() + _RETRY_SECONDS

    def _outcomes(self, group: Sequence[Request]) -> Outcomes:
        try:
            if group[0].is_alone:
                return [(group[0], group[0].work(self._connection))]
            return self._commit(group)
        except sqlite3.OperationalError as error:  # a full disk, or a long lock elsewhere
            _LOG.warning("nothing could be written: %s", error_name(error))
            self._roll_back()
            return [(request, StoreRefusal(Reason.OVERLOADED)) for request in group]
        except BaseException as error:  # noqa: BLE001 - passed on to the waiting requests
            self._roll_back()
            return [(request, error) for request in group]

    def _commit(self, group: Sequence[Request]) -> Outcomes:
        self._reach("before-begin")
        # Pages of ids, as they were before, for an attempt that is undone: in memory they cost no
        # file. Contributions may be large.
        are_reports = all(request.campaign_id for request in group)
        self._keep_undone_pages("MEMORY" if are_reports else "FILE")
        self._connection.execute("BEGIN IMMEDIATE")
        tx = SqliteTransaction(self._connection, self._reach, self._older)
        outcomes: Outcomes = []
        # In the order of arrival, so that closing a side comes after the reports sent before it.
        for campaign_id, together in groupby(group, key=attrgetter("campaign_id")):
            run = list(together)
            outcomes += (
                _add_reports(tx, str(campaign_id), run) if campaign_id else _run_together(tx, run)
            )
        self._reach("before-commit")
        self._connection.execute("COMMIT")
        self._reach("after-commit")
        self._forget_ended(are_reports=are_reports)
        return outcomes

    def _forget_ended(self, *, are_reports: bool) -> None:
        """Give up the memory of ended campaigns; reports end none, but other processes may."""
        if are_reports and monotonic() < self._next_forgetting:
            return
        self._next_forgetting = monotonic() + _FORGET_SECONDS
        with suppress(sqlite3.Error):  # the writes are on disk; a later commit forgets
            self._older.forget_ended(self._connection)

    def _keep_undone_pages(self, place: str) -> None:
        """Set where SQLite keeps pages for an attempt that is undone; most groups are alike."""
        if place != self._undone_pages:
            self._connection.execute(f"PRAGMA temp_store = {place}")
            self._undone_pages = place

    def _roll_back(self) -> None:
        self._older.recount()
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def _add_reports(tx: SqliteTransaction, campaign_id: str, run: Sequence[Request]) -> Outcomes:
    given = [request.reports for request in run if request.reports is not None]
    outcomes = run_synchronously(reports.add_together(tx, campaign_id, given))
    return list(zip(run, outcomes, strict=True))


def _run_together(tx: SqliteTransaction, run: Sequence[Request]) -> Outcomes:
    return [(request, _one_outcome(tx, request)) for request in run]


def _one_outcome(tx: SqliteTransaction, request: Request) -> Any:  # noqa: ANN401 - as above
    try:
        return run_synchronously(tx.attempt(request.work))
    except sqlite3.OperationalError:
        raise
    except Exception as error:  # noqa: BLE001 - theirs alone: the others of the group go on
        return error


def _answer(outcomes: Outcomes, reach: Checkpoint) -> None:
    reach("before-answer")
    for loop, own in groupby(outcomes, key=lambda outcome: outcome[0].answer.get_loop()):
        with suppress(RuntimeError):  # the loop was closed, and its requests with it
            loop.call_soon_threadsafe(partial(settle, list(own)))
