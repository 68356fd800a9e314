"""Result of a run, with everything that may be done with it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from blender_dp.analysis.files import run_facts, write_result
from blender_dp.analysis.tables import (
    between,
    html_table,
    one_of,
    percent,
    to_pandas,
    to_polars,
)
from blender_dp.core.blender import Curated
from blender_dp.core.estimation.release import Release
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.engine.run import LogRun
from blender_dp.pages.outputs import FILES
from blender_dp.pages.words import Words
from blender_dp.wire.documents.document import require_path
from blender_dp.wire.documents.staging import staged_directory
from blender_dp.wire.published.certificate import certificate_document
from blender_dp.wire.published.release import release_document, release_of, user_counts

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes

Level = Literal["records", "queries"]
Picture = Literal["ranking", "curve", "weights"]
_SHOWN = 10
_GROUPS = {
    "opt_in": "opt-in users",
    "opt_in_discovery": "opt-in users for the list",
    "opt_in_estimation": "opt-in users for the estimates",
    "clients": "clients",
    "relay_clients": "relay clients",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RunResult(LogRun):
    """The blended result of a log: tables, files, release, pictures."""

    created: str
    """Time of the result, in ISO 8601."""
    synthetic: bool = False
    """Whether the log was made by ``synthesize``."""

    @property
    def head_list(self) -> HeadList:
        """The list of popular queries and records that devices report against."""
        return self.blender.head_list

    @property
    def curated(self) -> Curated:
        """What the curator released."""
        return self.blender.curated

    def release(self) -> Release:
        """Return the release, which local search, trends and plans read."""
        document = release_document(
            self.blender, certificate_document(self.certificate), created=self.created
        )
        return release_of(document, "the result")

    def write(
        self,
        directory: str | Path,
        *,
        overwrite: bool = False,
        timings: bool = False,
        words: Words | None = None,
    ) -> Path:
        """Write the files that ``blender-dp run`` writes, report.html among them.

        Args:
            directory: Directory to make.
            overwrite: Replace an earlier result there, once the new one is complete.
            timings: Add times and memory to run.json; they are not private: do not publish them.
            words: What a query and a URL are called, and the title of the report.

        Returns:
            The directory.
        """
        place = require_path("directory", directory)
        with staged_directory(place, overwrite=overwrite, replaceable=FILES) as partial:
            facts = run_facts(self, synthetic=self.synthetic, timings=timings)
            facts |= (words or Words()).facts()
            write_result(partial, self.blender, self.certificate, facts=facts, created=self.created)
        return place

    def to_pandas(self, level: Level = "records") -> "pd.DataFrame":
        """Return the records, or the queries, as a frame of pandas; it must be installed."""
        return to_pandas(self._table(level), "to_pandas()")

    def to_polars(self, level: Level = "records") -> "pl.DataFrame":
        """Return the records, or the queries, as a frame of polars; it must be installed."""
        return to_polars(self._table(level), "to_polars()")

    def plot(
        self, kind: Picture = "ranking", *, most: int = 20, axes: "Axes | None" = None
    ) -> "Axes":
        """Draw the result with matplotlib, which must be installed.

        Args:
            kind: ranking (the most popular queries with 95 % intervals), curve (probability by
                rank) or weights (the share of each group in the estimate of each query).
            most: Most queries of a ranking.
            axes: Where to draw; a new picture if left out.
        """
        from blender_dp.analysis.pictures import draw_result  # noqa: PLC0415 - slow to import

        return draw_result(self.queries, kind, most=most, axes=axes)

    def _table(self, level: Level) -> pa.Table:
        chosen = one_of("level", level, ("records", "queries"))
        return self.records if chosen == "records" else self.queries

    def __repr__(self) -> str:
        return f"<RunResult: {self._sentence()}>"

    def _repr_html_(self) -> str:
        rows = [row for row in self.queries.to_pylist() if row["cell"] == "query"]
        rest = next(row for row in self.queries.to_pylist() if row["cell"] == "other")
        users = sum(user_counts(self.blender).values())
        more = f"… and {len(rows) - _SHOWN} more; " if len(rows) > _SHOWN else ""
        return html_table(
            ("query", "probability", "95 % interval", "users", "opt-in", "clients"),
            [
                (
                    row["query"],
                    percent(row["probability"]),
                    between(row["low"], row["high"]),
                    f"{row['probability'] * users:,.0f}",
                    percent(row["opt_in_probability"]),
                    percent(row["client_probability"]),
                )
                for row in rows[:_SHOWN]
            ],
            above=self._sentence(),
            below=f"{more}everything else: {percent(rest['probability'])}",
        )

    def _sentence(self) -> str:
        parameters, head_list = self.blender.parameters, self.head_list
        groups = user_counts(self.blender).items()
        users = ", ".join(f"{count:,} {_GROUPS[group]}" for group, count in groups)
        privacy = "private" if self.private else "made with a seed, not private"
        return (
            f"{len(head_list.queries):,} queries, {len(head_list.records()):,} records; "
            f"ε = {parameters.epsilon:g}, δ = {parameters.delta:g}; {users}; {privacy}"
        )
