"""File of a device's ledger: opened, locked for one change at a time; and the tokens in it."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from uuid import UUID

from blender_dp.client.ledger.rows import KeptToken, LedgerError, find_token, insert_token
from blender_dp.client.ledger.schema import prepare
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.wire.documents.sqlite_file import create_private_file
from blender_dp.wire.documents.times import written_time

_FILE = "ledger.sqlite"
_SECONDS_FOR_A_TURN = 60.0
"""Longest wait while another process writes."""


class LedgerFile:
    """The file, and the report token of each campaign."""

    def __init__(self, directory: Path, checkpoint: Callable[[str], None]) -> None:
        """Open or make the ledger in ``directory``.

        Args:
            directory: Folder of the ledger; it becomes readable by its owner only.
            checkpoint: Called with the name of each point that is reached; for tests that stop
                there.
        """
        self._path, self._checkpoint = directory / _FILE, checkpoint
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            create_private_file(self._path)
        except OSError as error:
            raise LedgerError(f"{self._path}: cannot be written ({error.strerror})") from None
        with self._transaction() as database:
            if not prepare(database):
                raise LedgerError(f"{self._path}: was made by another version of this software")

    def token(self, campaign: UUID) -> KeptToken | None:
        """Return the report token of a campaign, or the request for it."""
        with self._transaction() as database:
            return find_token(database, campaign)

    def begin_token(self, campaign: UUID, draw: Callable[[], KeptToken]) -> KeptToken:
        """Return the request for a campaign's token; draw and write it if there is none."""
        with self._transaction() as database:
            if kept := find_token(database, campaign):
                return kept
            insert_token(database, campaign, draw())
            drawn = find_token(database, campaign)
            if drawn is None:
                raise BrokenInvariantError("what was written can be read")
            return drawn

    def keep_token(self, campaign: UUID, token: bytes, report_after: datetime) -> KeptToken:
        """Write a token in place of what its request was made from, and when it may be sent."""
        with self._transaction() as database:
            database.execute(
                "UPDATE tokens SET token = ?, secret = x'', report_after = ?"
                " WHERE campaign = ? AND token IS NULL",
                (token, written_time(report_after), str(campaign)),
            )
            kept = find_token(database, campaign)
        if kept is None:
            raise LedgerError(f"{self._path}: the campaign's token was forgotten meanwhile")
        return kept

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Lock the file; at the end all changes are on disk, or none."""
        try:
            with closing(
                sqlite3.connect(self._path, timeout=_SECONDS_FOR_A_TURN, isolation_level=None)
            ) as database:
                database.execute("PRAGMA synchronous = FULL")
                database.execute("PRAGMA secure_delete = ON")  # forgotten bytes are overwritten
                database.execute("BEGIN IMMEDIATE")
                try:
                    yield database
                except BaseException:
                    database.execute("ROLLBACK")
                    raise
                database.execute("COMMIT")
        except sqlite3.Error as error:
            raise LedgerError(f"{self._path}: the ledger cannot be used ({error})") from None
