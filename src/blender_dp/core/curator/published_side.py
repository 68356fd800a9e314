"""Published integers of the curator, from which its estimates are computed again."""

from dataclasses import dataclass

from blender_dp.core.blender import Curated
from blender_dp.core.curator.budget import Branch, Budget
from blender_dp.core.curator.opt_in_tally import OptInTally
from blender_dp.core.estimate_optin_probabilities import paper, sharp
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.parameters import Parameters


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublishedSide:
    """Everything that the curator published about one head list."""

    parameters: Parameters
    opt_in_users: int
    discovery_users: int
    estimation_users: int
    candidate_queries: int
    candidate_records: int
    head_list: HeadList
    integers: OptInTally | IntArray
    """The tally of ``sharp``, or the noisy counts of ``paper`` (listed cells, then ⟨⋆,⋆⟩)."""

    @property
    def branch(self) -> Branch | None:
        """How records were discovered; None in ``paper``, which has one way."""
        return self.integers.choice.branch if isinstance(self.integers, OptInTally) else None

    def estimate(self) -> Curated:
        """Estimate from the integers, as the curator did (post-processing)."""
        if isinstance(self.integers, OptInTally):
            budget = Budget.of(self.parameters)
            estimates = sharp.opt_in_estimates(self.integers, self.head_list, budget)
        else:
            estimates = paper.opt_in_estimates(
                self.integers,
                self.head_list.cells,
                total=self.parameters.records_per_optin_user * self.estimation_users,
                scale=self.parameters.laplace_scale,
            )
        return Curated(
            parameters=self.parameters,
            opt_in_users=self.opt_in_users,
            discovery_users=self.discovery_users,
            estimation_users=self.estimation_users,
            candidate_queries=self.candidate_queries,
            candidate_records=self.candidate_records,
            choice=self.integers.choice if isinstance(self.integers, OptInTally) else None,
            head_list=self.head_list,
            opt_in=estimates,
        )
