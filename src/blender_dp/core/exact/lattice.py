"""The lattice on which weights and shares of users are added up: integers, never floats."""

from math import isqrt

import numpy as np

from blender_dp.core.head_list.cells import IntArray

UNIT = 1 << 30
"""One user's whole weight, in lattice units.

Sums of 2^32 users fit 63 bits. Noise that hides a user is very wide in these units, so that the
cost of rounding to the lattice is negligible (create_head_list/PRIVACY.md).
"""


def weights(most: int) -> IntArray:
    """Return the weight per record of a user with k distinct records, for k = 0 .. ``most``.

    ⌊UNIT/√k⌋, and 0 for k = 0. Rounded down, so that the k weights of a user have an L2 norm of
    at most UNIT.
    """
    return np.array([0, *(isqrt(UNIT**2 // k) for k in range(1, most + 1))], dtype=np.int64)
