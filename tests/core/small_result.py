"""A result small enough to compute by hand: queries a (two URLs) and b (one), 100 opt-in users.

Cells: ⟨a,1⟩ ⟨a,2⟩ ⟨a,⋆⟩ ⟨b,1⟩ ⟨b,⋆⟩ ⟨⋆,⋆⟩.
"""

from dataclasses import replace

import numpy as np

from blender_dp.core.blend_probabilities.paper import blend_probabilities
from blender_dp.core.blender import BlenderResult, Curated
from blender_dp.core.channels.local_alg import LocalAlgChannel, LocalAlgMechanism
from blender_dp.core.estimate_client_probabilities.paper import client_estimates
from blender_dp.core.estimate_optin_probabilities.paper import opt_in_estimates
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.parameters import Parameters

PARAMETERS = Parameters(preset="paper", epsilon=4.0, delta=1e-5)
HEAD_LIST = HeadList.of(
    [Record("a", "1"), Record("a", "2"), Record("b", "1")],
    mechanism=LocalAlgMechanism.of(PARAMETERS),
    private=False,
)
NOISY_COUNTS = np.array([20, -3, 30, 53])
"""Of ⟨a,1⟩, ⟨a,2⟩, ⟨b,1⟩ and ⟨⋆,⋆⟩; the second is negative, and so is its variance."""
REPORTS = np.array([210, 20, 60, 280, 40, 390])


def small_result(*, project: bool = True) -> BlenderResult:
    """Return the result, as if two more records had been trimmed."""
    cells = HEAD_LIST.cells
    opt_in = opt_in_estimates(NOISY_COUNTS, cells, total=100, scale=PARAMETERS.laplace_scale)
    clients = client_estimates(REPORTS, LocalAlgChannel.of(cells, HEAD_LIST.mechanism))
    return BlenderResult(
        curated=Curated(
            parameters=replace(PARAMETERS, project=project),
            opt_in_users=2000,
            discovery_users=1900,
            estimation_users=100,
            candidate_queries=4,
            candidate_records=5,
            choice=None,
            head_list=HEAD_LIST,
            opt_in=opt_in,
        ),
        client_users=1000,
        clients=clients,
        blended=blend_probabilities(opt_in, clients),
    )


def empty_result() -> BlenderResult:
    """Return the result of a run that found no head list."""
    result, nothing = small_result(), HEAD_LIST.keeping([])
    opt_in = opt_in_estimates(
        np.array([101]), nothing.cells, total=100, scale=PARAMETERS.laplace_scale
    )
    channel = LocalAlgChannel.of(nothing.cells, nothing.mechanism)
    clients = client_estimates(np.array([1000]), channel)
    return replace(
        result,
        curated=replace(result.curated, head_list=nothing, opt_in=opt_in),
        clients=clients,
        blended=blend_probabilities(opt_in, clients),
    )
