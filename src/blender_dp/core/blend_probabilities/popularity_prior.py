"""Prior of the popularity of listed records: a power law, and what is known of known records.

Frequencies of records fall off like a power, so μ = n_O·p has the density μ^(-a). A record that an
earlier release listed has passed a threshold once: its density is μ^(-a)·Pr[listed | μ]. One that
is new has not: its density is μ^(-a)·(1 - Pr[listed | μ]). The earlier rule is taken to be that of
this release. A record named elsewhere, without regard to its popularity, gets the exponent 1, by
which every order of magnitude is as probable. Documents that do not say where a record was known
from are older than these priors: it has none.
"""

from dataclasses import dataclass

import numpy as np

from blender_dp.core.curator.listing_rule import ListingRule
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.head_list.cells import BoolArray, FloatArray, IntArray
from blender_dp.core.head_list.known_list import KnownFrom

_OF_ANY_ORDER = 1.0
"""Exponent for records that were named elsewhere."""
_LEAST = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PopularityPrior:
    """Prior of every listed record's μ."""

    exponent: FloatArray
    """a by cell."""
    was_listed: BoolArray
    """Whether each cell is a record that an earlier release listed."""
    has_none: BoolArray
    """Whether each cell is a record without a prior, whose plain average is its estimate."""
    is_known: BoolArray
    """Whether each cell is a record that was known before: no threshold selected its D."""
    rule: ListingRule | None
    """How the earlier release listed; None if nothing was listed before."""

    @classmethod
    def of(cls, views: OptInViews, exponent: float) -> "PopularityPrior":
        """Return the prior for a list; ``exponent`` is that of records found by discovery."""
        known = np.zeros(views.cells.cell_count) if views.known is None else views.known
        was_listed = known == KnownFrom.RELEASE
        has_none = known == KnownFrom.UNSAID
        exponents = np.where(known == KnownFrom.ELSEWHERE, _OF_ANY_ORDER, exponent)
        return cls(
            exponent=np.where(has_none, 0.0, exponents),
            has_none=has_none,
            was_listed=was_listed,
            is_known=known != KnownFrom.NOWHERE,
            rule=_rule_of(views) if was_listed.any() else None,
        )

    def log_density(self, cells: IntArray, mu: FloatArray) -> FloatArray:
        """Return ln of the density of ln μ, up to a constant, by record and μ."""
        density = (1 - self.exponent[cells, None]) * np.log(mu)
        if self.rule is not None:
            listed = self.rule.listed_at(mu)
            again, new = self.was_listed[cells], ~self.is_known[cells]
            density[again] += np.log(np.maximum(listed[again], _LEAST))
            density[new] += np.log(np.maximum(1 - listed[new], _LEAST))
        return density


def _rule_of(views: OptInViews) -> ListingRule:
    """Return the rule of this release's discovery, by the expected number of users."""
    if views.slopes is not None:
        least = round(views.threshold + 0.5 + views.value_mean)
        return ListingRule.of_counts(views.users, least, views.slopes)
    sigma = float(np.sqrt(views.value_variance))
    ratio = views.whole_list.value_ratio
    return ListingRule.of_weights(views.users, views.threshold, sigma, ratio)
