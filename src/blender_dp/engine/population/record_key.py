"""Columns that tell records apart: query and URL themselves, or a code in place of both."""

from dataclasses import dataclass

from blender_dp.engine.tables import Frame


@dataclass(frozen=True, slots=True, eq=False)
class RecordKey:
    """Key of the records in a population's tables.

    Codes are smaller and faster to group than texts, but take a grouping of their own: they save
    memory where records repeat, and time where texts are long too.
    """

    names: Frame | None = None
    """Code, query and url of every record; None if the tables have query and url themselves."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return ("query", "url") if self.names is None else ("code",)

    def with_names(self, rows: Frame) -> Frame:
        """Return rows with query and url."""
        return rows if self.names is None else self.names.join(rows, on="code", how="inner")
