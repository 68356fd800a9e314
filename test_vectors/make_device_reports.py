"""Writes device_reports.json: from a list, a record and uniform bytes to the report of a device.

Run it only when a mechanism gets a new version: ``python test_vectors/make_device_reports.py``.
"""

import base64
import hashlib
from fractions import Fraction
from typing import Any, cast

from make_subset_selection import GivenBytes
from vector_file import write_vectors

from blender_dp.core.channels.local_alg import LocalAlgChannel, LocalAlgMechanism
from blender_dp.core.channels.mechanism import Mechanism
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.exact.enclosure import exp_enclosure
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.reports.report import report_document

EPSILONS = (
    *("1/1000000", "1/3", "17/20", "1", "3/5", "4", "34/7", "8", "255", "256", "257"),
    *("1/" + "9" * 100, "123456789/1000"),
)
RECORDS = (
    *(Record(f"query {q}", f"{u}.example/é") for q in range(9) for u in range(1 + q % 4)),
    *(Record("★", "*"), Record("\U0001f600", "\uffee"), Record("\uffee", "\U0001f600")),
    *(Record('\0\n"\\\x7f\u2028', "'"), Record("", ""), Record("query 3", "")),
)
MECHANISMS: tuple[Mechanism, ...] = (
    LocalAlgMechanism(epsilon=4.0, delta=1e-5, query_budget_fraction=0.85, records_per_client=1),
    LocalAlgMechanism(epsilon=1.7, delta=0.3, query_budget_fraction=0.1, records_per_client=3),
    SubsetSelectionMechanism(epsilon=1.0, query_share=0.25),
    SubsetSelectionMechanism(epsilon=4.0, query_share=0.0),
    SubsetSelectionMechanism(epsilon=0.5, query_share=0.9),
)
SENT: tuple[tuple[str | None, str | None], ...] = (
    ("query 3", "2.example/é"),
    ("query 3", "unlisted.example"),
    ("★", "*"),
    ("unlisted", "0.example/é"),
    (None, None),
    ("", ""),
)


class SystemBytes(GivenBytes):
    """Bytes that a device may take for its system's own, so that a list for people takes them."""

    is_private = True


def head_list(mechanism: Mechanism) -> HeadList:
    """Return the list that everything here is reported against."""
    return HeadList.of(RECORDS, mechanism=mechanism, private=True)


def report(which: int, number: int) -> dict[str, Any]:
    """Return what one device sends, and the bytes that it drew."""
    reported_on = head_list(MECHANISMS[which])
    query, url = SENT[number % len(SENT)]
    report_id = hashlib.shake_256(f"id {which} {number}".encode()).digest(16)
    source = SystemBytes(hashlib.shake_256(f"coins {which} {number}".encode()).digest(4096))
    device = LocalRandomizer(
        reported_on, campaign_id=report_id, randomness=cast("Randomness", source)
    )
    drawn = report_document(reported_on, device.report(query, url))
    name = base64.urlsafe_b64encode(report_id).rstrip(b"=").decode()
    return {
        "head_list": which,
        "report_id": report_id.hex(),
        "query": query,
        "url": url,
        "uniform_bytes": source.uniform[: source.used].hex(),
        "document": {**drawn, "report_id": name},
    }


def thresholds(mechanism: Mechanism) -> dict[str, Any]:
    """Return the integers that one device compares its coins with."""
    made = LocalAlgChannel.of(head_list(mechanism).cells, mechanism)
    return {
        "query_threshold": str(made.query_threshold),
        "url_thresholds": [str(threshold) for threshold in made.url_thresholds],
    }


def odds(epsilon: str) -> dict[str, str]:
    """Return e^-ε in units of 2^-256, rounded up as devices do."""
    return {"epsilon": epsilon, "odds": str(exp_enclosure(-Fraction(epsilon), 256).high)}


def main() -> None:
    """Write the file."""
    vectors = {
        "odds_of_a_lie": [odds(epsilon) for epsilon in EPSILONS],
        "head_lists": [head_list_document(head_list(mechanism)) for mechanism in MECHANISMS],
        "local_alg": [thresholds(mechanism) for mechanism in MECHANISMS[:2]],
        "reports": [
            report(which, number) for which in range(len(MECHANISMS)) for number in range(24)
        ],
    }
    write_vectors("device_reports.json", vectors)


if __name__ == "__main__":
    main()
