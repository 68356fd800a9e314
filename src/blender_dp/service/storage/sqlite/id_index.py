"""Index in memory of the bundles that hold a campaign's older report ids.

Each id is hashed under a key of this index. A bitmap says at once that most new ids are in no
bundle. For the others there are sorted arrays with a word of eight bytes per id, which name the
bundle. An id takes 10 to 12 bytes in all.
"""

import os
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from blender_dp.core.errors import BrokenInvariantError

RUN_BYTES, PLACE_BYTES = 8, 4
"""The key of a bundle: the run of bundles that were written together, and its place in it."""
_PLACE_BITS, _RUN_BITS = 12, 16
_BUNDLE_BITS = _PLACE_BITS + _RUN_BITS
"""Low bits of a word, which name the bundle; the 36 others are of the hash."""
_LONGEST = 1 << 20
"""Most words of a merged array: longer merges would make a transaction wait."""
_LEAST_BITS = 22
_BITS_PER_ID = 16
"""Least bits of the bitmap per id: at most one new id in 16 is looked up in the arrays."""

Words = npt.NDArray[np.uint64]


class IdIndex:
    """Says which bundles may hold an id."""

    def __init__(self) -> None:
        # Drawn for each index: nobody can choose ids of the same hash.
        self._cipher = Cipher(algorithms.AES(os.urandom(16)), modes.ECB())  # noqa: S305 - a hash
        self._runs: dict[bytes, int] = {}
        self._run_keys: list[bytes] = []
        self._sorted: list[Words] = []
        self._count = 0
        self._bits = _LEAST_BITS
        self._bitmap = np.zeros(1 << _LEAST_BITS - 3, dtype=np.uint8)

    def __contains__(self, run: bytes) -> bool:
        """Return whether the bundles of a run are known."""
        return run in self._runs

    def add(self, run: bytes, ids: bytes, places: npt.NDArray[np.int64]) -> None:
        """Add the ids of a run.

        Args:
            run: Its key.
            ids: 16 bytes each.
            places: For each id, the place of its bundle in the run.

        Raises:
            BrokenInvariantError: There are too many runs for the bits that name one.
        """
        number = len(self._run_keys)
        if number >= 1 << _RUN_BITS:
            raise BrokenInvariantError(f"an index holds at most {1 << _RUN_BITS} runs of bundles")
        bundles = ((number << _PLACE_BITS) + places).astype(np.uint64)
        self._sorted.append(np.sort(self._hashes(ids) | bundles))
        self._count += len(places)
        self._mark(self._sorted[-1])
        while len(self._sorted) > 1 and _may_merge(*self._sorted[-2:]):
            self._sorted[-2:] = [np.sort(np.concatenate(self._sorted[-2:]), kind="stable")]
        self._run_keys.append(run)
        self._runs[run] = number

    def find(self, ids: bytes) -> Iterator[tuple[int, bytes]]:
        """Give the position of each id that may be in a bundle, with the bundle's key."""
        hashes = self._hashes(ids)
        bits = self._bitmap[hashes >> np.uint64(67 - self._bits)] >> self._bit_of(hashes)
        positions = np.flatnonzero(bits & 1)
        positions = positions[np.argsort(hashes[positions])]
        for words in self._sorted:
            asked = positions
            at = np.searchsorted(words, hashes[asked])
            while len(asked):
                found = words[np.minimum(at, len(words) - 1)]
                is_same = (at < len(words)) & (_hash_of(found) == hashes[asked])
                asked, at, found = asked[is_same], at[is_same] + 1, found[is_same]
                yield from zip(asked.tolist(), map(self._key, found.tolist()), strict=True)

    def _mark(self, words: Words) -> None:
        """Set the bits of new words, in a larger bitmap if they are many."""
        if self._count * _BITS_PER_ID > 1 << self._bits:
            self._bits = (self._count * _BITS_PER_ID - 1).bit_length()
            self._bitmap = np.zeros(1 << self._bits - 3, dtype=np.uint8)
            new = self._sorted
        else:
            new = [words]
        for some in new:
            cells = some >> np.uint64(67 - self._bits)
            np.bitwise_or.at(self._bitmap, cells, np.uint8(1) << self._bit_of(some))

    def _bit_of(self, words: Words) -> npt.NDArray[np.uint8]:
        return (words >> np.uint64(64 - self._bits)).astype(np.uint8) & np.uint8(7)

    def _key(self, word: int) -> bytes:
        run, place = divmod(word & (1 << _BUNDLE_BITS) - 1, 1 << _PLACE_BITS)
        return self._run_keys[run] + place.to_bytes(PLACE_BYTES, "big")

    def _hashes(self, ids: bytes) -> Words:
        """Return a word per id, with room for the bundle."""
        encrypted = self._cipher.encryptor().update(ids)
        return _hash_of(np.frombuffer(encrypted, dtype=np.uint64)[::2])


def _hash_of(words: Words) -> Words:
    return words >> np.uint64(_BUNDLE_BITS) << np.uint64(_BUNDLE_BITS)


def _may_merge(older: Words, newer: Words) -> bool:
    return len(older) <= len(newer) and len(older) + len(newer) <= _LONGEST
