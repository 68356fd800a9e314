"""Targets of an audit: parts of the running code, each with its promise."""

from collections.abc import Sequence
from dataclasses import dataclass

from blender_dp.audit.attacks import Attack, DeviceReports, OneCellReports, SubsetReports
from blender_dp.core.channels.local_alg import LocalAlgChannel, LocalAlgMechanism
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.channels.subset_selection import SubsetChannels
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.head_list import HeadList, Record

_OWN_URLS = (12, 1)
"""Listed URLs per query of the default list: few cells, for one of which LocalAlg spends almost all
that it promises."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target:
    """One part of the running code."""

    name: str
    epsilon: float
    delta: float
    """The promise."""
    attacks: Sequence[Attack]
    """The neighbours to try; the most telling is pursued."""
    effort: float
    """The share of the draws it gets: what is slow gets fewer."""


def own_list(mechanism: Mechanism, *, private: bool) -> HeadList:
    """Return a small head list to attack where none is given."""
    records = [
        Record(f"query {q}", f"url {u:02d}")
        for q, urls in enumerate(_OWN_URLS)
        for u in range(urls)
    ]
    return HeadList.of(records, mechanism=mechanism, private=private)


def device_targets(head_list: HeadList) -> list[Target]:
    """Return the devices that report against a list: all at once, and one by one.

    The inputs are a record of the longest query, another of the same query, and none.
    """
    cells, mechanism = head_list.cells, head_list.mechanism
    if not head_list.queries:
        raise ParameterError("head_list", "a list with at least one query", "an empty list")
    longest = int(cells.urls_per_query[:-1].argmax())
    record = int(cells.first_cell[longest])
    pairs = {
        "a listed record or none": (record, cells.other),
        "two cells of one query": (record, int(cells.star_of_query[longest])),
    }
    delta = 0.0
    if isinstance(mechanism, LocalAlgMechanism):
        delta = mechanism.delta / mechanism.records_per_client
        channel = LocalAlgChannel.of(cells, mechanism)
        many: list[Attack] = [
            OneCellReports(channel=channel, cells=pair, name=name) for name, pair in pairs.items()
        ]
    else:
        channels = SubsetChannels.of(cells, mechanism)
        many = [
            SubsetReports(channel=channels.records, items=pairs["a listed record or none"],
                          name="a listed record or none"),
            SubsetReports(channel=channels.queries, items=(longest, cells.query_count - 1),
                          name="a listed query or none"),
        ]  # fmt: skip
    one = [
        DeviceReports(head_list=head_list, cells=pair, name=name) for name, pair in pairs.items()
    ]
    promise = {"epsilon": mechanism.epsilon / mechanism.records_per_client, "delta": delta}
    return [
        Target(name=f"{mechanism.name}, many at once", attacks=many, effort=1.0, **promise),
        Target(name=f"{mechanism.name}, one device", attacks=one, effort=1 / 160, **promise),
    ]
