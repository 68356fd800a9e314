"""Known list: records that were public before any user of this collection was asked.

They come from an earlier release, or from elsewhere, such as a catalogue. Whether anybody has such
a record is no secret that discovery must keep by a threshold; how many have it still is.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.head_list import NO_URL, HeadList, Record, byte_order

MOST_KNOWN = 100_000
"""Most records of a known list: each of them gets its own draw of noise."""
LIKE_THRESHOLD = 0.9
"""A threshold of an earlier release is like this one's from this share of it on."""


class KnownFrom(IntEnum):
    """Reason why a record is on a list."""

    NOWHERE = 0
    """It was not known: its value passed the threshold of discovery."""
    RELEASE = 1
    """An earlier release listed it: a value of other noise passed a threshold like this one's."""
    ELSEWHERE = 2
    """It was named without regard to its popularity, as in a catalogue; or nobody can tell."""
    UNSAID = 3
    """It was known, in a document that does not say from where; no document has this number."""


@dataclass(frozen=True, slots=True)
class KnownList:
    """Public records in byte order, each once."""

    records: tuple[Record, ...] = ()
    private: bool = True
    """False if it comes from a release that was made with a seed, an experiment."""
    half_listed: float | None = None
    """Probability of a record that an earlier release listed with probability one half.

    None if not every record passed the threshold of a release, or if that is unknown.
    """
    of_queries: bool = False
    """Whether it names queries, which are of no use where records with URLs are listed."""
    name: str = "a known list"
    """What a refusal calls it, such as the path of its file."""

    @classmethod
    def of(
        cls,
        records: Iterable[Record],
        *,
        private: bool = True,
        half_listed: float | None = None,
        of_queries: bool = False,
        name: str = "a known list",
    ) -> "KnownList":
        """Put the records in byte order; refuse more than :data:`MOST_KNOWN`."""
        distinct = tuple(sorted(set(records), key=byte_order))
        if len(distinct) > MOST_KNOWN:
            rule = f"a list of at most {MOST_KNOWN:,} records"
            raise ParameterError("known", rule, f"{len(distinct):,} records")
        return cls(distinct, private, half_listed, of_queries, name)

    def without_urls(self) -> "KnownList":
        """Return the queries of the list: a record that is public has a public query."""
        distinct = {Record(record.query, NO_URL) for record in self.records}
        return replace(self, records=tuple(sorted(distinct, key=byte_order)))

    def for_log(self, *, has_urls: bool) -> "KnownList":
        """Return the list for a log whose records have URLs, or one level only.

        A list without any URL names queries of a log with URLs, and records of one without. Of a
        list with URLs, a log without them takes the queries.
        """
        if not has_urls:
            return replace(self.without_urls(), of_queries=False)
        no_urls = bool(self.records) and all(record.url == NO_URL for record in self.records)
        return replace(self, of_queries=self.of_queries or no_urls)

    def serves(self, head_list: HeadList) -> bool:
        """Tell whether what is listed is of the kind that this list names."""
        return head_list.is_of_queries or not (self.of_queries and head_list.queries)

    def source(self, half_listed: float) -> KnownFrom:
        """Return where the records were known from, for a release with this ``half_listed``.

        A threshold clearly below that of this release says too little about popularity. One above
        it says more than is used.
        """
        least = LIKE_THRESHOLD * half_listed
        has_passed = self.half_listed is not None and self.half_listed >= least
        return KnownFrom.RELEASE if has_passed else KnownFrom.ELSEWHERE

    def __len__(self) -> int:
        return len(self.records)


NOTHING_KNOWN = KnownList()
