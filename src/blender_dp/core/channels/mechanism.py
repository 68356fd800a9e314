"""Mechanisms by which devices report; each describes itself in a file of this folder."""

from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism

Mechanism = LocalAlgMechanism | SubsetSelectionMechanism
"""The description that is published with a head list."""
MECHANISMS: dict[str, type[Mechanism]] = {
    kind.name: kind for kind in (LocalAlgMechanism, SubsetSelectionMechanism)
}
"""Every mechanism, by its name in a head list."""
