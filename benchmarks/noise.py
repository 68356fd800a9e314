"""Speed of exact noise: survivors by count class, one draw per key, and single draws."""

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from blender_dp.core.exact.binomial import binomial
from blender_dp.core.exact.discrete_laplace import DiscreteLaplace
from blender_dp.core.exact.enclosure import Enclosure
from blender_dp.core.exact.randomness import Randomness

KEYS, CLASSES, LEAST = 10_000_000, 5_588, 7
SCALE = Fraction(1, 2)
SAMPLE = 200_000


def table() -> str:
    """Return the comparison as Markdown."""
    grouped = _seconds(_survivors)
    peer = _seconds(_opendp) * KEYS / SAMPLE
    noise, randomness = DiscreteLaplace(SCALE), Randomness.secure()
    single = _seconds(lambda: [noise.draw(randomness) for _ in range(10_000)]) / 10_000
    return "\n".join(
        [
            f"## Exact noise for {KEYS:,} keys in {CLASSES:,} count classes, scale 1/2",
            "",
            "| what | CPU s | ratio |",
            "|---|---|---|",
            f"| survivors drawn by count class | {grouped:.2f} | 1 |",
            f"| OpenDP, a draw for every key (extrapolated from {SAMPLE:,}) "
            f"| {peer:.0f} | {peer / grouped:,.0f} |",
            "",
            f"One exact discrete Laplace draw, as for each released count: {single * 1e6:.1f} µs.",
        ]
    )


def _survivors() -> None:
    noise, randomness = DiscreteLaplace(SCALE), Randomness.secure()
    sizes = (KEYS / np.arange(1, CLASSES + 1) ** 2 / 1.6449).astype(int) + 1
    for count, size in enumerate(sizes.tolist(), start=1):

        def passes(bits: int, count: int = count) -> Enclosure:
            return noise.tail(LEAST - count, bits)

        binomial(size, passes, randomness)


def _opendp() -> None:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=dp.i32)), dp.l1_distance(T=dp.i32)
    dp.m.make_laplace(*space, scale=float(SCALE))([0] * SAMPLE)


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
