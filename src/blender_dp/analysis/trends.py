"""Trends of releases or results from Python, which print and draw themselves."""

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from blender_dp.analysis.drawing import draw_bars
from blender_dp.analysis.tables import between, html_table, one_of, percent, to_pandas, to_polars
from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.core.estimation.release import HasRelease, Release
from blender_dp.search_trends.changes import FALSE_DISCOVERY_RATE, Change
from blender_dp.search_trends.trends import Trends
from blender_dp.search_trends.trends import trends as find_trends

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes

Part = Literal["ranking", "changes"]
_PARTS = ("ranking", "changes")
_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TrendsResult(Trends):
    """A ranking and, with an earlier release, its changes, which print and draw themselves."""

    def to_pandas(self, part: Part = "ranking") -> "pd.DataFrame":
        """Return the ranking, or the changes, as a frame of pandas; it must be installed."""
        return to_pandas(self._table(part), "to_pandas()")

    def to_polars(self, part: Part = "ranking") -> "pl.DataFrame":
        """Return the ranking, or the changes, as a frame of polars; it must be installed."""
        return to_polars(self._table(part), "to_polars()")

    def plot(
        self, kind: Part | None = None, *, most: int = 20, axes: "Axes | None" = None
    ) -> "Axes":
        """Draw the changes, or the ranking; matplotlib must be installed.

        Args:
            kind: ranking or changes; changes if there is an earlier release.
            most: Most queries.
            axes: Where to draw; a new picture if left out.
        """
        kind = kind or ("ranking" if self.changes is None else "changes")
        one_of("kind", kind, _PARTS)
        if not isinstance(most, int) or most < 1:
            raise ParameterError("most", "a whole number from 1 on", most)
        if kind == "ranking":
            ranked = self.ranking[:most]
            return draw_bars(
                axes,
                [row.query for row in ranked],
                [row.probability for row in ranked],
                intervals=[(row.low, row.high) for row in ranked],
                label=f"probability, with {100 * self.confidence:.0f} % interval",
                title=f"The {len(ranked)} most popular of {len(self.ranking)} queries",
            )
        found = [one for one in self._changes() if one.difference is not None][:most]
        drawn = draw_bars(
            axes,
            [one.query for one in found],
            [one.difference or 0.0 for one in found],
            intervals=[(one.low, one.high) for one in found],
            label=f"change of probability, with {self.confidence:.0%} interval",
            title=self._counted(),
        )
        drawn.axvline(0, color="#5a6270", linewidth=0.8)
        return drawn

    def _table(self, part: Part) -> pa.Table:
        rows = self.ranking if one_of("part", part, _PARTS) == "ranking" else self._changes()
        return pa.Table.from_pylist([asdict(row) for row in rows])

    def _changes(self) -> tuple[Change, ...]:
        if self.changes is None:
            raise BlenderError("there are no changes without an earlier release")
        return self.changes

    def _counted(self) -> str:
        verdicts = [one.verdict for one in self.changes or ()]
        rose, fell = verdicts.count("rose"), verdicts.count("fell")
        return f"{rose} of {len(verdicts)} queries rose, {fell} fell"

    def __repr__(self) -> str:
        return f"<TrendsResult: {self._sentence()}>"

    def _repr_html_(self) -> str:
        if self.changes is None:
            ranked = [
                (row.query, percent(row.probability), f"{row.best_rank} to {row.worst_rank}")
                for row in self.ranking[:_SHOWN]
            ]
            return html_table(("query", "probability", "rank"), ranked, above=self._sentence())
        rows = [
            (
                *(one.query, percent(one.before), percent(one.after)),
                *(between(one.low, one.high), one.verdict or "–"),
            )
            for one in self.changes[:_SHOWN]
        ]
        header = ("query", "before", "after", "change, 95 % interval", "verdict")
        return html_table(header, rows, above=self._sentence())

    def _sentence(self) -> str:
        changed = "" if self.changes is None else f"; {self._counted()}"
        privacy = "" if self.private else "; made with a seed, not private"
        return f"{len(self.ranking)} queries{changed}{privacy}"


def trends(
    release: Release | HasRelease,
    earlier: Release | HasRelease | None = None,
    *,
    false_discovery_rate: float = FALSE_DISCOVERY_RATE,
) -> TrendsResult:
    """Return the ranking of a release with rank intervals, and the changes since ``earlier``.

    Paper: search trend computation (section 1.1). Privacy: post-processing of releases.

    Args:
        release: A release, or the result of a run.
        earlier: A release or result to compare with.
        false_discovery_rate: Largest share of wrong rises and falls, on average.
    """
    found = find_trends(release, earlier, false_discovery_rate=false_discovery_rate)
    return TrendsResult(**{part.name: getattr(found, part.name) for part in fields(Trends)})
