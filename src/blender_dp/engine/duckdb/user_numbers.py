"""Numbers of users from 1, in place of their keys: a hash table over arrays."""

import numpy as np

from blender_dp.core.head_list.cells import IntArray
from blender_dp.engine.duckdb.number_file import UInt32Array
from blender_dp.engine.duckdb.runs import lengths_from, run_starts

_NO_KEY = -1
"""Key of user number 0, who does not exist; keys of users are not negative."""
_SLOTS_PER_USER = 4
"""Fewest slots per user: with fewer, more users are not found at once."""


class UserNumbers:
    """Numbers of users by key; a free slot of the table holds 0."""

    def __init__(self) -> None:
        self.count = 0
        self._keys = np.full(1 << 12, _NO_KEY, dtype=np.int64)
        self._slots = np.zeros(1 << 13, dtype=np.uint32)

    def of(self, keys: IntArray) -> tuple[UInt32Array, IntArray]:
        """Return the number of every key, and where each new key is first, by new number."""
        numbers = self._find(keys)
        unknown = np.flatnonzero(numbers == 0)
        if not len(unknown):
            return numbers, unknown
        # Not numpy.unique: it imports masked arrays first, which takes 0.05 s.
        order = unknown[np.argsort(keys[unknown], kind="stable")]
        starts = run_starts(keys[order])
        first = order[starts]
        numbers[order] = np.repeat(self._add(keys[first]), lengths_from(starts, len(order)))
        return numbers, first

    def free(self) -> None:
        """Free the table; only the count stays."""
        self._keys, self._slots = self._keys[:0].copy(), self._slots[:0].copy()  # no views

    def _find(self, keys: IntArray) -> UInt32Array:
        """Return the numbers of known keys, 0 for others."""
        last, step = len(self._slots) - 1, 0
        slots = keys & last
        # With "clip", numpy skips a pass; nothing is ever clipped.
        numbers: UInt32Array = self._slots.take(slots, mode="clip")
        other = np.flatnonzero(self._keys.take(numbers, mode="clip") != keys)
        other = other[numbers[other] != 0]
        slots, keys = slots[other], keys[other]
        while len(other):  # the slot is another user's
            step += 1
            slots = (slots + step) & last
            found = self._slots.take(slots)
            numbers[other] = found
            left = np.flatnonzero((self._keys.take(found) != keys) & (found != 0))
            other, slots, keys = other[left], slots[left], keys[left]
        return numbers

    def _add(self, keys: IntArray) -> UInt32Array:
        """Give numbers to new keys, all different."""
        first, self.count = self.count + 1, self.count + len(keys)
        given = np.arange(first, self.count + 1, dtype=np.uint32)
        if self.count >= len(self._keys):
            more = np.full(self.count, _NO_KEY, dtype=np.int64)
            self._keys = np.concatenate([self._keys, more])
        self._keys[given] = keys
        if _SLOTS_PER_USER * self.count <= len(self._slots):
            self._put(given)
            return given
        size = 1 << (_SLOTS_PER_USER * self.count).bit_length()
        self._slots = np.zeros(size, dtype=np.uint32)
        self._put(np.arange(1, self.count + 1, dtype=np.uint32))
        return given

    def _put(self, numbers: UInt32Array) -> None:
        """Put users into the first free slot from that of their key on, in growing steps."""
        last, step = len(self._slots) - 1, 0
        slots = self._keys[numbers] & last
        while len(numbers):
            free = self._slots[slots] == 0
            self._slots[slots[free]] = numbers[free]  # the last of those for one slot gets it
            left = self._slots[slots] != numbers
            step += 1
            numbers, slots = numbers[left], (slots[left] + step) & last
