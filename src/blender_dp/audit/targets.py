"""Targets of an audit: parts of the running code, each with its promise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from blender_dp.audit.attacks import Attack, DeviceReports, OneCellReports, WatchedItems
from blender_dp.core.channels.local_alg import LocalAlgChannel, LocalAlgMechanism
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.errors import ParameterError
from blender_dp.core.head_list.head_list import HeadList, Record

_OWN_URLS = (12, 1)
"""Listed URLs per query of the default list. With few cells, the true loss of LocalAlg is close to
its promise."""

_Pairs = Mapping[str, tuple[int, int]]
"""Pairs of cells that a device may hold, by name."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target:
    """One part of the running code."""

    name: str
    epsilon: float
    delta: float
    """δ of the promise."""
    attacks: Sequence[Attack]
    """Pairs of neighbours to try; the one that shows the largest ε is used."""
    effort: float
    """Share of the draws; slow targets get fewer."""


def own_list(mechanism: Mechanism, *, private: bool) -> HeadList:
    """Return a small head list, attacked if none is given."""
    records = [
        Record(f"query {q}", f"url {u:02d}")
        for q, urls in enumerate(_OWN_URLS)
        for u in range(urls)
    ]
    return HeadList.of(records, mechanism=mechanism, private=private)


def device_targets(head_list: HeadList, alone: tuple[float, float] | None = None) -> list[Target]:
    """Return the targets of devices that report against a list: all at once, and one by one.

    The inputs are a record of the longest query, another one of the same query, and no record.

    Args:
        head_list: The list.
        alone: ε and δ of one report, where the list states a promise that needs others.
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
    one = [
        DeviceReports(head_list=head_list, cells=pair, name=name) for name, pair in pairs.items()
    ]
    reports = mechanism.records_per_client
    epsilon, delta = alone or (mechanism.epsilon / reports, mechanism.delta / reports)
    promise = {"epsilon": epsilon, "delta": delta}
    targets = [Target(name=f"{mechanism.name}, one device", attacks=one, effort=1 / 160, **promise)]
    attack = _MANY_AT_ONCE.get(mechanism.name, _watched_item_attacks)
    many = attack(head_list, pairs, longest)
    name = f"{mechanism.name}, many at once"
    targets.insert(0, Target(name=name, attacks=many, effort=1.0, **promise))
    return targets


def _one_cell_attacks(head_list: HeadList, pairs: _Pairs, _: int) -> list[Attack]:
    channel = LocalAlgChannel.of(head_list.cells, head_list.mechanism)
    return [OneCellReports(channel=channel, cells=pair, name=name) for name, pair in pairs.items()]


def _watched_item_attacks(head_list: HeadList, pairs: _Pairs, longest: int) -> list[Attack]:
    cells = head_list.cells
    items = {
        "record": pairs["a listed record or none"],
        "query": (longest, cells.query_count - 1),
    }
    return [
        WatchedItems(channel=channel, items=items[asked], name=f"a listed {asked} or none")
        for asked, channel in head_list.mechanism.channels(cells).items()
    ]


_MANY_AT_ONCE: dict[str, Callable[[HeadList, _Pairs, int], list[Attack]]] = {
    LocalAlgMechanism.name: _one_cell_attacks,
}
"""Attacks on many devices at once that see all of a report, by the name of the mechanism."""
