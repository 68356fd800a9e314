"""Subset selection: its description in a head list, its channel, its privacy cost.

A client who holds one of N items names d of them: with probability pin its own and d - 1 others,
otherwise d others, all drawn uniformly; pin/(1 - pin) = e^ε d/(N - d). With d = 1 this is k-ary
randomised response. (Ye and Barg, "Optimal schemes for discrete distribution estimation under
locally differential privacy", 2018.)

As in ``local_alg``, the device compares 64 uniform bits with an integer
threshold, rounded down: less truth, more privacy. Everything else follows from that integer, so
that device and server, in any language, use exactly the same channel.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from blender_dp.core.certificate.certificate import Part
from blender_dp.core.channels.local_alg import WORD
from blender_dp.core.channels.report import Layout, Question
from blender_dp.core.errors import ParameterError
from blender_dp.core.exact.enclosure import exp_enclosure, ln_enclosure
from blender_dp.core.head_list.cells import Cells, FloatArray, IntArray
from blender_dp.core.parameters import Preset, exact

_BITS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetSelectionMechanism:
    """Subset selection: a client names d cells, its own more often than any other.

    A public coin asks some clients for their query only, among the fewer queries of the list.
    """

    name: ClassVar[str] = "subset-selection"
    version: ClassVar[int] = 1
    title: ClassVar[str] = "subset selection"
    preset: ClassVar[Preset] = "sharp"
    layout: ClassVar[Layout] = "items"
    records_per_client: ClassVar[int] = 1
    delta: ClassVar[float] = 0.0

    epsilon: float
    query_share: float
    """φ, the share of clients that report only the query."""

    def __post_init__(self) -> None:
        # Each range is written as "not inside", so that NaN fails too.
        if not 0 < self.epsilon < math.inf:
            raise ParameterError("epsilon", "a finite number above 0", self.epsilon)
        if not 0 <= self.query_share < 1:
            raise ParameterError(
                "query_share",
                "at least 0 and below 1 (without reports on records nothing would check what the "
                "opt-in users say of them)",
                self.query_share,
            )

    def channels(self, cells: Cells) -> dict[Question, "SubsetChannel"]:
        """Return the channel of every question that a list with these cells may ask."""
        epsilon = exact(self.epsilon)
        return {
            "record": SubsetChannel.of(cells.cell_count, epsilon),
            "query": SubsetChannel.of(cells.query_count, epsilon),
        }

    def estimators(self, cells: Cells) -> dict[Question, "SubsetChannel"]:
        """Return the channels themselves: each estimates the answers to its question."""
        return self.channels(cells)

    def likelihood_ratio(self, cells: Cells) -> Fraction:
        """Return the largest ratio of a report's probabilities between two inputs, exactly."""
        return max(channel.likelihood_ratio() for channel in self.channels(cells).values())

    def certify(self, cells: Cells, epsilon: Fraction, delta: Fraction) -> Part:
        """Compute the cost of the one report of a client, compared with a promise of (ε, δ)."""
        asked, ratio = self.channels(cells), self.likelihood_ratio(cells)
        return Part(
            release="report",
            method="Every report of either question, by whether it names the truth: the ratio of "
            "its two probabilities is a fraction, and ε its logarithm.",
            promised_epsilon=epsilon,
            promised_delta=delta,
            epsilon=Fraction(0) if ratio == 1 else ln_enclosure(ratio, _BITS).ends()[1],
            delta=max(channel.excess(epsilon) for channel in asked.values()),
            is_tight=True,
            constants={
                f"{question}_{name}": value
                for question, channel in asked.items()
                for name, value in (
                    ("items", channel.size),
                    ("named", channel.subset_size),
                    ("threshold", channel.threshold),
                )
            },
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetChannel:
    """Subset selection among ``size`` items; make one with :meth:`of`."""

    size: int
    """N, the number of items that may be named."""
    subset_size: int
    """d, the number of items that each report names."""
    threshold: int
    """Words of 64 bits below this name the truth."""

    @classmethod
    def of(cls, size: int, epsilon: Fraction) -> "SubsetChannel":
        """Choose d and compute its threshold.

        The candidates for d are 1 and the two integers around N/(e^ε+1), each with its own
        threshold; the one with the least ``(dW - T)((N-1-d)W + T)/(NT - dW)²`` is taken, T being
        the threshold and W = 2^64: the variance of a rare item's estimate, in exact fractions.
        A tie goes to the smaller d. A single item is always named.
        """
        if size == 1:
            return cls(size=1, subset_size=1, threshold=WORD)
        odds = _odds_of_a_lie(epsilon)
        below = math.floor(size * odds / (1 + odds))
        usable = [
            channel
            for d in sorted({1, max(below, 1), min(below + 1, size - 1)})
            for channel in [cls(size=size, subset_size=d, threshold=_threshold(odds, d, size))]
            if channel.threshold * size > d * WORD
        ]
        if not usable:
            raise ParameterError(
                "epsilon",
                "large enough for thresholds of 64 bits: the truth must be named more often than "
                "any other item",
                str(epsilon),
            )
        return min(usable, key=SubsetChannel._rare_variance)

    @classmethod
    def naming_one(cls, size: int, epsilon: Fraction) -> "SubsetChannel":
        """Compute the threshold of k-ary randomised response, d = 1."""
        if size == 1:
            return cls(size=1, subset_size=1, threshold=WORD)
        threshold = _threshold(_odds_of_a_lie(epsilon), 1, size)
        return cls(size=size, subset_size=1, threshold=threshold)

    @property
    def exact_pin(self) -> Fraction:
        """Probability that a report names the true item."""
        return Fraction(self.threshold, WORD)

    @property
    def exact_pout(self) -> Fraction:
        """Probability that it names any other given item."""
        if self.size == 1:
            return Fraction(0)
        return (self.subset_size - self.exact_pin) / (self.size - 1)

    @property
    def pin(self) -> float:
        """``exact_pin`` as a float."""
        return float(self.exact_pin)

    @property
    def pout(self) -> float:
        """``exact_pout`` as a float."""
        return float(self.exact_pout)

    @property
    def gain(self) -> float:
        """Increase of an item's probability if it is true: pin - pout."""
        return float(self.exact_pin - self.exact_pout)

    @property
    def fake_weight(self) -> float:
        """Number of honest clients that a report which always names its target counts for."""
        return (1 - self.pout) / self.gain if self.size > 1 else 1.0

    def estimate(self, counts: IntArray | FloatArray, reports: int) -> FloatArray:
        """Return the estimated share of clients with each item, given the counts of reports.

        Unbiased, and the estimates of all items add up to one, since every report names d.
        """
        return (counts / reports - self.pout) / self.gain

    def variance(self, p: FloatArray, reports: int) -> FloatArray:
        """Return the variance of the estimate of an item that a share ``p`` of clients has."""
        pin, pout = self.pin, self.pout
        spread: FloatArray = p * (pin * (1 - pin)) + (1 - p) * (pout * (1 - pout))
        return spread / (self.gain**2 * reports)

    def likelihoods(self) -> tuple[Fraction, Fraction]:
        """Return the exact probabilities of a report with the true item, and of one without it."""
        others = self.size - 1
        named = self.exact_pin / math.comb(others, self.subset_size - 1)
        if self.size == 1:
            return named, Fraction(0)
        return named, (1 - self.exact_pin) / math.comb(others, self.subset_size)

    def likelihood_ratio(self) -> Fraction:
        """Return the largest ratio of a report's probabilities between two inputs, exactly."""
        if self.size == 1:
            return Fraction(1)
        d = self.subset_size
        return Fraction(self.threshold * (self.size - d), (WORD - self.threshold) * d)

    def excess(self, epsilon: Fraction) -> Fraction:
        """Return the hockey-stick divergence of two inputs at ε, rounded up.

        Reports that name one input and not the other are all that differ. They have probability pin
        times the share of (d-1)-subsets that leave the other input out.
        """
        ratio = self.likelihood_ratio()
        if self.size == 1 or ratio <= 1:
            return Fraction(0)
        telling = self.exact_pin * Fraction(self.size - self.subset_size, self.size - 1)
        at_most = 1 / exp_enclosure(-epsilon, _BITS).ends()[1]  # e^ε, rounded down
        return max(telling * (1 - at_most / ratio), Fraction(0))

    def tight_epsilon(self) -> float:
        """Return ln of the likelihood ratio, rounded down: the ε of one report."""
        if self.size == 1:
            return 0.0
        return float(Fraction(ln_enclosure(self.likelihood_ratio(), _BITS).low, 1 << _BITS))

    def truthful_share(self) -> Fraction:
        """Return the probability that a report uses its client's item.

        A report is the truth and d - 1 uniform others with this probability, and otherwise a
        uniform d-subset of all items that has nothing to do with the client: the same law.
        """
        if self.size == 1:
            return Fraction(1)
        by_chance = Fraction(self.subset_size, self.size)
        return (self.exact_pin - by_chance) / (1 - by_chance)

    def _rare_variance(self) -> Fraction:
        n, d, t = self.size, self.subset_size, self.threshold
        return Fraction((d * WORD - t) * ((n - 1 - d) * WORD + t), (n * t - d * WORD) ** 2)


def _odds_of_a_lie(epsilon: Fraction) -> Fraction:
    """Return e^-ε, rounded up at 256 bits."""
    return Fraction(exp_enclosure(-epsilon, _BITS).high, 1 << _BITS)


def _threshold(odds: Fraction, d: int, size: int) -> int:
    """Return how many of 2^64 words name the truth: 2^64 pin, rounded down."""
    return math.floor(WORD * d / (d + (size - d) * odds))
