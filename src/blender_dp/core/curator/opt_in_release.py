"""Release of the opt-in users' data in the ``sharp`` preset, with the law of its noise.

Two looks at the same users: D, by which a record got on the list, and E, the sum over users of
the share each record has in the user's own data. All numbers are in users. Nothing else of these
users' data is known to any later step.
"""

from dataclasses import dataclass

from blender_dp.core.curator.budget import Branch
from blender_dp.core.head_list.cells import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeList:
    """Four numbers about the opt-in users' records, read off the list before it is trimmed."""

    record_concentration: float
    """conc, in (0, 1]: Σ f_i(r)² over Σ f_i(r), listed records r; 1 with one record a user."""
    query_concentration: float
    """concq, from conc to 1: the same with a user's share of a query."""
    value_ratio: float
    """kap: D over E where both are large; 1 in the laplace branch."""
    ratio_variance: float
    """om2: relative variance of D around kap_q·E beyond all noise; 0 in the laplace branch."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OptInRelease:
    """Everything released of the opt-in users' data, and the public constants of its noise."""

    users: int
    """n_O."""
    branch: Branch
    """How records were discovered: by one record of each user, or by weights 1/√(records)."""
    one_record_each: bool
    """Declared in advance: no user has more than one record."""
    values: FloatArray
    """D by cell, less the mean of its noise; not a number for ⟨q,⋆⟩ and ⟨⋆,⋆⟩."""
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
    whole_list: WholeList | None = None
    """Set when the list was trimmed; otherwise this is the whole list."""
