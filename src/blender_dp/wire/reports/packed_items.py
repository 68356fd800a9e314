"""Items of a report as bytes: always the same number of bytes for one list and ε.

There are two forms. The shorter one is used (the list, if both are equally long). The number of
items and the number of named items decide it, so that a report need not state its form and its
length reveals nothing:

- a list: the numbers in increasing order, each in as many bits as the largest possible number
  needs, highest bit first, one after the other; zeros fill the last byte;
- a bitmap: one bit per item, beginning with the highest bit of the first byte; zeros fill the last
  byte.

In JSON the bytes are base64url without padding (RFC 4648, section 5).
"""

import binascii
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import lt

import numpy as np
import numpy.typing as npt

from blender_dp.core.channels.channel import Channel
from blender_dp.core.head_list.cells import BoolArray, IntArray

ByteArray = npt.NDArray[np.uint8]

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_TO_PLAIN, _FROM_PLAIN = bytes.maketrans(b"-_", b"+/"), bytes.maketrans(b"+/", b"-_")
_ZERO = "A"
"""Letter for six zero bits."""
_FEW = 64
"""Largest number of items of a single report for which reading one by one is faster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPacking:
    """Layout of the packed reports of one channel."""

    size: int
    """N, the number of items that may be named."""
    subset_size: int
    """d, the number of items that are named."""
    bits_per_item: int = field(init=False)
    """Bits of a number in the list form."""
    is_bitmap: bool = field(init=False)
    """Whether the bitmap is the shorter form."""
    length: int = field(init=False)
    """Bytes of every report."""

    def __post_init__(self) -> None:
        """Choose the form."""
        bits = (self.size - 1).bit_length()
        as_list, as_bitmap = _whole_bytes(self.subset_size * bits), _whole_bytes(self.size)
        object.__setattr__(self, "bits_per_item", bits)
        object.__setattr__(self, "is_bitmap", as_bitmap < as_list)
        object.__setattr__(self, "length", min(as_list, as_bitmap))

    @classmethod
    def of(cls, channel: Channel) -> "ItemPacking":
        """Return the form of this channel's reports."""
        return cls(size=channel.size, subset_size=channel.subset_size)

    @property
    def text_length(self) -> int:
        """Letters of every report in JSON."""
        return (4 * self.length + 2) // 3

    def pack(self, named: BoolArray) -> ByteArray:
        """Write many reports, given as a table with one row per report and one column per item."""
        if self.is_bitmap:
            return np.packbits(named, axis=1)
        items = np.nonzero(named)[1].reshape(len(named), self.subset_size)
        places = np.arange(self.bits_per_item)[::-1]
        bits = (items[:, :, np.newaxis] >> places & 1).astype(np.bool_)
        return np.packbits(bits.reshape(len(named), self.subset_size * len(places)), axis=1)

    def counts(self, reports: ByteArray) -> IntArray | None:
        """Count how often many reports name each item; None if one of them breaks a rule."""
        if self.is_bitmap:
            return self._bitmap_counts(np.unpackbits(reports, axis=1))
        items = self.items(reports)
        return None if items is None else np.bincount(items.ravel(), minlength=self.size)

    def _bitmap_counts(self, bits: ByteArray) -> IntArray | None:
        fills, named = bits[:, self.size :], bits[:, : self.size]
        if fills.any() or np.any(named.sum(axis=1, dtype=np.int64) != self.subset_size):
            return None
        counts: IntArray = named.sum(axis=0, dtype=np.int64)
        return counts

    def items(self, reports: ByteArray) -> IntArray | None:
        """Return the items of many reports, one row per report; None if one breaks a rule."""
        items, is_valid = self.valid_items(reports)
        return items if is_valid.all() else None

    def valid_items(self, reports: ByteArray) -> tuple[IntArray, BoolArray]:
        """Return the items of the reports that break no rule, and which reports these are."""
        if not self.is_bitmap:
            items, is_sorted = self._list_items(reports)
            return items[is_sorted], is_sorted
        bits: ByteArray = np.unpackbits(reports, axis=1)
        fills, named = bits[:, self.size :], bits[:, : self.size].sum(axis=1, dtype=np.int64)
        is_valid: BoolArray = ~fills.any(axis=1) & (named == self.subset_size)
        return np.nonzero(bits[is_valid])[1].reshape(-1, self.subset_size), is_valid

    def items_of(self, report: bytes) -> Sequence[int] | None:
        """Return the items of one report; None if it breaks a rule."""
        if self.subset_size > _FEW and not self.is_bitmap:
            many = self.items(np.frombuffer(report, dtype=np.uint8).reshape(1, -1))
            return None if many is None else many[0].tolist()
        bits = 8 * self.length
        used = self.size if self.is_bitmap else self.subset_size * self.bits_per_item
        word = int.from_bytes(report)
        if word & ((1 << bits - used) - 1):
            return None
        if self.is_bitmap:
            named = np.flatnonzero(np.unpackbits(np.frombuffer(report, dtype=np.uint8)))
            return named.tolist() if len(named) == self.subset_size else None
        width = self.bits_per_item
        largest = (1 << width) - 1
        items = [
            word >> shift & largest for shift in range(bits - width, bits - used - 1, -width or -1)
        ][: self.subset_size]
        return items if all(map(lt, items, [*items[1:], self.size])) else None

    def _list_items(self, reports: ByteArray) -> tuple[IntArray, BoolArray]:
        """Return the items of every report, and which reports break no rule."""
        if not self.length:  # there is only one item, which needs no bits
            items = np.zeros((len(reports), self.subset_size), dtype=np.int64)
            return items, np.ones(len(reports), dtype=np.bool_)
        first, shift = _places(self.subset_size, self.bits_per_item)
        bytes_each = self.bits_per_item // 8 + 2  # at most, for one number
        padded = np.zeros((len(reports), self.length + bytes_each), dtype=np.int64)
        padded[:, : self.length] = reports
        items = padded[:, first]
        for after in range(1, bytes_each):
            items <<= 8
            items |= padded[:, first + after]
        items >>= shift
        items &= (1 << self.bits_per_item) - 1
        fill = 8 * self.length - self.subset_size * self.bits_per_item
        is_valid = (reports[:, -1] & ((1 << fill) - 1)) == 0
        is_valid &= (items[:, 1:] > items[:, :-1]).all(axis=1)
        is_valid &= items[:, -1] < self.size  # the largest, as they are sorted
        return items, is_valid


def table_of(items: Sequence[int], size: int) -> BoolArray:
    """Return one report as a table of one row."""
    named = np.zeros((1, size), dtype=np.bool_)
    named[0, list(items)] = True
    return named


def to_text(report: bytes) -> str:
    """Write one report's bytes for JSON."""
    return _letters(report).decode()


def _letters(report: bytes) -> bytes:
    return binascii.b2a_base64(report, newline=False).translate(_FROM_PLAIN, delete=b"=")


def from_texts(letters: ByteArray, length: int) -> ByteArray | None:
    """Read texts as rows of ``length`` bytes, one per report; None if one is invalid."""
    rows, each = letters.shape
    padded = np.full((rows, each + -each % 4), ord(_ZERO), dtype=np.uint8)
    padded[:, :each] = letters
    return _rows(padded.tobytes(), rows, length)


def _rows(letters: bytes, rows: int, length: int) -> ByteArray | None:
    """Read rows of letters, each filled with zeros to a multiple of four letters."""
    if letters.translate(None, delete=_ALPHABET):
        return None
    content = binascii.a2b_base64(letters.translate(_TO_PLAIN))
    table = np.frombuffer(content, dtype=np.uint8).reshape(rows, -1 if content else 0)
    if table[:, length:].any():  # not the canonical spelling of the bytes
        return None
    return table[:, :length]


@lru_cache(maxsize=64)
def _places(count: int, bits: int) -> tuple[IntArray, IntArray]:
    """Return the first byte of each number, and the number of bits after it.

    The bits are counted to the end of the bytes that a number may extend over.
    """
    start = bits * np.arange(count, dtype=np.int64)
    return start // 8, 8 * (bits // 8 + 2) - start % 8 - bits


def _whole_bytes(bits: int) -> int:
    return (bits + 7) // 8


def from_text(text: str, length: int) -> bytes | None:
    """Read ``length`` bytes from base64url; None if the text is not their canonical spelling."""
    if len(text) != (4 * length + 2) // 3:
        return None
    letters = text.encode()
    try:
        content = binascii.a2b_base64(letters.translate(_TO_PLAIN) + b"=" * (-len(letters) % 4))
    except ValueError:
        return None
    # The decoder skips invalid letters; only the canonical spelling is encoded to the same text.
    return content if _letters(content) == letters else None


def rows_of_texts(texts: Sequence[str], length: int) -> ByteArray | None:
    """Decode texts of equal length into one row of bytes each; None if a text is not canonical."""
    letters_each = (4 * length + 2) // 3
    if not set(map(len, texts)) <= {letters_each}:
        return None
    fill = _ZERO * (-letters_each % 4)
    joined = fill.join((*texts, ""))
    return _rows(joined.encode(), len(texts), length) if joined.isascii() else None


def pieces(packed: bytes, length: int) -> list[bytes]:
    """Split bytes into pieces of one length."""
    return [packed[start : start + length] for start in range(0, len(packed), length)]
