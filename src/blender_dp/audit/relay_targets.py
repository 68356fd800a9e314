"""Targets among relay clients: shuffled batches of small size, and a report by itself."""

from dataclasses import replace

from blender_dp.audit.shuffled_batches import Delivery, ShuffledBatches, forget_order
from blender_dp.audit.targets import Target, device_targets
from blender_dp.core.channels.mechanism import ThroughRelay
from blender_dp.core.channels.relayed import RelayMechanism, RelayRules
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.parameters import Parameters, exact

_BATCH = 250
"""Reports of an attacked batch. A batch of the usual size would take too long to draw often."""
_CELLS = 16
"""Cells up to which a batch target gets all its draws; time grows with their number."""


def own_relay_list(epsilon: float, delta: float, *, private: bool) -> HeadList:
    """Return a list of one record for batches of small size, attacked if none is given."""
    listed = HeadList.of(
        [Record("query", "url")],
        mechanism=SubsetSelectionMechanism(epsilon=epsilon, query_share=0.0),
        private=private,
    )
    relay = RelayMechanism.of(
        listed.cells,
        Parameters(epsilon=epsilon, delta=delta),
        clients=_BATCH,
        rules=RelayRules(),
    )
    return replace(listed, relay=relay)


def relay_targets(head_list: HeadList, deliver: Delivery = forget_order) -> list[Target]:
    """Return the targets of the relay clients of a list.

    Args:
        head_list: A list with a relay. The batches have its least number of reports, or fewer, and
            are compared with what the certificate says of that number.
        deliver: What the collector receives of a batch.
    """
    alone = (_relay_of(head_list).report_epsilon, 0.0)
    return [batch_target(head_list, deliver), *device_targets(head_list.for_relay(), alone)]


def batch_target(head_list: HeadList, deliver: Delivery = forget_order) -> Target:
    """Return the target of shuffled batches, with the certified ε of their size."""
    relay, cells = _relay_of(head_list), head_list.cells
    relay = replace(relay, least_batch=min(relay.least_batch, _BATCH))
    record, star, other = int(cells.first_cell[0]), int(cells.star_of_query[0]), cells.other
    held = {
        "a listed record or none; all others have another record": ((record, other), star),
        "a listed record or that of all others": ((record, other), other),
    }
    return Target(
        name=f"{relay.name}, batches of {relay.least_batch}",
        epsilon=_certified(relay, head_list),
        delta=relay.delta,
        attacks=[
            ShuffledBatches(
                channel=relay.channel(cells),
                cells=pair,
                others=others,
                honest=relay.honest,
                dishonest=relay.least_batch - relay.honest,
                name=name,
                deliver=deliver,
            )
            for name, (pair, others) in held.items()
        ],
        effort=min(_CELLS / cells.cell_count, 1) / 40,
    )


def _relay_of(head_list: HeadList) -> ThroughRelay:
    if head_list.relay is None:
        raise BrokenInvariantError("a list without a relay has no relay clients")
    return head_list.relay


def _certified(relay: ThroughRelay, head_list: HeadList) -> float:
    """Return the certified ε of a batch of this size at δ, and at most that of a report alone."""
    part = relay.certify(head_list.cells, exact(relay.epsilon), exact(relay.delta))
    alone = exact(relay.report_epsilon)
    return float(alone if part.epsilon is None else min(part.epsilon, alone))
