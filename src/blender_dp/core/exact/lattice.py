"""The lattice on which weights and shares of users are added up: integers, never floats."""

from math import isqrt

import numpy as np

from blender_dp.core.head_list.cells import IntArray

UNIT = 1 << 30
"""One user's whole weight, in lattice units.

Sums of 2^32 users stay within 63 bits, and noise that hides a user is so wide, in units, that
what the lattice changes of it costs nothing one could print (create_head_list/PRIVACY.md).
"""


def weights(most: int) -> IntArray:
    """Return what a user with k distinct records adds to each of them, for k = 0 .. ``most``.

    ⌊UNIT/√k⌋, and 0 for k = 0. Rounded down, so that the k weights of a user have an L2 norm of
    at most UNIT.
    """
    return np.array([0, *(isqrt(UNIT**2 // k) for k in range(1, most + 1))], dtype=np.int64)
