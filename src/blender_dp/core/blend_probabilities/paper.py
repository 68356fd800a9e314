"""BlendProbabilities as the paper states it (Fig. 7, ``fig:blending-alg``).

Privacy: post-processing of private estimates; nothing is spent.
"""

import numpy as np

from blender_dp.core.estimation.estimates import Blend, BlendedEstimates, Estimate, GroupEstimates
from blender_dp.core.head_list.cells import FloatArray


def blend_probabilities(opt_in: GroupEstimates, clients: GroupEstimates) -> BlendedEstimates:
    """Return p̂ on the cells and on the queries, as weighted and as projected onto the simplex.

    Paper: Fig. 7, all lines, on records and, for trends, on queries (section 4.2).
    """
    return BlendedEstimates(
        cells=_blend(opt_in.cells, clients.cells), queries=_blend(opt_in.queries, clients.queries)
    )


def _blend(opt_in: Estimate, clients: Estimate) -> Blend:
    """Weigh each group by the other's variance (line 3, ``theorem:weighting-scheme``).

    Where the opt-in group has no estimate, ⟨q,⋆⟩, the clients' estimate is used. Weights outside
    [0, 1] come from negative variances (flaw F1, kept).
    """
    silent = np.isnan(opt_in.probability)
    var_o = np.where(silent, 0.0, opt_in.variance)
    total = var_o + clients.variance
    certain = total == 0  # both variances are zero: only for an empty head list
    w = np.where(silent | certain, 0.0, clients.variance / np.where(certain, 1.0, total))
    p_o = np.where(silent, 0.0, opt_in.probability)
    raw = Estimate(
        probability=w * p_o + (1 - w) * clients.probability,
        variance=w**2 * var_o + (1 - w) ** 2 * clients.variance,
    )
    return Blend(raw=raw, projected=project(raw.probability), opt_in_weight=w)


def project(v: FloatArray) -> FloatArray:
    """Return the nearest vector without negative entries that adds up to one (Fig. 7 line 5).

    The algorithm of the paper's reference (Wang and Carreira-Perpiñán, 2013): subtract the one
    constant that leaves a sum of one after negative entries are set to zero.

    >>> project(np.array([0.6, 0.6, -0.2])).tolist()
    [0.5, 0.5, 0.0]
    """
    v = v - v.max()  # the nearest point stays the same, and huge entries lose no precision
    u = np.sort(v)[::-1]
    surplus = (np.cumsum(u) - 1) / np.arange(1, len(v) + 1)
    last_positive = np.flatnonzero(u > surplus)[-1]
    projected: FloatArray = np.maximum(v - surplus[last_positive], 0.0)
    return projected
