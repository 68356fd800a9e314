"""Known records: released with their values whatever these are; they stay while they may pass.

A threshold hides whether a record of few users exists. That a known record exists is public, so
it needs none. Its value gets the same noise as all others, which hides who has it.

Privacy: part of what the plan of discovery accounts for; see PRIVACY.md beside this file, "A known
list".
"""

from collections.abc import Sequence
from math import inf
from typing import Protocol

from blender_dp.core.curator.value_law import ValueLaw
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import Record
from blender_dp.core.head_list.known_list import KnownList
from blender_dp.core.population import SumsByName

MOST_BY_NOISE = 0.5
"""Most of the known records that stay, as a share, that may be expected to stay by noise alone."""


class Noise(Protocol):
    """Exact noise of a released value."""

    def draw(self, randomness: Randomness) -> int:
        """Draw it once."""
        ...


def release_known(
    sums: SumsByName, known: KnownList, noise: Noise, randomness: Randomness
) -> list[tuple[Record, int]]:
    """Return every known record with its noisy sum, also if nobody has it; in byte order.

    Args:
        sums: Sums of all records, as discovery uses them.
        known: The public list.
        noise: That of discovery, from the same plan.
        randomness: Source of the noise.
    """
    if not known:
        return []
    exact = sums.sums_of(known.records).tolist()
    return [
        (record, total + noise.draw(randomness))
        for record, total in zip(known.records, exact, strict=True)
    ]


def still_listed(released: Sequence[tuple[Record, int]], law: ValueLaw) -> list[tuple[Record, int]]:
    """Return the known records that stay: a public rule about released numbers.

    Their interval reaches the threshold of discovery. Of a long list that nobody uses, many would
    do so by noise alone. So at most half of what stays may be there by noise, or one record,
    as expected if nobody had any; what passes the threshold itself always stays.
    """
    may_pass = [(record, value) for record, value in released if law.may_pass(value)]
    floor = _least_value([value for _, value in may_pass], len(released), law)
    return [(record, value) for record, value in may_pass if value >= floor or law.passes(value)]


def _least_value(values: Sequence[int], known: int, law: ValueLaw) -> float:
    """Return the least value with which records of a list of ``known`` records stay."""
    floor = inf
    for number, value in enumerate(sorted(values, reverse=True), start=1):
        if known * law.by_noise(value) <= max(1.0, MOST_BY_NOISE * number):
            floor = value
    return floor
