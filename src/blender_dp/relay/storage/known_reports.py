"""Known reports of one campaign, in memory: 16 bytes of each, so that a repetition is recognised.

The database has them too, but looking there would cost more than all else that a report needs.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt

_DIGEST_BYTES = 16
"""Five million different reports have a pair of equal digests with probability below 1e-25."""
_MOST_YOUNG = 1 << 16
"""Most digests in a set of Python objects, which is fast but takes 100 bytes each."""

Sorted = npt.NDArray[np.bytes_]


def digest_of(encrypted: bytes) -> bytes:
    """Return what tells a report from all others."""
    return hashlib.blake2b(encrypted, digest_size=_DIGEST_BYTES).digest()


class KnownReports:
    """Digests of reports: the newest in a set, all others in sorted arrays."""

    def __init__(self) -> None:
        self._young: set[bytes] = set()
        self._old: list[Sorted] = []

    @classmethod
    def of(cls, reports: Sequence[bytes]) -> "KnownReports":
        """Return what is known once all these reports are."""
        known = cls()
        for start in range(0, len(reports), _MOST_YOUNG):
            some = reports[start : start + _MOST_YOUNG]
            known.add(known.unknown({digest_of(one) for one in some}))
            if known.is_unsettled:
                known.settle()
        return known

    def __len__(self) -> int:
        """Return how many reports are known."""
        return len(self._young) + sum(map(len, self._old))

    def unknown(self, digests: Collection[bytes]) -> set[bytes]:
        """Return those digests that are not known."""
        found = set(digests) - self._young
        for old in self._old:
            if not found:
                break
            found.difference_update(_common(_sorted(found), old))
        return found

    def add(self, digests: Iterable[bytes]) -> None:
        """Add digests that are not known."""
        self._young.update(digests)

    @property
    def is_unsettled(self) -> bool:
        """Whether it takes more memory than it must."""
        return len(self._young) >= _MOST_YOUNG

    def settle(self) -> None:
        """Move all digests to arrays, of which each is longer than the next: so they are few."""
        self._old.append(_sorted(self._young))
        self._young = set()
        while len(self._old) > 1 and len(self._old[-2]) <= len(self._old[-1]):
            self._old[-2:] = [np.sort(np.concatenate(self._old[-2:]), kind="stable")]


def _sorted(digests: Iterable[bytes]) -> Sorted:
    return np.frombuffer(b"".join(sorted(digests)), dtype=f"S{_DIGEST_BYTES}")


def _common(asked: Sorted, old: Sorted) -> Sequence[bytes]:
    """Return which of the sorted digests are among the old ones."""
    place = np.minimum(np.searchsorted(old, asked), len(old) - 1)
    # numpy leaves out zero bytes at the end of what it returns
    return [one.ljust(_DIGEST_BYTES, b"\0") for one in asked[old[place] == asked].tolist()]
