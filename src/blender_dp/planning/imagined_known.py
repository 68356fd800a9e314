"""Known list of an imagined collection: what an earlier one of the same kind found."""

from blender_dp.core.blender import curate
from blender_dp.core.curator.listing_rule import half_listed
from blender_dp.core.estimation.discovery_facts import discovery_facts
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import Record
from blender_dp.core.head_list.known_list import KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.planning.imagined_users import ImaginedPopulation


def known_from_earlier(
    earlier: ImaginedPopulation, population: ImaginedPopulation, parameters: Parameters
) -> KnownList:
    """Return the list of the earlier users' release, in the codes of this population.

    A record that no opt-in user has now has no code. It would leave the list, so it is left out.

    Args:
        earlier: Other users of the same kind.
        population: The users who are asked now.
        parameters: The promise of both collections.
    """
    found = curate(
        earlier.opt_in,
        parameters,
        Randomness.seeded(earlier.seed),
        clients=earlier.imagined.size - earlier.relay_clients,
        relay_clients=earlier.relay_clients,
    )
    log = population.log
    code_of = {
        number: code for code, number in enumerate(population.imagined.query_number.tolist())
    }
    held = set(zip(log.query.tolist(), log.url.tolist(), strict=True))
    of_queries, names = found.head_list.is_of_queries, earlier.imagined.query_number
    records = [
        Record(f"{code:09d}", record.url)
        for record in found.head_list.discovered()
        if (code := code_of.get(int(names[int(record.query)]))) is not None
        and (of_queries or (code, int(record.url)) in held)
    ]
    half = half_listed(discovery_facts(found))
    return KnownList.of(records, half_listed=half, of_queries=of_queries)
