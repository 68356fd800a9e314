"""BLENDER, the server algorithm (Fig. 2, ``fig:server-alg``), written once.

The steps ask a :class:`~blender_dp.core.population.Population` for counts, so this runs on a
log in memory, in a database, on a cluster, and on reports of real devices.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from blender_dp.core.blend_probabilities import paper as paper_blend
from blender_dp.core.blend_probabilities import sharp as sharp_blend
from blender_dp.core.certificate import opt_in as opt_in_cost
from blender_dp.core.channels.relayed import RelayMechanism, RelayRules
from blender_dp.core.create_head_list import paper as paper_discovery
from blender_dp.core.create_head_list import sharp as sharp_discovery
from blender_dp.core.curator.budget import Branch, with_usual_share
from blender_dp.core.curator.discovery import BranchChoice
from blender_dp.core.curator.steps import Steps
from blender_dp.core.errors import ParameterError
from blender_dp.core.estimate_client_probabilities import paper as paper_clients
from blender_dp.core.estimate_client_probabilities import sharp as sharp_clients
from blender_dp.core.estimate_optin_probabilities import paper as paper_optin
from blender_dp.core.estimate_optin_probabilities import sharp as sharp_optin
from blender_dp.core.estimation.estimates import BlendedEstimates, GroupEstimates
from blender_dp.core.estimation.unlisted_bound import unlisted_bound
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.head_list.known_list import NOTHING_KNOWN, KnownList
from blender_dp.core.parameters import Parameters, Preset
from blender_dp.core.population import Clients, OptInUsers, Population

PRESETS: dict[Preset, Steps] = {
    "sharp": Steps(
        require_provable=sharp_discovery.require_provable,
        asks_all_rows=True,
        parts_users=False,
        takes_relay_clients=True,
        reports_have_delta=False,
        takes_known_list=True,
        releases_tally=True,
        has_printed_flaws=False,
        part_users=sharp_optin.use_all_users_in_both_parts,
        users_to_list_a_record=sharp_discovery.users_to_list_a_record,
        create_head_list=sharp_discovery.create_head_list,
        estimate_optin_probabilities=sharp_optin.estimate_optin_probabilities,
        estimate_published=sharp_optin.estimate_published,
        opt_in_accounts=opt_in_cost.sharp_accounts,
        choose_mechanism=sharp_optin.choose_mechanism,
        estimate_client_probabilities=sharp_clients.estimate_client_probabilities,
        blend_probabilities=sharp_blend.blend_probabilities,
    ),
    "paper": Steps(
        require_provable=paper_discovery.require_provable,
        asks_all_rows=False,
        parts_users=True,
        takes_relay_clients=False,
        reports_have_delta=True,
        takes_known_list=False,
        releases_tally=False,
        has_printed_flaws=True,
        part_users=paper_optin.two_parts,
        users_to_list_a_record=paper_discovery.users_to_list_a_record,
        create_head_list=paper_discovery.create_head_list,
        estimate_optin_probabilities=paper_optin.estimate_optin_probabilities,
        estimate_published=paper_optin.estimate_published,
        opt_in_accounts=opt_in_cost.paper_accounts,
        choose_mechanism=paper_optin.local_alg,
        estimate_client_probabilities=paper_clients.estimate_client_probabilities,
        blend_probabilities=paper_blend.blend_probabilities,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curated:
    """The curator's release from the opt-in users' data (Fig. 2 lines 1-3)."""

    parameters: Parameters
    opt_in_users: int
    discovery_users: int
    """Number of them who found the list; all in ``sharp``."""
    estimation_users: int
    """Number of them who were counted."""
    candidate_queries: int
    candidate_records: int
    choice: BranchChoice | None
    """How records were discovered; None in ``paper``, which has one way."""
    head_list: HeadList
    opt_in: GroupEstimates

    @property
    def branch(self) -> Branch | None:
        """How records were discovered; None in ``paper``, which has one way."""
        return self.choice.branch if self.choice else None

    @property
    def unlisted_bound(self) -> float | None:
        """Probability above which a record is almost surely listed; None if unknown."""
        if self.candidate_queries > len(self.head_list.queries):
            return None  # an unlisted record may have been trimmed
        return unlisted_bound(self.parameters, self.branch, self.discovery_users)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlenderResult:
    """Everything that BLENDER computed; all of it may be released."""

    curated: Curated
    client_users: int
    clients: GroupEstimates
    blended: BlendedEstimates
    relay_users: int = 0
    relayed: GroupEstimates | None = None
    """What the relay clients say; None if there are none."""

    @property
    def parameters(self) -> Parameters:
        """The promise and the tuning parameters."""
        return self.curated.parameters

    @property
    def head_list(self) -> HeadList:
        """The final head list HL."""
        return self.curated.head_list

    @property
    def private(self) -> bool:
        """Whether the noise is secret: False if a seed was used, by the mark of the head list."""
        return self.head_list.private


Progress = Callable[[str], None]
"""Called with the name of each step when it begins."""


def no_progress(*_: object) -> None:
    """Ignore a report of progress: the default of every callback that takes one."""


def blender(  # noqa: PLR0913 - all inputs of the algorithm
    population: Population,
    parameters: Parameters,
    randomness: Randomness,
    *,
    relay: RelayRules = RelayRules(),  # noqa: B008 - frozen
    known: KnownList = NOTHING_KNOWN,
    steps: Steps | None = None,
    progress: Progress = no_progress,
) -> BlenderResult:
    """Find the popular records of all users and estimate their probabilities.

    Paper: Fig. 2, line by line: lines 1 to 3 in :func:`curate`, lines 4 to 6 in :func:`finish`.
    Privacy: every user, opt-in or client, has (ε, δ). In ``paper`` each user's data enters one
    step only; in ``sharp`` the opt-in users' enters two, which share the budget. Relay clients
    have it as long as relay and collector do not work together.
    """
    steps = steps or PRESETS[parameters.preset]
    users, clients, relayed = population.opt_in, population.clients, population.relayed
    curated = curate(
        users,
        parameters,
        randomness,
        clients=clients.size,
        relay_clients=0 if relayed is None else relayed.size,
        known=known,
        steps=steps,
        progress=progress,
    )
    if relayed is not None:
        curated = with_relay(curated, clients=relayed.size, rules=relay)
    return finish(curated, clients, relayed=relayed, steps=steps, progress=progress)


def curate(  # noqa: PLR0913 - all inputs of the curator
    users: OptInUsers,
    parameters: Parameters,
    randomness: Randomness,
    *,
    clients: int,
    relay_clients: int = 0,
    known: KnownList = NOTHING_KNOWN,
    steps: Steps | None = None,
    progress: Progress = no_progress,
) -> Curated:
    """Find the head list and estimate it from the opt-in users alone (Fig. 2 lines 1-3).

    Args:
        users: O.
        parameters: The promise and the tuning parameters.
        randomness: Source of the noise.
        clients: Expected number of clients, a public number.
        relay_clients: Expected number of relay clients, likewise; with many of them less of the
            budget goes to the sums.
        known: Records that are public already.
        steps: The variants, if not those of the preset.
        progress: Is told when a step begins.
    """
    steps = steps or PRESETS[parameters.preset]
    require_known(parameters, known)
    parameters = with_usual_share(parameters, opt_in_users=users.size, relay_clients=relay_clients)
    progress("CreateHeadList")
    s, t = steps.part_users(users, parameters)  # 1
    hl_s = steps.create_head_list(s, parameters, randomness, known)  # 2
    progress("EstimateOptinProbabilities")
    hl, p_hat = steps.estimate_optin_probabilities(t, hl_s, parameters, randomness)  # 3
    mechanism = steps.choose_mechanism(hl, p_hat, clients)
    return Curated(
        parameters=parameters,
        opt_in_users=users.size,
        discovery_users=s.size,
        estimation_users=t.size,
        candidate_queries=len(hl_s.head_list.queries),
        candidate_records=len(hl_s.head_list.records()),
        choice=hl_s.choice,
        head_list=replace(hl, mechanism=mechanism),
        opt_in=p_hat,
    )


def require_relay_preset(parameters: Parameters, relay: float) -> None:
    """Refuse relay clients, a share or a number of them, where the preset does not take them."""
    if relay and not PRESETS[parameters.preset].takes_relay_clients:
        raise ParameterError("relay", f"left out with the preset {parameters.preset}", relay)


def require_known(parameters: Parameters, known: KnownList) -> None:
    """Refuse a known list where the preset takes none, and one of queries if records are listed."""
    if known and not PRESETS[parameters.preset].takes_known_list:
        rule = f"left out with the preset {parameters.preset}, which is the algorithm as printed"
        raise ParameterError("known", rule, known.name)
    if known.of_queries and parameters.list_of == "records":  # auto may list queries
        rule = "records with URLs, not queries alone, unless queries are listed, too"
        raise ParameterError("known", rule, known.name)


def with_relay(curated: Curated, *, clients: int, rules: RelayRules) -> Curated:
    """Add to the head list how relay clients report; public numbers decide it.

    The reports of all ``clients`` make one batch.
    """
    head_list, parameters = curated.head_list, curated.parameters
    require_relay_preset(parameters, clients)
    relay = RelayMechanism.of(head_list.cells, parameters, clients=clients, rules=rules)
    return replace(curated, head_list=replace(head_list, relay=relay))


def finish(
    curated: Curated,
    clients: Clients,
    *,
    relayed: Clients | None = None,
    steps: Steps | None = None,
    progress: Progress = no_progress,
) -> BlenderResult:
    """Estimate the head list from the clients' reports and blend both groups (Fig. 2 lines 4-6).

    Privacy: post-processing of the curator's release and of private reports.

    Args:
        curated: The release of the opt-in side.
        clients: C, who reported against its head list.
        relayed: Who reported through a relay, as that list says.
        steps: The variants, if not those of the preset.
        progress: Is told when a step begins.
    """
    steps, hl = steps or PRESETS[curated.parameters.preset], curated.head_list
    progress("EstimateClientProbabilities")
    p_hat_c = steps.estimate_client_probabilities(clients, hl)  # 4
    everybody, p_hat_r = p_hat_c, None
    if relayed is not None:
        p_hat_r = steps.estimate_client_probabilities(relayed, hl.for_batch(relayed.size))
        everybody = p_hat_c.with_relayed(p_hat_r)
    progress("BlendProbabilities")
    p_hat = steps.blend_probabilities(curated.opt_in, everybody)  # 5
    return BlenderResult(  # 6
        curated=curated,
        client_users=clients.size,
        clients=p_hat_c,
        blended=p_hat,
        relay_users=relayed.size if relayed is not None else 0,
        relayed=p_hat_r,
    )


def create_head_list(
    population: Population, parameters: Parameters, *, randomness: Randomness | None = None
) -> HeadList:
    """Return the head list that devices report against (Fig. 2 lines 1-3).

    Privacy: (ε, δ) for the opt-in users of ``population``. Calling it again spends it again.
    """
    relayed = population.relayed
    return curate(
        population.opt_in,
        parameters,
        randomness or Randomness.secure(),
        clients=population.clients.size,
        relay_clients=0 if relayed is None else relayed.size,
    ).head_list
