"""Views of the opt-in users, D of the listed records and E of all cells, as one estimate.

Everything here is post-processing of an :class:`OptInRelease`. μ is the expected number of
opt-in users n_O·p; conc and om2 are those of :class:`WholeList`.
"""

from dataclasses import dataclass, replace

import numpy as np

from blender_dp.core.curator.opt_in_release import OptInRelease, WholeList
from blender_dp.core.curator.opt_in_scale import listed_values, ratio_by_cell, read_whole_list
from blender_dp.core.estimation.consistency import reconcile
from blender_dp.core.head_list.cells import Cells, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OptInViews:
    """A release with D on E's scale, and what the users' records are like."""

    release: OptInRelease
    cells: Cells
    whole_list: WholeList
    sampled: float
    """1 - n_O/n: how much of the sampling variance counts when all n users are the target."""
    values: FloatArray
    """D by cell over the ratio of its query; 0 for ⟨q,⋆⟩ and ⟨⋆,⋆⟩, where there is none."""
    value_variance: FloatArray
    """Its noise variance."""
    threshold: float
    """τ on the same scale."""

    @classmethod
    def of(cls, release: OptInRelease, cells: Cells, *, users: float) -> "OptInViews":
        """Put both looks on one scale.

        ``users`` is n, both groups together; infinite if they stand for a wider population.
        """
        whole_list = release.whole_list or read_whole_list(release, cells)
        ratio = ratio_by_cell(release, cells, whole_list.value_ratio)
        return cls(
            release=release,
            cells=cells,
            whole_list=whole_list,
            sampled=1 - release.users / users,
            values=listed_values(release, cells) / ratio,
            value_variance=release.value_variance / ratio**2,
            threshold=release.threshold / whole_list.value_ratio,
        )

    def combined(self, mu: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the best mix Y of D and E, and its variance if the truth is ``mu``.

        E errs by the sample of users and by noise. D errs by the same sample, which is all the two
        have in common, and by ``extra``: noise and, in the laplace branch, which record of a user
        was drawn (μ - conc·μ), in the gauss branch how weights differ from shares (om2·μ²). Y
        weighs the two by what they do not share. ⟨q,⋆⟩ and ⟨⋆,⋆⟩ have E alone.
        """
        listed, noise = self.cells.is_listed, self.release.sum_variance
        extra = self.difference_variance(mu) + self.value_variance
        w = self.value_weight(mu)
        y = w * self.values + (1 - w) * self.release.sums
        sample = self.sampling_variance(mu)
        return y, self.sampled * sample + np.where(listed, w * extra, noise)

    def value_weight(self, mu: FloatArray) -> FloatArray:
        """Return the weight of D in that mix; 0 where there is none."""
        noise = self.release.sum_variance
        extra = self.difference_variance(mu) + self.value_variance
        return np.where(self.cells.is_listed, noise / (noise + extra), 0.0)

    def sampling_variance(self, mu: FloatArray) -> FloatArray:
        """Return the variance that D and E have in common: of the sample of users."""
        return _sampling_variance(mu, self.whole_list.record_concentration, self.release.users)

    def difference_variance(self, mu: FloatArray) -> FloatArray:
        """Return the variance of D around E apart from all noise."""
        if self.release.branch == "laplace":
            drawn = _sampling_variance(mu, 1.0, self.release.users)
            return drawn - self.sampling_variance(mu)
        return self.whole_list.ratio_variance * mu**2

    def start(self) -> FloatArray:
        """Return the distribution that the opt-in users alone suggest, no cell at zero."""
        n_o = self.release.users
        p = np.maximum(self.release.sums, 1.0) / n_o
        for _ in range(3):  # variances need p, and p needs variances
            y, variance = self.combined(n_o * p)
            p = np.maximum(reconcile(y / n_o, variance / n_o**2, self.cells), 0.5 / n_o)
        return p


def _sampling_variance(mu: FloatArray, concentration: float, users: int) -> FloatArray:
    """Return the variance of a sum of shares over a random sample of users, kept above zero."""
    return np.maximum(concentration * mu - mu**2 / users, 0.01 * mu)


def trimmed(
    release: OptInRelease, cells: Cells, most_queries: int | None
) -> tuple[IntArray, OptInRelease]:
    """Keep the M queries of the largest opt-in totals; return their positions and the release.

    What is dropped joins ⟨⋆,⋆⟩, its draws of noise included. Ties go by byte order, the order of
    the list.
    """
    queries = cells.query_count - 1
    if most_queries is None or queries <= most_queries:
        return np.arange(queries), release
    whole_list = release.whole_list or read_whole_list(release, cells)
    totals = cells.by_query(_noise_weighted(release, cells, whole_list))[:-1]
    kept = np.sort(np.argsort(-totals, kind="stable")[:most_queries])
    stays = np.isin(cells.query_of_cell, kept)
    return kept, replace(
        release,
        values=np.append(release.values[stays], np.nan),
        sums=np.append(release.sums[stays], release.sums[~stays].sum()),
        sum_variance=np.append(release.sum_variance[stays], release.sum_variance[~stays].sum()),
        whole_list=whole_list,
    )


def _noise_weighted(release: OptInRelease, cells: Cells, whole_list: WholeList) -> FloatArray:
    """Return the mix of D and E by noise alone: no p is known yet."""
    ratio = ratio_by_cell(release, cells, whole_list.value_ratio)
    noise = release.sum_variance
    w = np.where(cells.is_listed, noise / (noise + release.value_variance / ratio**2), 0.0)
    return w * listed_values(release, cells) / ratio + (1 - w) * release.sums
