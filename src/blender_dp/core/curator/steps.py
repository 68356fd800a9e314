"""Steps of the server, of which a preset is a choice; :mod:`~blender_dp.core.blender` has both."""

from collections.abc import Callable
from dataclasses import dataclass

from blender_dp.core.certificate.certificate import Account
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.curator.budget import Branch
from blender_dp.core.curator.discovery import Discovery
from blender_dp.core.curator.opt_in_tally import OptInTally
from blender_dp.core.estimation.estimates import BlendedEstimates, GroupEstimates
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.head_list.known_list import KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.core.population import Clients, OptInUsers


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The server's four steps; the fifth, LocalAlg, runs on the devices the head list names.

    A preset is a choice of variants that fit together; ``dataclasses.replace`` swaps one of them.
    """

    require_provable: Callable[[Parameters], None]
    """Refuses parameters for which a promise is not proved, before any data is read."""
    asks_all_rows: bool
    """Whether a step uses all rows of the opt-in users, not only a sample of each."""
    parts_users: bool
    """Whether some opt-in users find the list and others are counted."""
    takes_relay_clients: bool
    """Whether some clients may report through a relay."""
    reports_have_delta: bool
    """Whether the promise to clients has a δ; if not, their reports are purely private."""
    takes_known_list: bool
    """Whether records that are public already need no discovery."""
    releases_tally: bool
    """Whether the opt-in side is released as a tally; if not, as noisy counts."""
    has_printed_flaws: bool
    """Whether the flaws of the algorithm as printed are kept, and counted in every result."""
    part_users: Callable[[OptInUsers, Parameters], tuple[OptInUsers, OptInUsers]]
    """Returns the users who find the head list and those who are counted; may be the same."""
    users_to_list_a_record: Callable[[Parameters], int]
    """Returns how many opt-in users must have a record that is more likely listed than not."""
    create_head_list: Callable[[OptInUsers, Parameters, Randomness, KnownList], Discovery]
    estimate_optin_probabilities: Callable[
        [OptInUsers, Discovery, Parameters, Randomness], tuple[HeadList, GroupEstimates]
    ]
    estimate_published: Callable[[OptInTally | IntArray, HeadList, Parameters, int], GroupEstimates]
    """Estimates from published integers alone what the step before estimated from as many users."""
    opt_in_accounts: Callable[[Parameters, Branch | None], list[Account]]
    """Computes the privacy cost of each group of opt-in users; of every branch if it is None."""
    choose_mechanism: Callable[[HeadList, GroupEstimates, int], Mechanism]
    """Chooses the mechanism of the given number of clients, by public numbers only."""
    estimate_client_probabilities: Callable[[Clients, HeadList], GroupEstimates]
    blend_probabilities: Callable[[GroupEstimates, GroupEstimates], BlendedEstimates]
