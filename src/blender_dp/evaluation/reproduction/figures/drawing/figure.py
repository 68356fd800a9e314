"""Definition of a figure or table: the trials it needs, its results, and the claims it checks."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from blender_dp.evaluation.reproduction.data_sets import DataSet
from blender_dp.evaluation.reproduction.series import (
    MeasuredPanel,
    Outcomes,
    Panel,
    Series,
    measured,
)
from blender_dp.evaluation.reproduction.sweeps import Setup, Trial, trials_of
from blender_dp.evaluation.reproduction.verdicts import Claim


class Found(Protocol):
    """Results of all trials, as a figure reads them."""

    @property
    def setup(self) -> Setup:
        """The paper's choices for this data set."""

    @property
    def data(self) -> DataSet:
        """The data set."""

    @property
    def folder(self) -> Path:
        """Folder with the trials, and with results of other methods if there are any."""

    @property
    def statistics(self) -> dict[str, Any]:
        """Statistics of the data set."""

    @property
    def outcomes(self) -> Outcomes:
        """The scores of a setting's trials."""

    def of(self, trials: Sequence[Trial]) -> list[Any]:
        """Return the outcomes of these trials."""

    @property
    def repetitions(self) -> int:
        """Number of trials per setting."""


class Cell(NamedTuple):
    """One cell of a table."""

    text: str
    is_marked: bool = False
    """Shown in red, as the paper shows regressions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table for a person."""

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    """Numbers that claims are checked with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure(ABC):
    """A figure or a table of the paper."""

    number: int | None
    """Number in the paper; None for a figure of this project."""
    name: str
    title: str
    note: str = ""
    """Remarks about this figure here."""
    claims: tuple[Claim, ...] = ()

    @property
    def heading(self) -> str:
        """Number and title."""
        return self.title if self.number is None else f"Fig. {self.number}: {self.title}"

    @property
    def stem(self) -> str:
        """Name of its files, without suffix."""
        return self.name if self.number is None else f"fig-{self.number:02d}-{self.name}"

    @abstractmethod
    def trials(self, setup: Setup, repetitions: int) -> list[Trial]:
        """Return the trials that the figure needs."""

    @abstractmethod
    def find(self, found: Found) -> Any:  # noqa: ANN401 - panels of a plot, or a table
        """Return the content of the figure, and the numbers for its claims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot(Figure):
    """Lines along a sweep."""

    panels: Callable[[Setup], tuple[Panel, ...]]
    beside: Callable[[Found], tuple[Series, ...]] = lambda _found: ()
    """Lines measured by other methods, drawn in the first panel if present."""

    def trials(self, setup: Setup, repetitions: int) -> list[Trial]:
        """Return the trials of every point."""
        return trials_of(self._settings(setup), repetitions)

    def find(self, found: Found) -> list[MeasuredPanel]:
        """Return the panels with their numbers."""
        first, *others = (measured(panel, found.outcomes) for panel in self.panels(found.setup))
        return [replace(first, series=(*first.series, *self.beside(found))), *others]

    def _settings(self, setup: Setup) -> Iterator[Any]:
        for panel in self.panels(setup):
            for line in panel.lines:
                yield from (setting for _, setting in line.settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFigure(Figure):
    """Rows and columns."""

    tabulate: Callable[[Found], Table]
    needed: Callable[[Setup, int], list[Trial]] = lambda _setup, _repetitions: []

    def trials(self, setup: Setup, repetitions: int) -> list[Trial]:
        """Return the trials of all rows."""
        return self.needed(setup, repetitions)

    def find(self, found: Found) -> Table:
        """Return the table."""
        return self.tabulate(found)
