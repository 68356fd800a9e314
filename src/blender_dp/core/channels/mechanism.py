"""How devices report: the description that is published with a head list."""

import math
from dataclasses import dataclass
from typing import ClassVar

from blender_dp.core.errors import ParameterError
from blender_dp.core.parameters import Parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAlgMechanism:
    """LocalAlg of the paper (Fig. 6): randomised response on the query, then on the URL."""

    name: ClassVar[str] = "local-alg"
    version: ClassVar[int] = 1

    epsilon: float
    delta: float
    query_budget_fraction: float
    records_per_client: int

    def __post_init__(self) -> None:
        Parameters(
            epsilon=self.epsilon,
            delta=self.delta,
            query_budget_fraction=self.query_budget_fraction,
            records_per_client=self.records_per_client,
            preset="paper",
        )  # the rules are those of Parameters; not written twice

    @classmethod
    def of(cls, parameters: Parameters) -> "LocalAlgMechanism":
        """Return what a device needs to know of ``parameters``."""
        return cls(
            epsilon=parameters.epsilon,
            delta=parameters.delta,
            query_budget_fraction=parameters.query_budget_fraction,
            records_per_client=parameters.records_per_client,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetSelectionMechanism:
    """Subset selection: a client names d cells, its own more often than any other.

    A public coin asks some clients for their query only, among the fewer queries of the list.
    """

    name: ClassVar[str] = "subset-selection"
    version: ClassVar[int] = 1
    records_per_client: ClassVar[int] = 1
    """A client reports once, about one record."""
    delta: ClassVar[float] = 0.0
    """Subset selection is pure."""

    epsilon: float
    query_share: float
    """φ, the share of the clients who are asked for the query only."""

    def __post_init__(self) -> None:
        # Each range is written as "not inside", so that NaN fails too.
        if not 0 < self.epsilon < math.inf:
            raise ParameterError("epsilon", "a finite number above 0", self.epsilon)
        if not 0 <= self.query_share < 1:
            raise ParameterError(
                "query_share",
                "at least 0 and below 1 (without reports on records nothing would check what the "
                "opt-in users say of them)",
                self.query_share,
            )


Mechanism = LocalAlgMechanism | SubsetSelectionMechanism
"""Every mechanism there is."""
