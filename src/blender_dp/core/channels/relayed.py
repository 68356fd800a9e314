"""Relay clients: k-ary randomised response behind a relay that shuffles, and its privacy cost.

A relay client names one cell of the list. Its own cell is e^ε0 times as likely as any other cell:
subset selection with d = 1. The collector receives the reports in one shuffled batch without
senders. The proof of what this promises is in :mod:`blender_dp.core.certificate.shuffle`.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf
from typing import ClassVar

from blender_dp.core.certificate.certificate import Part, least_epsilon
from blender_dp.core.certificate.shuffle import SPARE, largest_report_epsilon, shuffled_delta
from blender_dp.core.channels.report import Layout, Question
from blender_dp.core.channels.subset_selection import SubsetChannel
from blender_dp.core.errors import ParameterError, is_number
from blender_dp.core.exact.enclosure import ln_enclosure
from blender_dp.core.head_list.cells import Cells
from blender_dp.core.parameters import Parameters, Preset, exact

_BITS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayRules:
    """How many clients use a relay, and the limits within which their reports are precise."""

    share: float = 0.0
    """The share of the clients who use the relay."""
    epsilon_cap: float = 8.0
    """The most that a report may reveal to relay and collector together."""
    dishonest: float = 0.2
    """The share of a batch that may come from dishonest clients, who hide nobody."""

    def __post_init__(self) -> None:
        # Each range is written as "not inside", so that NaN fails too.
        if not (is_number(self.share) and 0 <= self.share <= 1):
            raise ParameterError("relay", "a share from 0 to 1", self.share)
        if not 0 < self.epsilon_cap < inf:
            raise ParameterError("relay_cap", "a finite number above 0", self.epsilon_cap)
        if not 0 <= self.dishonest < 1:
            raise ParameterError("relay_dishonest", "at least 0 and below 1", self.dishonest)

    def honest(self, batch: int) -> int:
        """Return the number of honest reports in a batch, at least."""
        return _honest(batch, exact(self.dishonest))


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayMechanism:
    """Randomised response of relay clients, with the promise that holds in a large batch."""

    name: ClassVar[str] = "relayed-response"
    version: ClassVar[int] = 1
    title: ClassVar[str] = "randomised response through a relay"
    preset: ClassVar[Preset] = "sharp"
    layout: ClassVar[Layout] = "items"
    query_share: ClassVar[float] = 0.0
    records_per_client: ClassVar[int] = 1

    epsilon: float
    """ε towards everybody who sees the batch."""
    delta: float
    """δ, likewise."""
    report_epsilon: float
    """ε0 of one report: what is left if relay and collector work together."""
    least_batch: int
    """n_min: the relay passes on no smaller batch."""
    dishonest: float
    """The share of a batch that may be dishonest."""

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < inf:
            raise ParameterError("epsilon", "a finite number above 0", self.epsilon)
        if not 0 < self.delta < 1:
            raise ParameterError("delta", "strictly between 0 and 1", self.delta)
        if not 0 < self.report_epsilon < inf:
            raise ParameterError("report_epsilon", "a finite number above 0", self.report_epsilon)
        RelayRules(dishonest=self.dishonest)  # its range is checked there
        if self.honest < 1:
            raise ParameterError("least_batch", "large enough for an honest report", self.honest)

    @classmethod
    def of(
        cls, cells: Cells, parameters: Parameters, *, clients: int, rules: RelayRules
    ) -> "RelayMechanism":
        """Choose the largest ε0 with which a batch of all these clients keeps the promise."""
        honest = rules.honest(clients)
        if honest < 1:
            raise ParameterError("relay", "a share with at least one honest client", clients)
        report_epsilon = largest_report_epsilon(
            cells.cell_count,
            honest,
            epsilon=exact(parameters.epsilon),
            delta=exact(parameters.delta),
            cap=exact(rules.epsilon_cap),
        )
        return cls(
            epsilon=parameters.epsilon,
            delta=parameters.delta,
            report_epsilon=float(report_epsilon),
            least_batch=clients,
            dishonest=rules.dishonest,
        )

    @property
    def honest(self) -> int:
        """The number of honest reports in a batch, at least."""
        return _honest(self.least_batch, exact(self.dishonest))

    def channel(self, cells: Cells) -> SubsetChannel:
        """Return the channel of a report."""
        return SubsetChannel.naming_one(cells.cell_count, exact(self.report_epsilon))

    def channels(self, cells: Cells) -> dict[Question, SubsetChannel]:
        """Return the channel of the only question: every relay client reports on its record."""
        return {"record": self.channel(cells)}

    def estimators(self, cells: Cells) -> dict[Question, SubsetChannel]:
        """Return the channel itself, which estimates too."""
        return self.channels(cells)

    def likelihood_ratio(self, cells: Cells) -> Fraction:
        """Return exactly by how much two inputs may differ in the probability of a report."""
        return self.channel(cells).likelihood_ratio()

    def keeps(self, cells: Cells, epsilon: Fraction, delta: Fraction) -> bool:
        """Tell whether a report in a batch keeps (ε, δ): one sum, fast enough for every device."""
        channel = self.channel(cells)
        return shuffled_delta(channel, self.honest, epsilon, delta * SPARE) <= delta

    def certify(self, cells: Cells, epsilon: Fraction, delta: Fraction) -> Part:
        """Compute what a report in a batch spends, against a promise of (ε, δ)."""
        channel = self.channel(cells)

        def spent(at: Fraction) -> Fraction:
            return shuffled_delta(channel, self.honest, at, delta * SPARE)

        return Part(
            release="report in a batch",
            method="An upper bound of the divergence of two shuffled batches that differ in the "
            "record of one honest client, whatever the records of all others.",
            promised_epsilon=epsilon,
            promised_delta=delta,
            epsilon=least_epsilon(spent, delta, epsilon),
            delta=spent(epsilon),
            is_tight=False,
            constants={**self._constants(channel), "honest": self.honest},
        )

    def certify_report(self, cells: Cells) -> Part:
        """Compute what a report spends by itself, against ε0."""
        channel, epsilon = self.channel(cells), exact(self.report_epsilon)
        ratio = channel.likelihood_ratio()
        return Part(
            release="report",
            method="Every report, by whether it names the truth: the ratio of its two "
            "probabilities is a fraction, and ε its logarithm.",
            promised_epsilon=epsilon,
            promised_delta=Fraction(0),
            epsilon=Fraction(0) if ratio == 1 else ln_enclosure(ratio, _BITS).ends()[1],
            delta=channel.excess(epsilon),
            is_tight=True,
            constants=self._constants(channel),
        )

    def _constants(self, channel: SubsetChannel) -> dict[str, int]:
        return {"record_items": channel.size, "record_threshold": channel.threshold}


def _honest(batch: int, dishonest: Fraction) -> int:
    """Return the honest reports of a batch, rounded down."""
    return floor((1 - dishonest) * batch)
