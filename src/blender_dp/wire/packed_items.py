"""The items a report names, as bytes: always the same number for one list and ε.

Two forms, the shorter of which is used (the list of numbers if they are equally long); which one
follows from how many items there are and how many are named, so that a report need not say it and
its length tells nothing:

- a list: the numbers in increasing order, each in as many bits as the largest possible number
  needs, highest bit first, one after the other; zeros fill the last byte;
- a bitmap: a bit an item, that of item 0 the highest of the first byte; zeros fill the last byte.

In JSON the bytes are base64url without padding (RFC 4648, section 5).
"""

import base64
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from blender_dp.core.cells import BoolArray, IntArray
from blender_dp.core.subset_selection import SubsetChannel

ByteArray = npt.NDArray[np.uint8]

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_NO_DIGIT = 255
_DIGIT_OF = np.full(256, _NO_DIGIT, dtype=np.uint8)
_DIGIT_OF[np.frombuffer(_ALPHABET, dtype=np.uint8)] = np.arange(64)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPacking:
    """How the reports of one channel are written."""

    size: int
    """N, the items that may be named."""
    subset_size: int
    """d, how many are."""

    @classmethod
    def of(cls, channel: SubsetChannel) -> "ItemPacking":
        """Return the form of this channel's reports."""
        return cls(size=channel.size, subset_size=channel.subset_size)

    @property
    def bits_per_item(self) -> int:
        """The bits of a number in the list form."""
        return (self.size - 1).bit_length()

    @property
    def is_bitmap(self) -> bool:
        """Whether the bitmap is the shorter form."""
        return _whole_bytes(self.size) < _whole_bytes(self.subset_size * self.bits_per_item)

    @property
    def length(self) -> int:
        """The bytes of every report."""
        return _whole_bytes(self.size if self.is_bitmap else self.subset_size * self.bits_per_item)

    @property
    def text_length(self) -> int:
        """The letters of every report in JSON."""
        return (4 * self.length + 2) // 3

    def pack(self, named: BoolArray) -> ByteArray:
        """Write many reports, given as a table of who (row) names what (column)."""
        if self.is_bitmap:
            return np.packbits(named, axis=1)
        items = np.nonzero(named)[1].reshape(len(named), self.subset_size)
        places = np.arange(self.bits_per_item)[::-1]
        bits = (items[:, :, np.newaxis] >> places & 1).astype(np.bool_)
        return np.packbits(bits.reshape(len(named), self.subset_size * len(places)), axis=1)

    def counts(self, reports: ByteArray) -> IntArray | None:
        """Count by item what many reports name; None if one of them breaks a rule."""
        bits: ByteArray = np.unpackbits(reports, axis=1)
        return self._bitmap_counts(bits) if self.is_bitmap else self._list_counts(bits)

    def _bitmap_counts(self, bits: ByteArray) -> IntArray | None:
        fills, named = bits[:, self.size :], bits[:, : self.size]
        if fills.any() or np.any(named.sum(axis=1, dtype=np.int64) != self.subset_size):
            return None
        counts: IntArray = named.sum(axis=0, dtype=np.int64)
        return counts

    def _list_counts(self, bits: ByteArray) -> IntArray | None:
        used = self.subset_size * self.bits_per_item
        digits = bits[:, :used].reshape(len(bits), self.subset_size, self.bits_per_item)
        items = np.zeros(digits.shape[:2], dtype=np.int64)
        for place in range(self.bits_per_item):
            items = 2 * items + digits[:, :, place]
        is_ordered = np.all(np.diff(items, axis=1) > 0)
        if bits[:, used:].any() or not is_ordered or np.any(items >= self.size):
            return None
        return np.bincount(items.ravel(), minlength=self.size)

    def table(self, items: tuple[int, ...]) -> BoolArray:
        """Return one report as a table of one row."""
        named = np.zeros((1, self.size), dtype=np.bool_)
        named[0, list(items)] = True
        return named


def to_text(report: bytes) -> str:
    """Write one report's bytes for JSON."""
    return base64.urlsafe_b64encode(report).rstrip(b"=").decode()


def from_texts(letters: ByteArray, length: int) -> ByteArray | None:
    """Read reports of ``length`` bytes from their letters, a row each; None if one is not such."""
    digits = _DIGIT_OF[letters]
    if np.any(digits == _NO_DIGIT):
        return None
    bits = np.unpackbits(digits[:, :, np.newaxis], axis=2)[:, :, 2:].reshape(len(digits), -1)
    if bits[:, 8 * length :].any():  # another spelling of the same bytes
        return None
    return np.packbits(bits[:, : 8 * length], axis=1)


def _whole_bytes(bits: int) -> int:
    return (bits + 7) // 8
