"""Task that every method gets, its answer, and the description of a method."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

from blender_dp.core.errors import MissingExtraError
from blender_dp.core.head_list.cells import FloatArray, IntArray

Model = Literal["hybrid", "central", "local"]
"""Who sees raw records: a curator those of opt-in users, a curator all of them, or no one."""
Users = Literal["opt-in users", "everybody"]
"""The users whose records a method uses."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """Users, each with the one record drawn for them, and what they are promised.

    Records are codes: positions in ``query`` and ``url``. A user without a record has the code
    :attr:`no_record`.
    """

    opt_in: IntArray
    """The records of the users who opted in."""
    clients: IntArray
    """The records of all others."""
    query: IntArray
    """The query of every record."""
    url: IntArray
    known: IntArray
    """The records that a frequency oracle is told of before it asks anybody."""
    epsilon: float
    delta: float
    list_size: int
    """M, the most queries that the list may have."""
    seed: int

    @property
    def no_record(self) -> int:
        """The code of a user without a record."""
        return len(self.query)

    @property
    def everybody(self) -> IntArray:
        """The record of every user."""
        return np.concatenate([self.opt_in, self.clients])

    def records_of(self, users: Users) -> IntArray:
        """Return the record of each of these users."""
        return self.opt_in if users == "opt-in users" else self.everybody

    @property
    def domain_size(self) -> int:
        """How many items a frequency oracle tells apart: the known records, and all others."""
        return len(self.known) + 1

    def items(self) -> list[int]:
        """Return every user's item for a frequency oracle; the last item is everything else."""
        item = np.full(self.no_record + 1, len(self.known))
        item[self.known] = np.arange(len(self.known))
        items: list[int] = item[self.everybody].tolist()
        return items

    def found_among_known(self, probability: FloatArray) -> "FoundRecords":
        """Return what an oracle answered for its items, the last one left out."""
        return FoundRecords(record=self.known, probability=np.asarray(probability[:-1]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoundRecords:
    """What a method says is popular, and how popular, in any order."""

    record: IntArray
    """Codes. One beyond those of the task is no record: noise made it up."""
    probability: FloatArray
    """As the method estimates it; may be negative."""
    query_probability: Mapping[int, float] | None = None
    """Of every listed query, by a method that estimates them apart; otherwise sums of records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A method to compare."""

    name: str
    model: Model
    users: Users
    is_told_records: bool = False
    """Whether it must know beforehand which records to ask about."""
    module: str | None = None
    """What it needs installed."""
    find: Callable[[Task], FoundRecords]

    def require_installed(self) -> None:
        """Refuse a method whose package is missing."""
        if self.module is not None:
            package(self.module)


def package(module: str) -> Any:  # noqa: ANN401 - the peers publish no types
    """Import a peer's module, which is there only if the extra is installed."""
    try:
        with warnings.catch_warnings():  # of how their own source is written
            warnings.simplefilter("ignore")
            return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise MissingExtraError("peers", f"comparing with {name}") from error
