"""Tally: the integers that ``sharp`` releases of the opt-in users' data, on one head list."""

from dataclasses import dataclass, replace

import numpy as np

from blender_dp.core.curator.budget import MOST_RECORDS, Budget
from blender_dp.core.curator.discovery import BranchChoice
from blender_dp.core.curator.plans import weight_plan
from blender_dp.core.curator.value_law import value_law
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.estimation.whole_list import WholeList
from blender_dp.core.exact.discrete_laplace import variance
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.head_list.cells import Cells, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OptInTally:
    """All integers that (ε, δ) was spent on; everything else follows from them by arithmetic."""

    users: int
    """n_O."""
    choice: BranchChoice
    values: IntArray
    """D of every listed record, or of every query of a list without URLs.

    Counts in the Laplace branch, lattice units in the Gaussian.
    """
    sums: IntArray
    """E of every cell, in lattice units."""
    folded_cells: int
    """Number of further noisy sums that were added to ⟨⋆,⋆⟩ when the list was trimmed."""
    record_squares: int
    """Noisy sum of f(r)² over users and listed records; 0 if one record is declared."""
    query_squares: int
    """Noisy sum of f(q)² over users and listed queries; 0 if one record is declared."""
    known: IntArray | None = None
    """Reason why each of them is listed (:class:`KnownFrom`); None if nothing was known."""
    coverage_gap: int | None = None
    """The noisy number that chose between records and queries; None if that was declared."""
    whole_list: WholeList | None = None
    """Numbers computed from the list before it was trimmed; None if it was not trimmed."""

    def keeping(self, cells: Cells, queries: IntArray, whole_list: WholeList) -> "OptInTally":
        """Trim to the queries at these positions of a list; the others' sums join ⟨⋆,⋆⟩."""
        kept = np.isin(cells.query_of_cell, queries)
        return replace(
            self,
            values=self.values[kept[cells.discovered]],
            known=None if self.known is None else self.known[kept[cells.discovered]],
            sums=np.append(self.sums[kept], self.sums[~kept].sum()),
            folded_cells=self.folded_cells + int(np.count_nonzero(~kept)) - 1,
            whole_list=whole_list,
        )

    def views(self, cells: Cells, budget: Budget) -> OptInViews:
        """Return the same numbers in users, with the distribution of their noise."""
        branch, law = self.choice.branch, value_law(self.choice.branch, budget)
        noise = _gaussian_noise(budget) if branch == "gauss" else _laplace_noise(budget)
        values, known = np.full(cells.cell_count, np.nan), None
        values[cells.discovered] = self.values / law.unit - law.mean
        if self.known is not None:
            known = np.zeros(cells.cell_count, dtype=np.int64)
            known[cells.discovered] = self.known
        # On a list without URLs, what was found are the queries.
        squares = self.record_squares if cells.is_listed.any() else self.query_squares
        draws = np.ones(cells.cell_count)
        draws[-1] += self.folded_cells
        return OptInViews(
            cells=cells,
            users=self.users,
            branch=branch,
            one_record_each=not budget.scalar_share,
            values=values,
            known=known,
            value_variance=law.variance,
            threshold=law.threshold,
            slopes=law.slopes,
            value_mean=law.mean,
            sums=self.sums / UNIT,
            sum_variance=draws * noise.sum_variance,
            record_squares=squares / UNIT,
            query_squares=self.query_squares / UNIT,
            square_std_error=noise.square_std_error,
            most=MOST_RECORDS,
            trimmed_from=self.whole_list,
        )


_ROUNDING = 1 / (12 * UNIT**2)
"""Variance of rounding to the lattice, used if ε is so large that the noise is zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noise:
    """Distribution of the noise of sums and scalars, in users and in floats: for estimates only."""

    sum_variance: float
    square_std_error: float


def _laplace_noise(budget: Budget) -> _Noise:
    scalar_variance = 0.0
    if budget.scalar_share:
        scalar_variance = variance(2 * UNIT / budget.scalar_epsilon) / UNIT**2
    return _Noise(
        sum_variance=variance(2 * UNIT / budget.estimation_epsilon) / UNIT**2 + _ROUNDING,
        square_std_error=scalar_variance**0.5,
    )


def _gaussian_noise(budget: Budget) -> _Noise:
    plan = weight_plan(budget)
    return _Noise(
        sum_variance=(plan.estimation_sigma / UNIT) ** 2,
        square_std_error=plan.scalar_sigma / UNIT,
    )
