"""The sharp blend once more, plainly: all measurements are rows of one dense least-squares problem.

The rows are D and E of the opt-in users and the clients' answers. Groups are independent samples of
a wider population in the covariance A of the rows; what the mean over all users would vary by
itself is subtracted from the result. No closed form of the code is used: matrices are inverted.
Only the posterior of the rare records is taken from the code; it has tests of its own.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import block_diag
from scipy.stats import chi2

from blender_dp.core.blend_probabilities.popularity_prior import PopularityPrior
from blender_dp.core.blend_probabilities.rare_records import rare_records
from blender_dp.core.estimation.client_views import ClientView, ClientViews
from blender_dp.core.estimation.estimates import Z
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.head_list.cells import FloatArray

_EXPONENT = 1.75
Rows = list[tuple[FloatArray, FloatArray, FloatArray]]
"""Measurements, their variances, and the matrix that maps p to what they measure."""


def sampled(view: ClientView, p: FloatArray) -> FloatArray:
    """What a client's answer varies by: one draw of a record, then the channel."""
    return view.channel.variance(p, view.reports) + p / view.reports


def pooled(estimates: list[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """The mean of several estimates of the same, weighted by precision, and its variance."""
    precisions = np.array([1 / v for _, v in estimates])
    weighted = np.array([x for x, _ in estimates]) * precisions
    return weighted.sum(axis=0) / precisions.sum(axis=0), 1 / precisions.sum(axis=0)


@dataclass
class PlainBlend:
    """The result of six rounds, every number by its definition."""

    views: OptInViews
    clients: ClientViews
    robust: bool = True
    p: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        views = self.views
        self.n_o, self.by_query = views.users, self._adding_matrix()
        self.c = views.whole_list.record_concentration
        self.rare = rare_records(views, PopularityPrior.of(views, _EXPONENT))
        p = self.start()
        for number in range(6):
            self._round(p)
            p = (p + self.p) / 2 if number else self.p

    def _adding_matrix(self) -> FloatArray:
        cells = self.views.cells
        of_query = np.arange(cells.query_count)[:, None]
        adding: FloatArray = (cells.query_of_cell == of_query).astype(np.float64)
        return adding

    def opt_in_mix(self, mu: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Y and its variance, cell by cell, from the joint covariance of D and E."""
        views, y, variance = self.views, np.empty(len(mu)), np.empty(len(mu))
        for i, m in enumerate(mu):
            users, noise = self.c * m, views.sum_variance[i]
            if not views.cells.is_listed[i]:
                y[i], variance[i] = views.sums[i], users + noise
                continue
            covariance = self.of_values_and_sums(i, m)
            inverse = np.linalg.inv(covariance)
            weight = np.clip(inverse.sum(axis=0) / inverse.sum(), 0.0, 1.0)
            variance[i] = weight @ covariance @ weight
            y[i] = weight @ [views.scaled_values[i], views.sums[i]]
        return y, variance

    def of_values_and_sums(self, i: int, m: float) -> FloatArray:
        """The covariance of D and E of one cell.

        Laplace: the same users, and one of a user's records. Gauss: D adds up weights of which it
        is known that their squares are shares; it covaries with E by no more than Cauchy and
        Schwarz allow. Of users who all opted in, only noise and the ratio are unknown.
        """
        views, users = self.views, self.c * m
        noise = np.diag([views.scaled_variance[i], views.sum_variance[i]])
        drawn: FloatArray = noise + np.array([[m, users], [users, users]])
        if views.branch == "laplace":
            return drawn
        ratio = views.values[i] / views.scaled_values[i]
        of_d = min(m / ratio**2, users)
        both = np.sqrt(of_d * users)
        sample = np.array([[of_d, both], [both, users]])
        sample += views.users / views.all_users * (users - sample)
        drawn = noise + sample
        drawn[0, 0] += views.whole_list.ratio_variance * m**2
        return drawn

    def start(self) -> FloatArray:
        p = np.maximum(self.views.sums, 1.0) / self.n_o
        for _ in range(3):
            y, variance = self.opt_in_mix(self.n_o * p)
            solved, _ = self.fitted([(y, variance, np.eye(len(p)))], scale=self.n_o)
            p = np.maximum(solved, 0.5 / self.n_o)
        return p

    def fitted(self, rows: Rows, scale: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """Least squares with p ≥ 0 and Σp = 1, and the covariance of the result without p ≥ 0."""
        h = np.vstack([matrix for _, _, matrix in rows])
        found = np.concatenate([x for x, _, _ in rows]) / scale
        weight = block_diag(*(np.diag(scale**2 / v) for _, v, _ in rows))
        normal, pull = h.T @ weight @ h, h.T @ weight @ found
        covariance = np.linalg.inv(normal)
        one = covariance.sum(axis=1)
        covariance -= np.outer(one, one) / one.sum()
        free = np.ones(h.shape[1], dtype=np.bool_)
        while True:
            inside = np.linalg.inv(normal[np.ix_(free, free)])
            p = np.zeros(h.shape[1])
            p[free] = inside @ pull[free]
            p[free] += inside.sum(axis=1) * (1 - p.sum()) / inside.sum()
            if (p >= 0).all():
                return p, covariance
            free &= p >= 0

    def target(self, p: FloatArray, concentration: float) -> FloatArray:
        spread = np.maximum(concentration, p) * p - p**2  # E f² is never below (E f)²
        return spread / self.views.all_users

    def _round(self, before: FloatArray) -> None:
        views, n_o, p = self.views, self.n_o, np.maximum(before, 0.25 / self.n_o)
        y, v_o = self.opt_in_mix(n_o * p)
        shift = np.where(
            views.cells.is_listed, _EXPONENT * v_o / np.maximum(y, views.scaled_threshold), 0.0
        )
        rare, at_mean = self.rare.cells, n_o * p
        at_mean[rare] = self.rare.mean
        v_o[rare] *= self.rare.variance / self.opt_in_mix(at_mean)[1][rare]
        shift[rare] = y[rare] - self.rare.mean
        y, shift, v_o = y / n_o, shift / n_o, v_o / n_o**2
        self.at, self.said = p, self.answers(p)
        self.tau2 = self._tau2(p, self.said) if self.robust else 0.0
        v_o = v_o + self.tau2 * p**2
        precision = 1 / v_o + sum(1 / v for _, v, matrix in self.said if len(matrix) == len(p))
        known = self.target(p, views.least_concentrations[0])
        self.shift = shift * np.maximum(1 - known * precision, 1e-6)
        self.opt_in = y - shift * np.maximum(1 - known / v_o, 1e-6)
        self.opt_in_variance, self.opt_in_weight = v_o, 1 / (v_o * precision)
        rows = [(y - self.shift, v_o, np.eye(len(p))), *self.said]
        self.p, self.covariance = self.fitted(rows)

    def answers(self, p: FloatArray) -> Rows:
        rows = [
            (view.estimate, sampled(view, p), np.eye(len(p)))
            for view in (self.clients.records, self.clients.relayed)
            if view
        ]
        if self.clients.queries:
            view = self.clients.queries
            rows.append((view.estimate, sampled(view, self.by_query @ p), self.by_query))
        return rows

    def client_totals(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """Queries by clients: all cells pooled first, then their totals with the query reports."""
        of_cells = [(x, v) for x, v, matrix in rows if matrix.shape[0] == matrix.shape[1]]
        x, v = pooled(of_cells)
        of_queries = [(x, v) for x, v, matrix in rows if matrix is self.by_query]
        return pooled([(self.by_query @ x, self.by_query @ v), *of_queries])

    def compared(self, p: FloatArray, rows: Rows) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Differences of frequent queries, their variances and their probabilities."""
        views, total = self.views, self.by_query @ p
        x, v = self.client_totals(rows)
        c_q = views.whole_list.query_concentration
        sample = np.maximum(c_q * total - total**2, 0.01 * total) / self.n_o
        noise = self.by_query @ views.sum_variance / self.n_o**2
        often = (total * self.n_o > 4 * views.scaled_threshold)[:-1]
        difference = self.by_query @ views.sums / self.n_o - x
        return difference[:-1][often], (sample + noise + v)[:-1][often], total[:-1][often]

    def _tau2(self, p: FloatArray, rows: Rows) -> float:
        d, v, total = self.compared(p, rows)
        if chi2.sf((d**2 / v).sum(), len(d)) > 0.01:
            return 0.0
        weight = (total / v) ** 2
        return max(0.0, float((weight * (d**2 - v)).sum() / (weight * total**2).sum()))

    @property
    def drift_statistic(self) -> float:
        d, v, _ = self.compared(self.p, self.said)
        return float((d**2 / v).sum())

    @property
    def cell_variance(self) -> FloatArray:
        known = self.target(self.p, self.views.least_concentrations[0])
        return np.diag(self.covariance) - known

    @property
    def query_weight(self) -> FloatArray:
        """How much an error in all of a query's opt-in cells moves its total, Σp = 1 left aside."""
        v = self.opt_in_weight * self.opt_in_variance
        s = self.by_query @ v
        among = self.by_query @ (self.opt_in_weight * v) / s
        if not self.clients.queries:
            return among
        return among / (1 + s / sampled(self.clients.queries, self.by_query @ self.at))

    @property
    def query_variance(self) -> FloatArray:
        views, total = self.views, self.by_query @ self.p
        of = views.whole_list
        further = (of.query_concentration - of.record_concentration) * total / self.n_o
        further[-1] = 0.0  # ⋆ has one cell only
        further += (0.3 * self.by_query @ self.shift) ** 2
        known = self.target(total, views.least_concentrations[1])
        summed = np.diag(self.by_query @ self.covariance @ self.by_query.T)
        return summed + self.query_weight**2 * further - known

    def cell_interval(self) -> tuple[FloatArray, FloatArray]:
        """Score interval by its definition: both roots of (p̂ - p)² = z²(Var + h(p - p̂)).

        The posterior variance of a rare record does not depend on p.
        """
        h = (np.diag(self.covariance) / self.opt_in_variance) ** 2 * self.c / self.n_o
        h[self.rare.cells] = 0
        half = Z**2 * h / 2
        reach = np.sqrt(half**2 + Z**2 * self.cell_variance)
        return np.clip(self.p + half - reach, 0, 1), np.clip(self.p + half + reach, 0, 1)
