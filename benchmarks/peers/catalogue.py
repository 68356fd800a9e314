"""Catalogue of all methods that are compared."""

from collections.abc import Sequence

from benchmarks.peers import (
    multi_freq_ldpy,
    opendp,
    pipeline_dp,
    pure_ldp,
    pure_ldp_heavy_hitters,
)
from benchmarks.peers.hybrid import hybrid
from benchmarks.peers.task import Peer
from blender_dp.core.errors import MissingExtraError
from blender_dp.core.parameters import Preset

PEERS: tuple[Peer, ...] = (
    *opendp.PEERS,
    *pipeline_dp.PEERS,
    *pure_ldp_heavy_hitters.PEERS,
    *pure_ldp.PEERS,
    *multi_freq_ldpy.PEERS,
)


def methods(presets: Sequence[Preset] = ("sharp", "paper")) -> tuple[Peer, ...]:
    """Return BLENDER with each of these presets, then all its peers."""
    return (*(hybrid(preset) for preset in presets), *PEERS)


def installed(peers: Sequence[Peer]) -> tuple[Peer, ...]:
    """Return those whose packages are here."""
    return tuple(peer for peer in peers if _is_installed(peer))


def _is_installed(peer: Peer) -> bool:
    try:
        peer.require_installed()
    except MissingExtraError:
        return False
    return True
