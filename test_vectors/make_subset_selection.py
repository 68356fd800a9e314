"""Writes subset_selection.json: what every implementation of subset selection must agree on.

Run it only when the mechanism gets a new version: ``python test_vectors/make_subset_selection.py``.
"""

import hashlib
from fractions import Fraction
from typing import Any, cast

from vector_file import write_vectors

from blender_dp.core.channels.public_coin import asked_for_query
from blender_dp.core.channels.report import Report
from blender_dp.core.channels.subset_selection import SubsetChannel, SubsetSelectionMechanism
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.local_alg.sharp import choose_subset
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.reports.packed_items import ItemPacking
from blender_dp.wire.reports.report import report_document

EPSILONS = ("0.001", "0.1", "0.5", "1", "2", "4", "6", "10", "20", "50")
SIZES = (1, 2, 3, 4, 5, 16, 60, 120, 232, 1000, 3000)
REPORTS = (
    (2, "1"),
    (3, "0.5"),
    (9, "1"),
    (60, "1"),
    (60, "4"),
    (232, "2"),
    (232, "4"),
    (1000, "4"),
)


class GivenBytes:
    """Randomness that was drawn before."""

    def __init__(self, uniform: bytes) -> None:
        self.uniform, self.used = uniform, 0

    def bits(self, count: int) -> int:
        """Take whole bytes, highest first, and drop the lowest bits that are too many."""
        whole = (count + 7) // 8
        taken = self.uniform[self.used : self.used + whole]
        self.used += whole
        return int.from_bytes(taken) >> (8 * whole - count)

    def below(self, bound: int) -> int:
        """Take bits until they are below the bound."""
        while (draw := self.bits((bound - 1).bit_length())) >= bound:
            pass
        return draw


def channel(size: int, epsilon: str) -> dict[str, Any]:
    """Return the numbers of one channel; a threshold is a decimal string of up to 20 digits."""
    made = SubsetChannel.of(size, Fraction(epsilon))
    packing = ItemPacking.of(made)
    return {
        "size": size,
        "epsilon": epsilon,
        "subset_size": made.subset_size,
        "threshold": str(made.threshold),
        "bytes": packing.length,
        "form": "bitmap" if packing.is_bitmap else "list",
    }


def report(size: int, epsilon: str, item: int, number: int) -> dict[str, Any]:
    """Return what a client draws from given bytes, and the bytes it sends."""
    made = SubsetChannel.of(size, Fraction(epsilon))
    source = GivenBytes(
        hashlib.shake_256(f"{size} {epsilon} {item} {number}".encode()).digest(4096)
    )
    named = choose_subset(item, made, cast("Randomness", source))
    packing = ItemPacking.of(made)
    return {
        "size": size,
        "epsilon": epsilon,
        "item": item,
        "uniform_bytes": source.uniform[: source.used].hex(),
        "items": list(named),
        "packed": packing.pack(packing.table(named)).tobytes().hex(),
    }


def documents() -> dict[str, Any]:
    """Return a list as it is published and one report to each question."""
    head_list = HeadList.of(
        [Record(f"query {q}", f"{u}.example/é") for q in range(6) for u in range(1 + q % 2)],
        mechanism=SubsetSelectionMechanism(epsilon=1.0, query_share=0.25),
        private=True,
    )
    reports = [
        Report(question="record", items=(0, 3, 4, 15)),
        Report(question="query", items=(1, 6)),
    ]
    return {
        "head_list": head_list_document(head_list),
        "reports": [
            {"items": list(one.items), "document": report_document(head_list, one)}
            for one in reports
        ],
    }


def coins() -> list[dict[str, Any]]:
    """Return who is asked for the query only."""
    names = ("", "client 1", "client 2", "é★", "00000000-0000-4000-8000-000000000000")
    return [
        {"campaign_id": name, "query_share": share, "asked_for_query": asked_for_query(name, share)}
        for name in names
        for share in (0.0, 0.1, 0.25, 0.5, 0.75, 0.9)
    ]


def main() -> None:
    """Write the file."""
    vectors = {
        "mechanism": "subset-selection/1",
        "channels": [channel(size, epsilon) for size in SIZES for epsilon in EPSILONS],
        "draws": [
            report(size, epsilon, item, number)
            for size, epsilon in REPORTS
            for item in (0, size // 2, size - 1)
            for number in range(3)
        ],
        "public_coins": coins(),
        "documents": documents(),
    }
    write_vectors("subset_selection.json", vectors)


if __name__ == "__main__":
    main()
