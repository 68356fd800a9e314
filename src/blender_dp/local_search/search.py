"""Local search: suggestions for the text that a person has typed so far."""

from dataclasses import dataclass, replace

from blender_dp.core.errors import ParameterError
from blender_dp.core.estimation.release import HasRelease, Release, release_from
from blender_dp.local_search.coverage import Coverage, coverage
from blender_dp.local_search.folding import fold
from blender_dp.local_search.index import PrefixIndex
from blender_dp.local_search.serving import ServingRule, best_probability, served
from blender_dp.local_search.typos import runs_one_slip_away
from blender_dp.local_search.urls import web_address


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A page that people clicked."""

    address: str
    """ASCII, ready to open."""
    shown: str
    """Spelling for people."""
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A popular query that matches the typed text."""

    query: str
    probability: float
    links: tuple[Link, ...]
    """Most probable first; empty if the private reports confirm none."""
    is_correction: bool = False
    """Whether it matches only after correcting one typing error."""


class LocalSearch:
    """Local search over one release: built once, then called at every keystroke.

    Only records confirmed by the private reports are suggested (:class:`ServingRule`). Nothing is
    sent anywhere, and a search spends no privacy: the release is public already.
    """

    def __init__(self, release: Release | HasRelease, *, rule: ServingRule | None = None) -> None:
        """Index the queries that may be shown.

        Args:
            release: The result of ``read_release`` or of ``run``.
            rule: Decides what may be shown; three standard errors and 50 clients if None.
        """
        self.release, self.rule = release_from(release), rule or ServingRule()
        self._served = served(self.release, self.rule)
        self._index = PrefixIndex([row.query or "" for row in self._served.queries])
        self._made: dict[int, Suggestion] = {}

    def __repr__(self) -> str:
        return f"<LocalSearch: {len(self):,} queries>"

    def __len__(self) -> int:
        """Return the number of queries that may be suggested."""
        return len(self._served.queries)

    def suggest(self, typed: str, *, limit: int = 8) -> list[Suggestion]:
        """Return the most popular queries with a word from which ``typed`` is continued.

        If there are none, one typing error is corrected: a letter too many, missing or wrong, or
        two exchanged. An empty text gives the most popular queries of all.

        Args:
            typed: The text typed so far, in any script.
            limit: Most suggestions.
        """
        if not isinstance(typed, str):
            raise ParameterError("typed", "a text", type(typed).__name__)
        if limit < 1:
            raise ParameterError("limit", "at least 1", limit)
        if not typed.strip():
            return [self._suggestion(position) for position in range(min(limit, len(self)))]
        word = fold(typed)
        if not word:  # only signs, no word
            return []
        ended = (
            self._index.best([self._index.run(f"{word} ")], limit) if typed[-1].isspace() else []
        )
        if found := ended or self._index.best([self._index.run(word)], limit):
            return [self._suggestion(position) for position in found]
        corrected = self._index.best(runs_one_slip_away(self._index, word), limit)
        return [replace(self._suggestion(position), is_correction=True) for position in corrected]

    def coverage(self) -> Coverage:
        """Return the share of all searches that could be answered locally."""
        return coverage(self.release, self.rule, self._served)

    def _suggestion(self, position: int) -> Suggestion:
        if position not in self._made:
            row = self._served.queries[position]
            self._made[position] = Suggestion(
                query=row.query or "",
                probability=best_probability(row),
                links=self._links(row.query),
            )
        return self._made[position]

    def _links(self, query: str | None) -> tuple[Link, ...]:
        """Return a query's pages, each once, even if records spell it in several ways."""
        links: dict[str, Link] = {}
        for row in self._served.records.get(query or "", []):
            target = web_address(row.url or "")
            if target is None:
                continue
            same = links.get(target.address)
            links[target.address] = Link(
                address=target.address,
                shown=target.shown,
                probability=best_probability(row) + (same.probability if same else 0.0),
            )
        return tuple(sorted(links.values(), key=lambda link: -link.probability))
