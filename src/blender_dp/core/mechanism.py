"""How devices report: the description that is published with a head list."""

from dataclasses import dataclass
from typing import ClassVar

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


Mechanism = LocalAlgMechanism
"""Every mechanism there is; a union once there are several."""
