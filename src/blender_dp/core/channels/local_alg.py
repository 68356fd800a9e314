"""LocalAlg (Fig. 6): its description in a head list, its channel, its privacy cost.

Device and server use one formula for the probability of a true answer. The device compares 64
uniform bits with an integer threshold. The server uses the same thresholds, so that its t is
exactly the device's t. Thresholds are rounded down: less truth, more privacy.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, NoReturn

import numpy as np

from blender_dp.core.certificate.certificate import Part, least_epsilon
from blender_dp.core.channels.report import Layout, Question
from blender_dp.core.errors import ParameterError
from blender_dp.core.exact.enclosure import exp_enclosure
from blender_dp.core.exact.randomness import WordArray
from blender_dp.core.head_list.cells import Cells, FloatArray
from blender_dp.core.parameters import Parameters, Preset, exact

if TYPE_CHECKING:
    from blender_dp.core.channels.mechanism import Mechanism

WORD = 1 << 64
_BITS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAlgMechanism:
    """LocalAlg of the paper (Fig. 6): randomised response on the query, then on the URL."""

    name: ClassVar[str] = "local-alg"
    version: ClassVar[int] = 1
    title: ClassVar[str] = "LocalAlg"
    preset: ClassVar[Preset] = "paper"
    layout: ClassVar[Layout] = "cell"
    query_share: ClassVar[float] = 0.0

    epsilon: float
    delta: float
    query_budget_fraction: float
    records_per_client: int

    def __post_init__(self) -> None:
        Parameters(
            epsilon=self.epsilon,
            delta=self.delta,
            query_budget_fraction=self.query_budget_fraction,
            records_per_client=self.records_per_client,
            preset="paper",
        )  # Parameters has the rules

    @classmethod
    def of(cls, parameters: Parameters) -> "LocalAlgMechanism":
        """Return the mechanism that a device needs, from ``parameters``."""
        return cls(
            epsilon=parameters.epsilon,
            delta=parameters.delta,
            query_budget_fraction=parameters.query_budget_fraction,
            records_per_client=parameters.records_per_client,
        )

    def channels(self, cells: Cells) -> dict[Question, "LocalAlgChannel"]:
        """Return the channel of the only question: every client reports on its record."""
        return {"record": LocalAlgChannel.of(cells, self)}

    def estimators(self, _: Cells) -> NoReturn:
        """Refuse: the estimates are those of Fig. 5, a step of the preset ``paper``."""
        raise ParameterError("mechanism", f"read by the steps of {self.preset}", self.name)

    def likelihood_ratio(self, cells: Cells) -> Fraction:
        """Return the largest ratio of a report's probabilities between two inputs, exactly."""
        return LocalAlgChannel.of(cells, self).likelihood_ratio()

    def certify(self, cells: Cells, epsilon: Fraction, delta: Fraction) -> Part:
        """Compute the cost of all reports of a client, compared with a promise of (ε, δ)."""
        channel = LocalAlgChannel.of(cells, self)
        reports = self.records_per_client

        def spent(together: Fraction) -> Fraction:
            return reports * channel.excess(together / reports)

        sizes = cells.urls_per_query.tolist()
        threshold_of = dict(zip(sizes, channel.url_thresholds, strict=True))
        return Part(
            release="report" if reports == 1 else f"{reports} reports together",
            method="Every column of the channel, by what is true: the cell itself, another of its "
            "query, a cell of another query; the divergence of the two inputs that it hides least.",
            promised_epsilon=epsilon,
            promised_delta=delta,
            epsilon=least_epsilon(spent, delta, epsilon),
            delta=spent(epsilon),
            is_tight=reports == 1,
            constants={
                "reports": reports,
                "queries": cells.query_count,
                "query_threshold": channel.query_threshold,
                **{f"url_threshold_of_{size}": threshold_of[size] for size in sorted(set(sizes))},
            },
        )


def truth_threshold(epsilon: Fraction, delta: Fraction, k: int) -> int:
    """Return how many of 2^64 equally likely words give the true item among ``k``.

    Paper: ``t`` and ``t_q`` of LocalAlg, Fig. 6 (``fig:local-alg``) lines 4 and 6::

        t = (exp(ε) + (δ/2)(k - 1)) / (exp(ε) + k - 1)

    This makes the appendix's ``eq:dp-singleton`` an equality: one draw is (ε, δ/2)-private.
    With one item the answer is always true (reading R2).

    >>> truth_threshold(Fraction(10**6), Fraction(0), k=2) == WORD - 1
    True
    """
    if k == 1:
        return WORD
    # Divided by exp(ε), with lies = (k-1)e^-ε; t falls with lies, so their upper end rounds down.
    lies = (k - 1) * Fraction(exp_enclosure(-epsilon, _BITS).high, 1 << _BITS)
    return math.floor(WORD * (1 + delta / 2 * lies) / (1 + lies))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LocalAlgChannel:
    """LocalAlg on one head list, in numbers (Fig. 6 lines 2-6)."""

    cells: Cells
    query_threshold: int
    """Words below this keep the query."""
    url_thresholds: tuple[int, ...]
    """Words below this keep the URL, for every query."""
    subset_size: ClassVar[int] = 1
    """A report names one cell."""

    @classmethod
    def of(cls, cells: Cells, mechanism: "Mechanism") -> "LocalAlgChannel":
        """Compute every threshold of a head list with these cells."""
        if not isinstance(mechanism, LocalAlgMechanism):
            raise ParameterError("mechanism", LocalAlgMechanism.name, mechanism.name)
        f_c = exact(mechanism.query_budget_fraction)
        epsilon = exact(mechanism.epsilon) / mechanism.records_per_client  # line 2
        delta = exact(mechanism.delta) / mechanism.records_per_client
        url_share = 1 - f_c  # line 3
        url_threshold = {
            k_q: truth_threshold(url_share * epsilon, url_share * delta, k_q)  # line 6
            for k_q in set(cells.urls_per_query.tolist())
        }
        k = cells.query_count
        query_threshold = truth_threshold(f_c * epsilon, f_c * delta, k)
        if any(
            threshold * n < WORD for n, threshold in [(k, query_threshold), *url_threshold.items()]
        ):
            raise ParameterError(
                "epsilon",
                "large enough for thresholds of 64 bits: the truth must be told at least as "
                "often as any other answer, as the proof of LocalAlg needs",
                mechanism.epsilon,
            )
        return cls(
            cells=cells,
            query_threshold=query_threshold,
            url_thresholds=tuple(url_threshold[k_q] for k_q in cells.urls_per_query.tolist()),
        )

    @property
    def size(self) -> int:
        """K, the number of cells that may be named."""
        return self.cells.cell_count

    @property
    def t(self) -> float:
        """The probability that the query is reported truly."""
        return self.query_threshold / WORD

    @property
    def t_q(self) -> FloatArray:
        """The probability that the URL is reported truly when the query is, for every query."""
        return np.array([threshold / WORD for threshold in self.url_thresholds])

    @property
    def last_true_url_word(self) -> WordArray:
        """The largest word that keeps the URL: 2^64 itself would not fit a word."""
        return np.array([threshold - 1 for threshold in self.url_thresholds], dtype=np.uint64)

    def column(self, query: int) -> tuple[Fraction, Fraction, Fraction]:
        """Return the exact probabilities that a listed cell of ``query`` is reported.

        Three cases of the true cell: the cell itself; another cell of its query; a cell of another
        query.
        """
        k = self.cells.query_count
        k_q = int(self.cells.urls_per_query[query])
        t = Fraction(self.query_threshold, WORD)
        t_q = Fraction(self.url_thresholds[query], WORD)
        sibling = t * (1 - t_q) / (k_q - 1) if k_q > 1 else Fraction(0)
        stranger = (1 - t) / ((k - 1) * k_q) if k > 1 else Fraction(0)
        return t * t_q, sibling, stranger

    def excess(self, epsilon: Fraction) -> Fraction:
        """Return the smallest δ for which one report is (ε, δ)-private; e^ε is rounded down.

        It is the largest hockey-stick divergence of any two inputs. Two inputs of the same query
        differ in two columns (``within``). Two inputs of different queries differ in all columns
        of both queries: ``across_from`` adds up those of the first, ``across_to`` of the second.
        """
        if self.cells.query_count == 1:
            return Fraction(0)
        at_most = 1 / Fraction(exp_enclosure(-epsilon, _BITS).high, 1 << _BITS)
        nothing = within = Fraction(0)
        across_from, across_to = [], []
        for q, siblings in self._two_of_each_size():
            cell, sibling, stranger = self.column(q)
            if siblings:
                within = max(within, cell - at_most * sibling)
            across_from.append(
                max(cell - at_most * stranger, nothing)
                + siblings * max(sibling - at_most * stranger, nothing)
            )
            across_to.append(
                max(stranger - at_most * cell, nothing)
                + siblings * max(stranger - at_most * sibling, nothing)
            )
        across = max(
            first + second
            for i, first in enumerate(across_from)
            for j, second in enumerate(across_to)
            if i != j
        )
        return max(within, across)

    def likelihood_ratio(self) -> Fraction:
        """Return the largest ratio of a report's probabilities between two inputs, exactly."""
        if self.cells.query_count == 1:
            return Fraction(1)
        return max(_largest_ratio(self.column(q)) for q, _ in self._two_of_each_size())

    def tight_epsilon(self) -> float:
        """Return ln of the largest ratio within a column: the pure ε of one report."""
        worst = self.likelihood_ratio()
        return math.log(worst.numerator) - math.log(worst.denominator)

    def _two_of_each_size(self) -> list[tuple[int, int]]:
        """Return two queries per number of URLs (or one), each with its number of other cells."""
        of_size: dict[int, list[int]] = {}
        for q, k_q in enumerate(self.cells.urls_per_query.tolist()):
            of_size.setdefault(k_q, []).append(q)
        return [(q, k_q - 1) for k_q, queries in of_size.items() for q in queries[:2]]


def _largest_ratio(column: tuple[Fraction, Fraction, Fraction]) -> Fraction:
    possible = [p for p in column if p > 0]
    return max(possible) / min(possible)
