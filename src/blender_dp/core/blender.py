"""BLENDER, the server algorithm (Fig. 2, ``fig:server-alg``), written once.

The steps ask a :class:`~blender_dp.core.population.Population` for counts, so this runs on a
log in memory, in a database, on a cluster, and on what devices have sent.
"""

from collections.abc import Callable
from dataclasses import dataclass

from blender_dp.core.blend_probabilities import paper as paper_blend
from blender_dp.core.create_head_list import paper as paper_discovery
from blender_dp.core.estimate_client_probabilities import paper as paper_clients
from blender_dp.core.estimate_optin_probabilities import paper as paper_optin
from blender_dp.core.estimates import BlendedEstimates, GroupEstimates
from blender_dp.core.head_list import HeadList
from blender_dp.core.parameters import Parameters, Preset
from blender_dp.core.population import Clients, OptInUsers, Population
from blender_dp.core.randomness import Randomness


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The server's four steps; the fifth, LocalAlg, runs on the devices the head list names.

    A preset is a choice of variants that fit together. To try another variant of one step,
    ``dataclasses.replace`` it.
    """

    require_provable: Callable[[Parameters], None]
    """Refuses parameters for which a promise is not proved, before any data is read."""
    create_head_list: Callable[[OptInUsers, Parameters, Randomness], HeadList]
    estimate_optin_probabilities: Callable[
        [OptInUsers, HeadList, Parameters, Randomness], tuple[HeadList, GroupEstimates]
    ]
    estimate_client_probabilities: Callable[[Clients, HeadList], GroupEstimates]
    blend_probabilities: Callable[[GroupEstimates, GroupEstimates], BlendedEstimates]


PRESETS: dict[Preset, Steps] = {
    "paper": Steps(
        require_provable=paper_discovery.require_provable,
        create_head_list=paper_discovery.create_head_list,
        estimate_optin_probabilities=paper_optin.estimate_optin_probabilities,
        estimate_client_probabilities=paper_clients.estimate_client_probabilities,
        blend_probabilities=paper_blend.blend_probabilities,
    )
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curated:
    """What the curator releases from the opt-in users' data (Fig. 2 lines 1-3)."""

    discovery_users: int
    estimation_users: int
    candidate_queries: int
    candidate_records: int
    head_list: HeadList
    opt_in: GroupEstimates


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlenderResult:
    """Everything that BLENDER computed; all of it may be released."""

    parameters: Parameters
    curated: Curated
    client_users: int
    clients: GroupEstimates
    blended: BlendedEstimates

    @property
    def head_list(self) -> HeadList:
        """The final head list HL."""
        return self.curated.head_list


Progress = Callable[[str], None]
"""Is told when a step begins; the time between two calls is the time of a step."""


def unwatched(step: str) -> None:
    """Take no note of ``step``."""


def blender(
    population: Population,
    parameters: Parameters,
    randomness: Randomness,
    *,
    steps: Steps | None = None,
    progress: Progress = unwatched,
) -> BlenderResult:
    """Find what is popular among all users, and how popular.

    Paper: Fig. 2, line by line (lines 1 to 3 in :func:`curate`, which an opt-in side runs alone).
    Privacy: every user, opt-in or client, has (ε, δ); each user's data enters one step only.
    """
    steps = steps or PRESETS[parameters.preset]
    curated = curate(population.opt_in, parameters, randomness, steps=steps, progress=progress)
    progress("EstimateClientProbabilities")
    clients = steps.estimate_client_probabilities(population.clients, curated.head_list)  # 4
    progress("BlendProbabilities")
    blended = steps.blend_probabilities(curated.opt_in, clients)  # 5
    return BlenderResult(  # 6
        parameters=parameters,
        curated=curated,
        client_users=population.clients.size,
        clients=clients,
        blended=blended,
    )


def curate(
    users: OptInUsers,
    parameters: Parameters,
    randomness: Randomness,
    *,
    steps: Steps | None = None,
    progress: Progress = unwatched,
) -> Curated:
    """Find the head list and estimate it from the opt-in users alone (Fig. 2 lines 1-3)."""
    steps = steps or PRESETS[parameters.preset]
    progress("CreateHeadList")
    s, t = users.split(parameters.head_list_user_fraction)  # 1
    hl_s = steps.create_head_list(s, parameters, randomness)  # 2
    progress("EstimateOptinProbabilities")
    hl, p_hat = steps.estimate_optin_probabilities(t, hl_s, parameters, randomness)  # 3
    return Curated(
        discovery_users=s.size,
        estimation_users=t.size,
        candidate_queries=len(hl_s.queries),
        candidate_records=len(hl_s.records()),
        head_list=hl,
        opt_in=p_hat,
    )
