"""Views of the opt-in users in ``sharp``: D of the listed records and E of all cells.

D is the value by which a record got on the list, or a query on a list without URLs, whose ⟨q,⋆⟩ is
then meant by "record" below; E is the sum over users of the share that a cell
has in the user's own data. All numbers are in users. No later step uses any other data of these
users, and everything here is post-processing. μ is the expected number of opt-in
users n_O·p.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, sqrt

import numpy as np

from blender_dp.core.curator.budget import Branch
from blender_dp.core.estimation.consistency import reconcile
from blender_dp.core.estimation.target import around_target, target_variance
from blender_dp.core.estimation.whole_list import WholeList
from blender_dp.core.head_list.cells import BoolArray, Cells, FloatArray, IntArray

_FEW = 8
"""With fewer records than this well above the threshold, all listed ones are used."""
_LEAST_CONCENTRATION = 0.02


@dataclass(frozen=True, kw_only=True, eq=False)
class OptInViews:
    """All released numbers of the opt-in users, with the public distribution of their noise."""

    cells: Cells
    users: int
    """n_O."""
    branch: Branch
    """How records were discovered: by one record of each user, or by weights 1/√(records)."""
    one_record_each: bool
    """Declared in advance: no user has more than one record."""
    values: FloatArray
    """D by cell, minus the mean of its noise; NaN for cells that were not found by one."""
    value_variance: float
    """Noise variance of D."""
    threshold: float
    """τ, positive: a record is listed if D, without the mean of its noise, exceeds it."""
    slopes: tuple[float, float] | None
    """(s_R, s_L) of the laplace branch: D falls off as e^(-s_R·y) upwards, e^(s_L·y) downwards."""
    value_mean: float
    """The mean of D's noise, subtracted above; 0 in the gauss branch."""
    sums: FloatArray
    """E by cell."""
    sum_variance: FloatArray
    """Noise variance of E by cell; a trimmed ⟨⋆,⋆⟩ adds up several draws."""
    record_squares: float
    """Noisy Σ f_i(r)² over users and listed records; of no meaning if ``one_record_each``."""
    query_squares: float
    """Noisy Σ f_i(q)² over users and listed queries; of no meaning if ``one_record_each``."""
    square_std_error: float
    """Standard deviation of the noise of either."""
    most: int
    """m, the most records a user gives in the gauss branch."""
    trimmed_from: WholeList | None = None
    """Numbers computed from the whole list if this one was trimmed."""
    known: IntArray | None = None
    """:class:`KnownFrom` of every cell; None if nothing was known."""
    all_users: float = inf
    """n: number of the users whose mean is the target; infinite for a wider population."""

    def among(self, users: float) -> "OptInViews":
        """Return the views for a mean over ``users`` users, all groups together."""
        return replace(self, all_users=users)

    @cached_property
    def whole_list(self) -> WholeList:
        """The four numbers of the list as discovered."""
        return self.trimmed_from or _read_whole_list(self)

    @property
    def least_concentrations(self) -> tuple[float, float]:
        """That of records and of queries, by one standard error too small rather than too large.

        For the variance of the target, which is subtracted. A trimmed list has a smaller sum than
        the whole one, which errs to the same side.
        """
        if self.one_record_each:
            return 1.0, 1.0
        of, twice = self.whole_list, 2 * self.square_std_error
        listed_sum, query_sum = self.sums[self.cells.is_discovered].sum(), self.sums[:-1].sum()
        lowest = of.record_concentration - twice / max(float(listed_sum), 1.0)
        of_records = max(lowest, _LEAST_CONCENTRATION)
        of_queries = of.query_concentration - twice / max(float(query_sum), 1.0)
        return of_records, max(of_queries, of_records)

    def target_variance(self, p: FloatArray) -> FloatArray:
        """Return the variance of the target itself by cell, rather too small than too large."""
        return target_variance(p, self.least_concentrations[0], self.all_users)

    def query_target_variance(self, p: FloatArray) -> FloatArray:
        """Return the same by query."""
        by_query = self.cells.by_query(p)
        return target_variance(by_query, self.least_concentrations[1], self.all_users)

    @cached_property
    def _ratio(self) -> FloatArray:
        return ratio_by_cell(self, self.whole_list.value_ratio)

    @cached_property
    def scaled_values(self) -> FloatArray:
        """D on E's scale: over the ratio of its query; 0 for ⟨q,⋆⟩ and ⟨⋆,⋆⟩."""
        return _listed_values(self) / self._ratio

    @cached_property
    def scaled_variance(self) -> FloatArray:
        """Its noise variance."""
        return self.value_variance / self._ratio**2

    @property
    def scaled_threshold(self) -> float:
        """τ on the same scale."""
        return self.threshold / self.whole_list.value_ratio

    def combined(self, mu: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the best mix Y of D and E, and its variance in a wider population with ``mu``.

        The errors of E are the sampling of users and noise. Those of D are a sampling of the same
        users, noise and, in the laplace branch, which record of a user was drawn (μ less the record
        concentration times μ), in the gauss branch how ratios differ (ratio variance times μ²).
        ⟨q,⋆⟩ and ⟨⋆,⋆⟩ have only E.
        """
        w = self.value_weight(mu)
        of_d, of_e, of_both = self._variances(mu)
        y = w * self.scaled_values + (1 - w) * self.sums
        return y, w**2 * of_d + (1 - w) ** 2 * of_e + 2 * w * (1 - w) * of_both

    def _variances(self, mu: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the variances of D and of E, and their covariance."""
        of_values, of_both = self.value_sampling()
        of_d = of_values * mu + self.difference_variance(mu) + self.scaled_variance
        return of_d, self.sampling_variance(mu) + self.sum_variance, of_both * mu

    def value_sampling(self) -> tuple[FloatArray, FloatArray]:
        """Return D's variance, and its covariance with E, by the sample of users, each over μ.

        In the gauss branch a user with k records gives 1/√k, whose square is the share 1/k. So D
        varies by μ over the squared ratio, less than E. Their covariance is not known, and at most
        the geometric mean. The target has the variance of E whatever is measured.
        """
        c = self.whole_list.record_concentration
        if self.branch == "laplace":
            return np.full(self.cells.cell_count, c), np.full(self.cells.cell_count, c)
        a, opted_in = np.minimum(self._ratio**-2, c), self.users / self.all_users
        both = np.sqrt(a * c)
        return a + opted_in * (c - a), both + opted_in * (c - both)

    def alone(self, mu: FloatArray, variance: FloatArray) -> FloatArray:
        """Return the variance around the target, from that in a wider population with ``mu``."""
        known = self.users**2 * self.target_variance(mu / self.users)
        return around_target(variance, known + mu**2 / self.users)

    def value_weight(self, mu: FloatArray) -> FloatArray:
        """Return the weight of D in that mix; 0 where there is no D."""
        of_d, of_e, of_both = self._variances(mu)
        apart = np.maximum(of_d + of_e - 2 * of_both, 1e-300)  # 0 without noise: D is E
        return np.where(self.cells.is_discovered, np.clip((of_e - of_both) / apart, 0.0, 1.0), 0.0)

    def sampling_variance(self, mu: FloatArray) -> FloatArray:
        """Return the variance of E from the sampling of users.

        What is missing to c·μ - μ²/n_O comes from Σp = 1 in the blend.
        """
        return self.whole_list.record_concentration * mu

    def same_user_variance(self, p: FloatArray) -> FloatArray:
        """Return the variance of a query's share beyond the sum over its cells.

        Records of one query that one user holds are correlated: a total varies by the query
        concentration times P_q, its cells by the record concentration times p. ⋆ is one cell.
        """
        of = self.whole_list
        excess = (of.query_concentration - of.record_concentration) / self.users
        further = excess * self.cells.by_query(p)
        further[-1] = 0.0
        return further

    def difference_variance(self, mu: FloatArray) -> FloatArray:
        """Return the variance of D that neither noise nor the sample of users explains."""
        if self.branch == "laplace":
            return mu - self.sampling_variance(mu)
        return self.whole_list.ratio_variance * mu**2

    def start(self) -> FloatArray:
        """Return the distribution that the opt-in users alone suggest, no cell at zero."""
        n_o = self.users
        p = np.maximum(self.sums, 1.0) / n_o
        for _ in range(3):  # variances need p, and p needs variances
            y, variance = self.combined(n_o * p)
            p = np.maximum(reconcile(y / n_o, variance / n_o**2, self.cells), 0.5 / n_o)
        return p

    def largest_queries(self, most: int) -> IntArray:
        """Return the positions of at most ``most`` queries, those of the largest totals.

        D and E are mixed by noise alone: no p is known yet. Ties go by byte order, the order of
        the list.
        """
        w = self.sum_variance / (self.sum_variance + self.scaled_variance)
        w = np.where(self.cells.is_discovered, w, 0.0)
        totals = self.cells.by_query(w * self.scaled_values + (1 - w) * self.sums)[:-1]
        return np.sort(np.argsort(-totals, kind="stable")[:most])


def _listed_values(views: OptInViews) -> FloatArray:
    """Return D by cell; zero where there is no D."""
    return np.where(views.cells.is_discovered, views.values, 0.0)


def ratio_by_cell(views: OptInViews, common: float) -> FloatArray:
    """Return the ratio of every cell's query: its own D over E, drawn towards the common ratio.

    In the gauss branch D adds up weights 1/√(records of the user) and E shares, so D is larger, by
    a ratio that differs between queries with the kind of users who ask them. It is estimated as if
    the ratios of queries had a standard deviation of a tenth: a query of few users, whose own ratio
    is mostly noise, gets the common one.
    """
    cells = views.cells
    if views.branch == "laplace":
        return np.ones(cells.cell_count)
    listed = cells.is_discovered
    d, e = (
        cells.by_query(look) for look in (_listed_values(views), np.where(listed, views.sums, 0.0))
    )
    noise = cells.by_query(np.where(listed, views.sum_variance, 0.0))
    prior = noise / (0.01 * np.maximum(d / common, 1.0))
    own = (d + common * prior) / np.maximum(e + prior, 1.0)
    ratio: FloatArray = np.clip(own, common / 2, 2 * common)[cells.query_of_cell]
    return ratio


def _read_whole_list(views: OptInViews) -> WholeList:
    """Compute the four numbers from the release, on the list as discovered."""
    of_records, of_queries = _concentrations(views)
    ratio, ratio_variance = 1.0, 0.0
    if views.branch == "gauss":
        telling = _telling_records(views)
        ratio = _common_ratio(views, telling)
        ratio_variance = _ratio_variance(views, ratio, telling)
    return WholeList(
        record_concentration=of_records,
        query_concentration=of_queries,
        value_ratio=ratio,
        ratio_variance=ratio_variance,
    )


def _concentrations(views: OptInViews) -> tuple[float, float]:
    """Return that of records and of queries, each raised by one standard error."""
    if views.one_record_each:
        return 1.0, 1.0
    listed_sum = views.sums[views.cells.is_discovered].sum()
    query_sum = views.sums[:-1].sum()
    up = views.square_std_error
    of_records = np.clip(
        (views.record_squares + up) / max(listed_sum, 1.0), _LEAST_CONCENTRATION, 1.0
    )
    of_queries = np.clip((views.query_squares + up) / max(query_sum, 1.0), of_records, 1.0)
    return float(of_records), float(of_queries)


def _telling_records(views: OptInViews) -> BoolArray:
    """Tell which records show the ratio: those hardly affected by the selection."""
    well_above = _listed_values(views) > 2 * views.threshold
    return well_above if well_above.sum() >= _FEW else views.cells.is_discovered


def _common_ratio(views: OptInViews, telling: BoolArray) -> float:
    """Return D over E; it is 1 with one record per user, √m with m records."""
    d, e = _listed_values(views)[telling].sum(), views.sums[telling].sum()
    return float(np.clip(d / max(e, 1.0), 1.0, sqrt(views.most)))


def _ratio_variance(views: OptInViews, common: float, telling: BoolArray) -> float:
    """Return v of E[(D/ratio - E)²] = noise + v·μ², by moments; large records count most."""
    floor = 0.01 if telling.sum() >= _FEW else 0.06
    if not telling.any():
        return floor
    ratio = ratio_by_cell(views, common)[telling]
    d, e = _listed_values(views)[telling] / ratio, views.sums[telling]
    mu = np.maximum(d, 1.0)
    noise = views.value_variance / ratio**2 + views.sum_variance[telling]
    weight = (mu / (noise + 0.04 * mu**2)) ** 2
    found = (weight * ((d - e) ** 2 - noise)).sum() / (weight * mu**2).sum()
    return max(float(found), floor)
