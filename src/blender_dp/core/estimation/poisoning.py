"""Test for a single manipulated record: the largest disagreement between the groups.

Fake reports raise the records that they name, and colluding opt-in accounts the records that they
submit. The two groups estimate every cell independently, so they disagree there. The test of drift
adds up many frequent queries and does not detect one record. Here the largest disagreement counts.

Three tests share the probability of a false alarm; the first has most of it:

- items with too large client estimates (fake reports), by the tail of
:mod:`~blender_dp.core.estimation.pushed_law`, which uses both D and E;
- items with too large opt-in estimates (colluding accounts). D was selected and would give false
alarms, so only E is compared with the clients. Its noise falls off like e^(-|y|/b). A normal
approximation would be wrong by orders of magnitude where one comparison of hundreds decides, so
every tail is bounded by Chernoff's inequality with the true distribution of the noise;
- all records together, for a push spread over many (``spread_push``).

Tails of single items are multiplied by the number of items. The result also states which pushes
would be detected: without that, no alarm means nothing.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf
from statistics import NormalDist

import numpy as np

from blender_dp.core.estimation.pushed_law import PushedLaw
from blender_dp.core.estimation.spread_push import chance_of, evidence, least_shift
from blender_dp.core.head_list.cells import BoolArray, FloatArray, IntArray

ALARM = 0.001
"""Largest probability of a false alarm."""
_SLOPES = np.linspace(0.02, 1.0, 50)
"""Slopes at which Chernoff's bound is tried, relative to the best one for normal noise."""
_WIDEST = 10
_OF_CLIENTS, _OF_OPT_IN, _OF_ALL = 0.8, 0.1, 0.1
"""Shares of the three tests in the probability of a false alarm."""
POWER = 0.8
"""A push is called visible if it raises the alarm with at least this probability."""
_ROUNDS = 12
SPREAD = 10
"""Number of records of a spread push."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparisons:
    """Opt-in minus client estimates of many items, in users, with variances without drift.

    Arrays are by item.
    """

    items: IntArray
    """Positions of the items: cells, then queries."""
    difference: FloatArray
    sample_variance: FloatArray
    """Variance of sampling opt-in users, each of whom has at most one unit of an item."""
    client_variance: FloatArray
    """Variance of the clients' estimate, which is close to normal."""
    noise_variance: FloatArray
    """Variance of the noise on the opt-in sum."""
    noise_draws: FloatArray
    """Number of draws of Laplace noise in it; 0 for Gaussian noise."""

    @property
    def z(self) -> FloatArray:
        """The differences in standard errors."""
        z: FloatArray = self.difference / np.sqrt(self._variance)
        return z

    @property
    def _variance(self) -> FloatArray:
        return self.sample_variance + self.client_variance + self.noise_variance

    def tail_bounds(self) -> FloatArray:
        """Bound for every item the probability that chance makes the difference as large.

        2·exp(ln M(θ) - θ·t) for the best θ that is tried, M being the moment generating function:
        of the sample by Bennett's inequality (1962), of Laplace noise 1/(1 - b²θ²) a draw.
        """
        t, variance = np.abs(self.difference), self._variance
        has_laplace = self.noise_draws > 0
        b2 = np.where(has_laplace, self.noise_variance / np.maximum(2 * self.noise_draws, 1), 0.0)
        steepest = np.where(has_laplace, 0.999 / np.sqrt(np.maximum(b2, 1e-300)), inf)
        exponent = np.zeros_like(t)
        for slope in _SLOPES:
            theta = slope * np.minimum(t / variance, steepest)
            normal = self.client_variance + np.where(has_laplace, 0.0, self.noise_variance)
            grown = (
                normal * theta**2 / 2
                + self.sample_variance * (np.expm1(theta) - theta)
                - self.noise_draws * np.log1p(-b2 * theta**2)
            )
            exponent = np.minimum(exponent, grown - theta * t)
        bounds: FloatArray = np.minimum(2 * np.exp(exponent), 1.0)
        return bounds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pushes:
    """Client minus opt-in estimates of many items, and their distribution without a push."""

    excess: FloatArray
    """In opt-in users, by item as in :class:`Comparisons`."""
    law: PushedLaw
    bias: FloatArray
    """Approximate bias of the opt-in estimate of an item because it was selected."""
    is_record: BoolArray
    """Whether each item is a single record; only those count for a spread push."""
    opt_in_users: int
    fake_weight: float
    """Number of clients with a record that one fake report counts for."""

    def visible(self) -> "Visible | None":
        """Return the pushes that the tests would detect, given sizes and noise of this result."""
        if not self.is_record.any():
            return None
        chosen = np.flatnonzero(self.is_record)
        alone = self._least_users(ALARM * _OF_CLIENTS / len(self.excess))[chosen]
        over = min(SPREAD, len(chosen))
        spread = over * float(np.quantile(self._least_users_each()[chosen], 0.9))
        users = np.array([*np.quantile(alone, [0, 0.5, 1]), spread])
        easiest, median, hardest, together = (
            share if share < 1 else None
            for share in (users / (self.opt_in_users * self.fake_weight)).tolist()
        )
        return Visible(
            easiest=easiest, median=median, hardest=hardest, spread=together, spread_over=over
        )

    def _least_users_each(self) -> FloatArray:
        """Return the least detected excess of each of several equally pushed records."""
        shift = least_shift(int(self.is_record.sum()), SPREAD, ALARM * _OF_ALL, POWER)
        users = np.zeros_like(self.excess)
        for _ in range(_ROUNDS):
            users = shift * np.sqrt(self.law.deviation**2 + self.law.share * users) + self.bias
        return users

    def _least_users(self, level: float) -> FloatArray:
        """Return the least excess that is detected in four of five cases.

        A push raises the common p and thus the sampling variance of the opt-in users, so the
        distribution is computed with the push in it.
        """
        reserve = NormalDist().inv_cdf(POWER) * self.law.deviation + self.bias
        users = np.zeros_like(reserve)
        for _ in range(_ROUNDS):
            pushed = self.law.sample_variance + self.law.share * users
            users = replace(self.law, sample_variance=pushed).critical(level) + reserve
        return users


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """The least shares of fake clients that raise the alarm in four of five cases.

    None if even all clients together would not.
    """

    easiest: float | None
    """For the record where a push is easiest to detect."""
    median: float | None
    """For half of the records."""
    hardest: float | None
    """For any single record."""
    spread: float | None
    """Spread evenly over ``spread_over`` records, for nine of ten of them."""
    spread_over: int

    @property
    def sentence(self) -> str:
        """Return the result as a sentence."""
        pushes = [
            (self.hardest, "on any single record"),
            (self.median, "on half of the records"),
            (self.spread, f"if they are spread over {self.spread_over} records"),
        ]
        seen = [f"{what} from {share:.2%} of the clients on" for share, what in pushes if share]
        if self.spread_over < 2:
            seen = seen[:1]
        if not seen:
            return "There are too few users to detect fake reports."
        return f"This test detects fake reports {', '.join(seen)} (80% power)."


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """The verdict on one result."""

    comparisons: int
    p_value: float
    """Bound on the probability that chance makes any of the three tests as extreme."""
    widest: tuple[tuple[int, float], ...]
    """Items that differ by more than chance, as position and z-score (positive: larger opt-in
    estimate), least likely first. Empty without an alarm, or if only all together differ."""
    pushes: Pushes | None = field(default=None, repr=False, compare=False)
    """Excess of the clients' estimates, with its distribution."""

    def visible(self) -> "Visible | None":
        """Return the pushes that would be detected; None if no record was compared."""
        return None if self.pushes is None else _visible(self.pushes)

    @property
    def is_alarming(self) -> bool:
        """Whether the disagreement is significant."""
        return self.p_value < ALARM

    @property
    def sentence(self) -> str:
        """Return the result as a sentence."""
        if not self.is_alarming:
            silence = (
                "No record or query differs suspiciously between opt-in users and clients "
                f"({self.comparisons:,} compared)."
            )
            visible = self.visible()
            return f"{silence} {visible.sentence}" if visible else silence
        found = len(self.widest)
        one = "1 record or query differs" if found else "Many records together differ"
        differing = f"{found} records or queries differ" if found > 1 else one
        return (
            f"{differing} between opt-in users and clients by more than chance "
            f"({self.comparisons:,} compared, p = {self.p_value:.1g}). The cause may be fake "
            "reports, colluding accounts or a real difference. Do not rely on these estimates."
        )


def find_disagreement(comparisons: Comparisons, pushes: Pushes) -> Disagreement:
    """Return the largest disagreement between the groups; post-processing."""
    items, z = comparisons.items, comparisons.z
    tails = pushes.law.tails(pushes.excess)
    of_items = len(items) * np.minimum(tails / _OF_CLIENTS, comparisons.tail_bounds() / _OF_OPT_IN)
    records = tails[pushes.is_record]
    of_all = chance_of(evidence(records), len(records)) / _OF_ALL
    order = np.argsort(of_items, kind="stable")[:_WIDEST].tolist()
    return Disagreement(
        comparisons=len(items),
        p_value=float(min(of_items.min(initial=1.0), of_all, 1.0)),
        widest=tuple((int(items[i]), float(z[i])) for i in order if of_items[i] < ALARM),
        pushes=pushes,
    )


@lru_cache(maxsize=1)
def _visible(pushes: Pushes) -> Visible | None:
    """Return what ``pushes`` would show; several pages of one result ask, and it takes long."""
    return pushes.visible()
