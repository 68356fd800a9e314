"""Writes relayed_responses.json: how relay clients report, and what a shuffled batch promises them.

Run it only when the mechanism gets a new version:
``python test_vectors/make_relayed_responses.py``.
"""

import hashlib
from fractions import Fraction
from math import ceil, comb, floor, log
from typing import Any, cast

from make_device_reports import RECORDS, SENT, SystemBytes
from vector_file import write_vectors

from blender_dp.core.certificate.shuffle import SPARE, largest_report_epsilon, shuffled_delta
from blender_dp.core.channels.relayed import RelayMechanism
from blender_dp.core.channels.report_cost import cost_text, report_cost
from blender_dp.core.channels.subset_selection import SubsetChannel, SubsetSelectionMechanism
from blender_dp.core.exact.enclosure import exp_enclosure
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.core.parameters import exact
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.reports.report import report_document

UNITS = 1 << 200
"""δ is written as a number of 2^-200."""
EPSILONS = ("0.001", "0.5", "1.0", "2.345", "6.33", "8.0", "12.12", "30.0")
SIZES = (2, 3, 50, 3001, 100_000)
PROMISES = (
    *((50, 25_000, 1.0, 1e-5), (50, 125_000, 0.5, 1e-5), (50, 500_000, 4.0, 1e-5)),
    *((150, 125_000, 2.0, 1e-5), (500, 25_000, 0.5, 1e-5), (500, 500_000, 1.0, 1e-5)),
    *((81, 20_000, 4.0, 1e-6), (3000, 500_000, 4.0, 1e-5), (3000, 6_250_000, 1.0, 1e-7)),
    *((33, 2_000, 1.0, 1e-4), (33, 200, 0.1, 1e-3), (2, 6_250_000, 0.5, 1e-6)),
)
"""Cells, reports of the smallest batch, ε and δ; a fifth of each batch may be dishonest."""
SMALL = (
    *((2, 5, "3.0", "0.5"), (3, 12, "2.0", "0.1"), (4, 25, "4.0", "1.0"), (33, 16, "6.0", "2.0")),
    *((33, 40, "1.0", "0.5"), (33, 40, "2.0", "1.0")),
)
"""Cells, honest reports, ε0 and ε of batches that are small enough to count all outcomes."""
DISHONEST = 0.2


def channel(size: int, epsilon: str) -> dict[str, Any]:
    """Return one case: the threshold of a report."""
    made = SubsetChannel.naming_one(size, Fraction(epsilon))
    return {"size": size, "epsilon": epsilon, "threshold": str(made.threshold)}


def counted(made: SubsetChannel, honest: int, epsilon: Fraction) -> int:
    """Return the claim itself, summed over all outcomes, rounded down."""
    r, k, n = made.likelihood_ratio() - 1, made.size, honest
    growth = 1 / exp_enclosure(-epsilon, 256).ends()[0]  # e^ε, rounded up: the claim falls with it
    gamma = k * made.exact_pout
    total = Fraction(0)
    for m in range(n + 1):
        uniform = comb(n, m) * gamma**m * (1 - gamma) ** (n - m)
        inside = Fraction(0)
        for a in range(m + 1):
            for b in range(m - a + 1):
                excess = r * (a - growth * b) - (growth - 1) * m
                ways = comb(m, a) * comb(m - a, b) * (k - 2) ** (m - a - b)
                inside += ways * max(excess, Fraction(0))
        total += uniform * inside / Fraction(k) ** m
    return floor(total / n * UNITS)


def small_batch(cells: int, honest: int, epsilon_0: str, epsilon: str) -> dict[str, Any]:
    """Return one case: the claim, and the bound on it that every implementation computes."""
    made = SubsetChannel.naming_one(cells, Fraction(epsilon_0))
    bounds = {
        str(spare): str(ceil(shuffled_delta(made, honest, Fraction(epsilon), spare) * UNITS))
        for spare in (Fraction(1, 1000), Fraction(1, 10))
    }
    return {
        **{"cells": cells, "honest": honest, "report_epsilon": epsilon_0, "epsilon": epsilon},
        **{"counted": str(counted(made, honest, Fraction(epsilon))), "bounds": bounds},
    }


def promise(name: str, cells: int, relay: RelayMechanism) -> dict[str, Any]:
    """Return one case: what a list says of its relay clients, δ of it, and whether it is kept."""
    delta, epsilon = exact(relay.delta), exact(relay.epsilon)
    made = SubsetChannel.naming_one(cells, exact(relay.report_epsilon))
    spent = shuffled_delta(made, relay.honest, epsilon, delta * SPARE)
    return {
        **{"name": name, "cells": cells, "relay": relay_document(relay)},
        **{"honest": relay.honest, "delta": str(ceil(spent * UNITS)), "is_kept": spent <= delta},
    }


def promises(cells: int, batch: int, epsilon: float, delta: float) -> list[dict[str, Any]]:
    """Return a list that keeps its promise just so, and ones that do not."""
    honest = floor((1 - exact(DISHONEST)) * batch)
    chosen = largest_report_epsilon(
        cells, honest, epsilon=exact(epsilon), delta=exact(delta), cap=Fraction(12)
    )
    fewer = SubsetChannel.naming_one(cells, chosen).exact_pout * Fraction(98, 100)
    # pout = 1/(e^ε0 + K - 1): with 2 % less of it, e^ε0 is this
    twin = log(1 / fewer - (cells - 1))

    def listed(report_epsilon: float, **changed: float) -> RelayMechanism:
        numbers = {"epsilon": epsilon, "delta": delta, "dishonest": DISHONEST, **changed}
        return RelayMechanism(report_epsilon=report_epsilon, least_batch=batch, **numbers)

    return [
        promise("the largest ε0", cells, listed(float(chosen))),
        promise("a uniform share 2 % too small", cells, listed(twin)),
        promise("a δ 2 % too small", cells, listed(float(chosen), delta=delta * 0.98)),
        promise("more dishonest reports", cells, listed(float(chosen), dishonest=0.3)),
        promise("nobody dishonest", cells, listed(float(chosen), dishonest=0.0)),
    ]


def relay_document(relay: RelayMechanism) -> dict[str, Any]:
    """Return what a head list publishes of a relay."""
    document: dict[str, Any] = head_list_document(head_list(relay))["relay"]
    return document


def head_list(relay: RelayMechanism) -> HeadList:
    """Return a list with a relay."""
    local = SubsetSelectionMechanism(epsilon=1.0, query_share=0.25)
    listed = HeadList.of(RECORDS, mechanism=local, private=True)
    return HeadList(
        queries=listed.queries, urls=listed.urls, mechanism=local, private=True, relay=relay
    )


RELAY = RelayMechanism(
    epsilon=1.0, delta=1e-5, report_epsilon=3.5, least_batch=20_000, dishonest=DISHONEST
)


def report(number: int) -> dict[str, Any]:
    """Return what one relay client reports, and the bytes that it drew."""
    reported_on = head_list(RELAY).for_relay()
    query, url = SENT[number % len(SENT)]
    source = SystemBytes(hashlib.shake_256(f"relayed coins {number}".encode()).digest(4096))
    device = LocalRandomizer(
        reported_on, campaign_id=bytes(16), randomness=cast("Randomness", source)
    )
    drawn = report_document(reported_on, device.report(query, url))
    return {
        "query": query,
        "url": url,
        "uniform_bytes": source.uniform[: source.used].hex(),
        "items": drawn["items"],
    }


def main() -> None:
    """Write the file."""
    listed = head_list(RELAY)
    vectors = {
        "channels": [channel(size, epsilon) for size in SIZES for epsilon in EPSILONS],
        "small_batches": [small_batch(*case) for case in SMALL],
        "promises": [case for one in PROMISES for case in promises(*one)],
        "head_list": head_list_document(listed),
        "report_cost": cost_text(report_cost(listed.for_relay())),
        "reports": [report(number) for number in range(24)],
    }
    write_vectors("relayed_responses.json", vectors)


if __name__ == "__main__":
    main()
