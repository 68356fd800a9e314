"""The curator's side in one call."""

from blender_dp.core.blender import curate
from blender_dp.core.head_list import HeadList
from blender_dp.core.parameters import Parameters
from blender_dp.core.population import Population
from blender_dp.core.randomness import Randomness


def create_head_list(
    population: Population, parameters: Parameters, *, randomness: Randomness | None = None
) -> HeadList:
    """Return the head list that devices report against (Fig. 2 lines 1-3).

    Privacy: (ε, δ) for the opt-in users of ``population``. Calling it again spends it again.
    """
    curated = curate(
        population.opt_in,
        parameters,
        randomness or Randomness.secure(),
        clients=population.clients.size,
    )
    return curated.head_list
