"""Spread of the opt-in users' records over users, and the ratio of D to E.

In the gauss branch D adds up weights 1/√(records of the user) and E shares, so D is larger, by a
ratio that differs between queries with the kind of users who ask them.
"""

from math import sqrt

import numpy as np

from blender_dp.core.curator.opt_in_release import OptInRelease, WholeList
from blender_dp.core.head_list.cells import BoolArray, Cells, FloatArray

_FEW = 8
"""With fewer records than this well above the threshold, all listed ones are looked at."""
_LEAST_CONCENTRATION = 0.02


def read_whole_list(release: OptInRelease, cells: Cells) -> WholeList:
    """Read the four constants off a release, on the list as discovered."""
    conc, concq = _concentrations(release, cells)
    kap, om2 = 1.0, 0.0
    if release.branch == "gauss":
        telling = _telling_records(release, cells)
        kap = _common_ratio(release, cells, telling)
        om2 = _ratio_variance(release, cells, kap, telling)
    return WholeList(
        record_concentration=conc, query_concentration=concq, value_ratio=kap, ratio_variance=om2
    )


def listed_values(release: OptInRelease, cells: Cells) -> FloatArray:
    """Return D by cell, zero where there is none."""
    return np.where(cells.is_listed, release.values, 0.0)


def ratio_by_cell(release: OptInRelease, cells: Cells, common: float) -> FloatArray:
    """Return kap_q of every cell's query: its own D over E, drawn towards the common ratio.

    As if the ratios of queries had a standard deviation of a tenth: a query of few users, whose
    own ratio is mostly noise, gets the common one.
    """
    if release.branch == "laplace":
        return np.ones(cells.cell_count)
    listed = cells.is_listed
    d, e = (
        cells.by_query(look)
        for look in (listed_values(release, cells), np.where(listed, release.sums, 0.0))
    )
    noise = cells.by_query(np.where(listed, release.sum_variance, 0.0))
    prior = noise / (0.01 * np.maximum(d / common, 1.0))
    own = (d + common * prior) / np.maximum(e + prior, 1.0)
    ratio: FloatArray = np.clip(own, common / 2, 2 * common)[cells.query_of_cell]
    return ratio


def _concentrations(release: OptInRelease, cells: Cells) -> tuple[float, float]:
    """Return conc and concq, each by one standard error too large rather than too small."""
    if release.one_record_each:
        return 1.0, 1.0
    listed_sum = release.sums[cells.is_listed].sum()
    query_sum = release.sums[:-1].sum()
    up = release.square_std_error
    conc = np.clip((release.record_squares + up) / max(listed_sum, 1.0), _LEAST_CONCENTRATION, 1.0)
    concq = np.clip((release.query_squares + up) / max(query_sum, 1.0), conc, 1.0)
    return float(conc), float(concq)


def _telling_records(release: OptInRelease, cells: Cells) -> BoolArray:
    """Tell which records show the ratio: those selection by noise has hardly touched."""
    well_above = listed_values(release, cells) > 2 * release.threshold
    return well_above if well_above.sum() >= _FEW else cells.is_listed


def _common_ratio(release: OptInRelease, cells: Cells, telling: BoolArray) -> float:
    """Return kap; one record a user makes it 1, m records √m."""
    d, e = listed_values(release, cells)[telling].sum(), release.sums[telling].sum()
    return float(np.clip(d / max(e, 1.0), 1.0, sqrt(release.most)))


def _ratio_variance(
    release: OptInRelease, cells: Cells, common: float, telling: BoolArray
) -> float:
    """Return om2 by moments: E[(D/kap_q - E)²] = noise + om2·μ², large records counting most."""
    floor = 0.01 if telling.sum() >= _FEW else 0.06
    if not telling.any():
        return floor
    ratio = ratio_by_cell(release, cells, common)[telling]
    d, e = listed_values(release, cells)[telling] / ratio, release.sums[telling]
    mu = np.maximum(d, 1.0)
    noise = release.value_variance / ratio**2 + release.sum_variance[telling]
    weight = (mu / (noise + 0.04 * mu**2)) ** 2
    om2 = (weight * ((d - e) ** 2 - noise)).sum() / (weight * mu**2).sum()
    return max(float(om2), floor)
