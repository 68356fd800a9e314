"""Subset selection in numbers: how often a report names the truth, for device and server alike.

A client who holds one of N items names d of them: with probability pin its own and d - 1 others,
otherwise d others, all drawn uniformly; pin/(1 - pin) = e^ε d/(N - d). With d = 1 this is k-ary
randomised response. (Ye and Barg, "Optimal schemes for discrete distribution estimation under
locally differential privacy", 2018.)

As in ``local_alg``, the device compares 64 uniform bits with an integer
threshold, rounded down: less truth, more privacy. Everything else follows from that integer, so
that device and server, in any language, mean the same channel to the last bit.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from blender_dp.core.channels.local_alg import WORD
from blender_dp.core.channels.mechanism import Mechanism, SubsetSelectionMechanism
from blender_dp.core.channels.report import Question
from blender_dp.core.errors import ParameterError
from blender_dp.core.exact.enclosure import exp_enclosure, ln_enclosure
from blender_dp.core.head_list.cells import Cells, FloatArray, IntArray
from blender_dp.core.parameters import exact

_BITS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetChannel:
    """Subset selection among ``size`` items; make one with :meth:`of`."""

    size: int
    """N, the items that may be named."""
    subset_size: int
    """d, how many of them each report names."""
    threshold: int
    """Words of 64 bits below this name the truth."""

    @classmethod
    def of(cls, size: int, epsilon: Fraction) -> "SubsetChannel":
        """Choose d and compute its threshold.

        The candidates for d are 1 and the two integers around N/(e^ε+1), each with its own
        threshold; the one with the least ``(dW - T)((N-1-d)W + T)/(NT - dW)²`` is taken, T being
        the threshold and W = 2^64: the variance of a rare item's estimate, in exact fractions.
        A tie goes to the smaller d. An item alone is always named.
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

    @property
    def exact_pin(self) -> Fraction:
        """How often a report names the true item."""
        return Fraction(self.threshold, WORD)

    @property
    def exact_pout(self) -> Fraction:
        """How often it names any other given item."""
        if self.size == 1:
            return Fraction(0)
        return (self.subset_size - self.exact_pin) / (self.size - 1)

    @property
    def pin(self) -> float:
        """The same as ``exact_pin`` in a double."""
        return float(self.exact_pin)

    @property
    def pout(self) -> float:
        """The same as ``exact_pout`` in a double."""
        return float(self.exact_pout)

    @property
    def gain(self) -> float:
        """By how much the truth raises an item's probability: pin - pout."""
        return float(self.exact_pin - self.exact_pout)

    @property
    def fake_weight(self) -> float:
        """How many honest clients a report counts for that names its target whatever is true."""
        return (1 - self.pout) / self.gain if self.size > 1 else 1.0

    def estimate(self, counts: IntArray | FloatArray, reports: int) -> FloatArray:
        """Return the share of the clients who hold each item, when so many reports name it.

        Unbiased, and the estimates of all items add up to one, since every report names d.
        """
        return (counts / reports - self.pout) / self.gain

    def variance(self, p: FloatArray, reports: int) -> FloatArray:
        """Return the variance of the estimate of an item that a share ``p`` of them holds."""
        pin, pout = self.pin, self.pout
        spread: FloatArray = p * (pin * (1 - pin)) + (1 - p) * (pout * (1 - pout))
        return spread / (self.gain**2 * reports)

    def likelihoods(self) -> tuple[Fraction, Fraction]:
        """Return exactly how likely one given report is, by whether it names the true item."""
        others = self.size - 1
        named = self.exact_pin / math.comb(others, self.subset_size - 1)
        if self.size == 1:
            return named, Fraction(0)
        return named, (1 - self.exact_pin) / math.comb(others, self.subset_size)

    def likelihood_ratio(self) -> Fraction:
        """Return exactly by how much two inputs may differ in the probability of a report."""
        if self.size == 1:
            return Fraction(1)
        d = self.subset_size
        return Fraction(self.threshold * (self.size - d), (WORD - self.threshold) * d)

    def tight_epsilon(self) -> float:
        """Return ln of the likelihood ratio, rounded down: the ε of one report."""
        if self.size == 1:
            return 0.0
        return float(Fraction(ln_enclosure(self.likelihood_ratio(), _BITS).low, 1 << _BITS))

    def truthful_share(self) -> Fraction:
        """Return how often a report must have used its client's item.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetChannels:
    """Both questions that clients of one head list may be asked."""

    records: SubsetChannel
    """Among the K cells."""
    queries: SubsetChannel
    """Among the k queries, ⋆ one of them."""

    @classmethod
    def of(cls, cells: Cells, mechanism: Mechanism) -> "SubsetChannels":
        """Compute both channels of a head list with these cells."""
        if not isinstance(mechanism, SubsetSelectionMechanism):
            raise ParameterError("mechanism", SubsetSelectionMechanism.name, mechanism.name)
        epsilon = exact(mechanism.epsilon)
        return cls(
            records=SubsetChannel.of(cells.cell_count, epsilon),
            queries=SubsetChannel.of(cells.query_count, epsilon),
        )

    def asking(self, question: Question) -> SubsetChannel:
        """Return the channel of one question."""
        return self.records if question == "record" else self.queries


def _odds_of_a_lie(epsilon: Fraction) -> Fraction:
    """Return e^-ε, rounded up at 256 bits."""
    return Fraction(exp_enclosure(-epsilon, _BITS).high, 1 << _BITS)


def _threshold(odds: Fraction, d: int, size: int) -> int:
    """Return how many of 2^64 words name the truth: 2^64 pin, rounded down."""
    return math.floor(WORD * d / (d + (size - d) * odds))
