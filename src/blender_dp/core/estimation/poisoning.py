"""Test for a single manipulated record: the largest disagreement between the groups.

Fake reports lift what they name, colluding opt-in accounts what they submit; either way the two
groups, which estimate every cell independently, disagree there. The test of drift adds up many
frequent queries and overlooks one record. Here the widest disagreement of all counts.

Three looks share the chance of a false alarm, the first having most of it:

- at the item of which clients say too much for chance (fake reports), by the tail of
  :mod:`~blender_dp.core.estimation.pushed_law`, which knows both looks at the opt-in users;
- at the item of which opt-in users say too much (colluding accounts). Here D, which was selected,
  would cry wolf, so E alone is held against the clients. Its noise falls off like e^(-|y|/b), not
  like a normal law, which would be wrong by orders of magnitude where one comparison of hundreds
  decides: every tail is bounded by Chernoff's inequality with the law of the noise itself;
- at all records together, for a push spread over many (``spread_push``).

Tails of single items are multiplied by the number of items. What a push must be like to be seen is
part of the verdict: silence means nothing without it.
"""

from dataclasses import dataclass, field, replace
from math import inf
from statistics import NormalDist

import numpy as np

from blender_dp.core.estimation.pushed_law import PushedLaw
from blender_dp.core.estimation.spread_push import chance_of, evidence, least_shift
from blender_dp.core.head_list.cells import BoolArray, FloatArray, IntArray

ALARM = 0.001
"""How often chance alone raises the alarm, at most."""
_SLOPES = np.linspace(0.02, 1.0, 50)
"""Where Chernoff's bound is tried, in parts of the best slope for normal noise; any is sound."""
_WIDEST = 10
_OF_CLIENTS, _OF_OPT_IN, _OF_ALL = 0.8, 0.1, 0.1
"""How the looks share the chance of a false alarm."""
POWER = 0.8
"""A push is called visible if it raises the alarm with this probability."""
_ROUNDS = 12
SPREAD = 10
"""Over how many records a spread push is measured."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparisons:
    """What opt-in users say less what clients say of many items, in users; variances without drift.

    Arrays are by item.
    """

    items: IntArray
    """Their positions: cells, then queries."""
    difference: FloatArray
    sample_variance: FloatArray
    """Of the opt-in users as a sample, each of whom has at most one unit of an item."""
    client_variance: FloatArray
    """Of what clients say, which is close to normal."""
    noise_variance: FloatArray
    """Of the noise on the opt-in sum."""
    noise_draws: FloatArray
    """How many draws of Laplace noise that is; 0 for Gaussian noise."""

    @property
    def z(self) -> FloatArray:
        """The differences in standard errors."""
        z: FloatArray = self.difference / np.sqrt(self._variance)
        return z

    @property
    def _variance(self) -> FloatArray:
        return self.sample_variance + self.client_variance + self.noise_variance

    def tail_bounds(self) -> FloatArray:
        """Return for every item a bound on how often chance makes the difference as large.

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
    """What clients say of many items less what opt-in users say, and its law without a push."""

    excess: FloatArray
    """In opt-in users, by item as in :class:`Comparisons`."""
    law: PushedLaw
    bias: FloatArray
    """By how much the opt-in users say too much of an item because it was selected, about."""
    is_record: BoolArray
    """Which items are single records: those of a spread push."""
    opt_in_users: int
    fake_weight: float
    """How many clients with a record a fake report for it counts for."""

    def visible(self) -> "Visible | None":
        """Invert the tests for the sizes and the noise of this very result."""
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
        """Return the same for each of several records that are pushed alike."""
        shift = least_shift(int(self.is_record.sum()), SPREAD, ALARM * _OF_ALL, POWER)
        users = np.zeros_like(self.excess)
        for _ in range(_ROUNDS):
            users = shift * np.sqrt(self.law.deviation**2 + self.law.share * users) + self.bias
        return users

    def _least_users(self, level: float) -> FloatArray:
        """Return how large an excess must be made to be seen four times in five.

        A push raises the p of both groups together, and with it what chance does to the sample of
        opt-in users: the law is taken with the push in it.
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

    None where not even all of them together would.
    """

    easiest: float | None
    """On the record where a push shows best."""
    median: float | None
    """On half of the records."""
    hardest: float | None
    """On any single record."""
    spread: float | None
    """Parted evenly over ``spread_over`` records, for nine of ten of them."""
    spread_over: int

    @property
    def sentence(self) -> str:
        """Say it for a person."""
        pushes = [
            (self.hardest, "of any single record"),
            (self.median, "of half of the records"),
            (self.spread, f"parted over {self.spread_over} records"),
        ]
        seen = [f"{what} by {share:.2%} of the clients" for share, what in pushes if share]
        if self.spread_over < 2:
            seen = seen[:1]
        if not seen:
            return "There are too few users to see any push."
        return f"A push {', '.join(seen)} would be seen in four of five cases."


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """The verdict on one result."""

    comparisons: int
    p_value: float
    """How often chance makes any of the three looks as unlikely, at most."""
    widest: tuple[tuple[int, float], ...]
    """The items that differ beyond chance, as position and z-score (positive: the opt-in users say
    more), least likely first; none without an alarm, or if only all together differ."""
    pushes: Pushes | None = field(default=None, repr=False, compare=False)
    """What clients say too much, with its law."""

    def visible(self) -> "Visible | None":
        """Return which pushes would be seen; None where no record was compared."""
        return None if self.pushes is None else self.pushes.visible()

    @property
    def is_alarming(self) -> bool:
        """Whether chance can be ruled out."""
        return self.p_value < ALARM

    @property
    def sentence(self) -> str:
        """Say what was found, for a person."""
        if not self.is_alarming:
            silence = (
                f"No single record or query of {self.comparisons:,} compared sets the groups apart."
            )
            visible = self.visible()
            return f"{silence} {visible.sentence}" if visible else silence
        found = len(self.widest)
        subject = "Many records together" if not found else "One record or query"
        many = f"{found} records or queries" if found > 1 else subject
        return (
            f"{many} of {self.comparisons:,} compared differ between opt-in users and clients by "
            f"more than chance (p = {self.p_value:.1g}): fake reports or colluding accounts may "
            "have pushed them, or the groups differ there. Do not rely on them."
        )


def find_disagreement(comparisons: Comparisons, pushes: Pushes) -> Disagreement:
    """Return the widest disagreement of all; post-processing."""
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
