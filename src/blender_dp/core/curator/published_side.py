"""Published integers of the curator, from which its estimates are computed again."""

from dataclasses import dataclass

from blender_dp.core.blender import PRESETS, Curated
from blender_dp.core.curator.opt_in_tally import OptInTally
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

    def estimate(self) -> Curated:
        """Estimate from the integers, as the curator did (post-processing)."""
        estimates = PRESETS[self.parameters.preset].estimate_published(
            self.integers, self.head_list, self.parameters, self.estimation_users
        )
        return Curated(
            parameters=self.parameters,
            opt_in_users=self.opt_in_users,
            discovery_users=self.discovery_users,
            estimation_users=self.estimation_users,
            candidate_queries=self.candidate_queries,
            candidate_records=self.candidate_records,
            choice=estimates.tally.choice if estimates.tally else None,
            head_list=self.head_list,
            opt_in=estimates,
        )
