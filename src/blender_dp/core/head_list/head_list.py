"""Head list HL: the queries, and the URLs of each, that may be reported."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from blender_dp.core.channels.mechanism import Mechanism, ThroughRelay
from blender_dp.core.errors import BrokenInvariantError, BrokenPromiseError
from blender_dp.core.head_list.cells import Cells

NO_URL = "-"
"""URL of every record if records have one level, such as words or sites."""


class Record(NamedTuple):
    """One search record ⟨q, u⟩, or any other item of two levels."""

    query: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadList:
    """An immutable list of queries, each with its URLs, and how devices report against it.

    Either every query has at least one URL, or none has any: then it is a list of queries.
    Both levels are in byte order, because the order of discovery could reveal something about
    users. ⋆ is not stored: it is a position, not a string, since a user may
    type an asterisk (:class:`~blender_dp.core.head_list.cells.Cells` numbers the positions).
    """

    queries: tuple[str, ...]
    urls: tuple[tuple[str, ...], ...]
    mechanism: Mechanism
    """Mechanism by which devices report against this list and the server reads the reports."""
    private: bool
    """False if it was made with a seed: for experiments only, never for real users."""
    relay: ThroughRelay | None = None
    """Mechanism of relay clients; None without a relay."""
    token_key: str | None = None
    """Public key that signs the token of every report; None if reports need no token."""

    def __post_init__(self) -> None:
        if len(self.queries) != len(self.urls) or len({bool(urls) for urls in self.urls}) > 1:
            raise BrokenInvariantError("every listed query has at least one URL, or none has any")
        for names in (self.queries, *self.urls):
            if not in_byte_order(names):
                raise BrokenInvariantError("a head list is in byte order, without repetitions")

    @classmethod
    def of(
        cls,
        records: Iterable[Record],
        *,
        mechanism: Mechanism,
        private: bool,
        of_queries: bool = False,
    ) -> "HeadList":
        """Group ``records`` by query and put both levels in byte order (reading R5).

        Args:
            records: What is listed.
            mechanism: How devices report.
            private: Whether no seed was used.
            of_queries: List only the queries of ``records``, without URLs.
        """
        urls_of: dict[str, set[str]] = {}
        for query, url in records:
            urls_of.setdefault(query, set()).update(() if of_queries else (url,))
        queries = tuple(sorted(urls_of, key=str.encode))
        urls = tuple(tuple(sorted(urls_of[query], key=str.encode)) for query in queries)
        return cls(queries=queries, urls=urls, mechanism=mechanism, private=private)

    def __repr__(self) -> str:
        relay = "" if self.relay is None else ", relay"
        return (
            f"<HeadList: {len(self.queries):,} queries, {len(self.records()):,} records; "
            f"{self.mechanism.name}{relay}; {'private' if self.private else 'not private'}>"
        )

    @property
    def cells(self) -> Cells:
        """The cells that a report may name, numbered."""
        return Cells.of(len(urls) for urls in self.urls)

    @property
    def has_one_level(self) -> bool:
        """Whether records have no second level: every query has the same, empty URL."""
        return len(self.urls) > 0 and all(urls == (NO_URL,) for urls in self.urls)

    @property
    def is_of_queries(self) -> bool:
        """Whether queries are listed without URLs."""
        return len(self.urls) > 0 and not any(self.urls)

    def discovered(self) -> Sequence[Record]:
        """Return what was found by a value of its own, in the order of cells.

        These are the listed records; or the queries of a list without URLs, as ⟨q, NO_URL⟩.
        """
        if self.is_of_queries:
            return [Record(query, NO_URL) for query in self.queries]
        return self.records()

    def records(self) -> Sequence[Record]:
        """Return every listed ⟨q, u⟩ in the order of their cells, without ⋆."""
        return [
            Record(query, url)
            for query, urls in zip(self.queries, self.urls, strict=True)
            for url in urls
        ]

    def keeping(self, queries: Sequence[int]) -> "HeadList":
        """Return the list with only the queries at these (increasing) positions."""
        return replace(
            self,
            queries=tuple(self.queries[i] for i in queries),
            urls=tuple(self.urls[i] for i in queries),
        )

    def for_relay(self) -> "HeadList":
        """Return the list as relay clients report against it."""
        if self.relay is None:
            raise BrokenInvariantError("this head list has no relay")
        return replace(self, mechanism=self.relay, relay=None)

    def for_batch(self, reports: int) -> "HeadList":
        """Return the list as a batch of relay clients reported against it; refuse a small batch."""
        seen, least = self.for_relay(), self.relay.least_batch if self.relay else 0
        if reports < least:
            raise BrokenPromiseError(
                f"The promise to relay clients is broken: a batch had {reports:,} reports, and the "
                f"head list promises its ε and δ for at least {least:,}."
            )
        return seen

    def cell_index(self) -> "CellIndex":
        """Return the lookup from a record to its cell; build it once and keep it."""
        cells = self.cells
        star = {query: int(cells.star_of_query[i]) for i, query in enumerate(self.queries)}
        listed = dict(zip(self.records(), cells.listed.tolist(), strict=True))
        return CellIndex(listed=listed, star=star, other=cells.other)


@dataclass(frozen=True, slots=True)
class CellIndex:
    """Maps a record to its cell (Fig. 6 lines 8-11: a record that is not listed is ⋆)."""

    listed: Mapping[Record, int]
    star: Mapping[str, int]
    other: int

    def cell(self, query: str | None, url: str | None) -> int:
        """Return the cell of ⟨query, url⟩; a user without a record is ⟨⋆,⋆⟩."""
        if query is None or url is None:
            return self.other
        cell = self.listed.get(Record(query, url))
        return self.star.get(query, self.other) if cell is None else cell


def byte_order(record: Record) -> tuple[bytes, bytes]:
    """Return the sort key of a record: its UTF-8 bytes, query first."""
    return record.query.encode(), record.url.encode()


def in_byte_order(names: Sequence[str]) -> bool:
    """Tell whether ``names`` are strictly increasing as UTF-8 bytes."""
    return all(a.encode() < b.encode() for a, b in pairwise(names))
