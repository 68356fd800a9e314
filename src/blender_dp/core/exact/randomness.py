"""Randomness: one AES-CTR keystream, keyed by the system or by a seed.

Privacy: a secure source is keyed with 256 fresh bits of the operating system's generator; nobody
can distinguish its output from uniform bits without breaking AES-256. Noise is drawn
from it by integer comparisons only. A keyed source has a secret of the caller: its output can be
repeated with that secret, and is as unpredictable as a secure one without it. A seeded
source is the same code with a known key, for experiments that must repeat; its ``is_private`` is
false.
"""

import hashlib
import os
from numbers import Integral
from threading import Lock
from typing import NoReturn, Self
from weakref import WeakSet

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

from blender_dp.core.errors import BrokenInvariantError, ParameterError
from blender_dp.core.head_list.cells import IntArray

WordArray = npt.NDArray[np.uint64]
HalfWordArray = npt.NDArray[np.uint32]

_BUFFER_BYTES = 1 << 14
_SECRET_BYTES = 32
_ZEROS = bytes(1 << 16)
_HALF_WORDS = 1 << 14
"""Words of 32 bits drawn at once: they stay in the processor's cache."""


class Randomness:
    """A source of uniform bits; make one with :meth:`secure`, :meth:`keyed` or :meth:`seeded`."""

    __slots__ = ("__weakref__", "_buffer", "_encryptor", "_lock", "_next", "is_private")

    def __init__(self, key: bytes, *, is_private: bool) -> None:
        self.is_private = is_private
        self._buffer: bytes = b""
        self._next: int = 0
        self._rekey(key)
        if is_private:
            _secure_sources.add(self)

    @classmethod
    def secure(cls) -> Self:
        """Return a source for anything that is released."""
        return cls(os.urandom(_SECRET_BYTES), is_private=True)

    @classmethod
    def keyed(cls, secret: bytes) -> "Randomness":
        """Return a source that gives the same output for the same secret of 32 random bytes.

        For a release that may be computed twice and must be equal. Every computation needs its own
        secret: shared noise would cancel out.
        """
        if len(secret) != _SECRET_BYTES:
            raise BrokenInvariantError(f"a secret must have {_SECRET_BYTES} bytes")
        return cls(secret, is_private=True)

    @classmethod
    def seeded(cls, seed: int) -> "Randomness":
        """Return a source that gives the same output for the same seed; results are not private."""
        if not isinstance(seed, Integral):
            raise ParameterError("seed", "a whole number", seed)
        return cls(hashlib.sha256(f"blender-dp seed {seed}".encode()).digest(), is_private=False)

    def draw_bytes(self, count: int) -> bytes:
        """Return ``count`` uniform bytes; no other thread gets the same bytes."""
        with self._lock:
            if count > _BUFFER_BYTES:
                return self._keystream(count)
            if self._next + count > len(self._buffer):
                self._buffer, self._next = self._keystream(_BUFFER_BYTES), 0
            start, self._next = self._next, self._next + count
            return self._buffer[start : self._next]

    def bits(self, count: int) -> int:
        """Return an integer of ``count`` uniform bits."""
        whole = (count + 7) // 8
        return int.from_bytes(self.draw_bytes(whole)) >> (8 * whole - count)

    def below(self, bound: int) -> int:
        """Return a uniform integer from 0 to ``bound`` - 1, by rejection."""
        if bound < 1:
            raise BrokenInvariantError("nothing can be drawn below 1")
        width = (bound - 1).bit_length()
        while (draw := self.bits(width)) >= bound:
            pass
        return draw

    def words(self, count: int) -> WordArray:
        """Return ``count`` uniform 64-bit words."""
        return np.frombuffer(self.draw_bytes(8 * count), dtype=np.uint64)

    def half_words(self, count: int) -> HalfWordArray:
        """Return ``count`` uniform 32-bit words."""
        return np.frombuffer(self.draw_bytes(4 * count), dtype=np.uint32)

    def below_each(self, bounds: IntArray) -> IntArray:
        """Return one uniform integer below each bound, by rejection."""
        moduli = bounds.astype(np.uint64)
        draws = self.words(len(moduli))
        # The top 2^64 mod m values would be drawn once too often: draw those again. They lie
        # among the top m values, so one comparison is nearly always enough.
        suspects = np.flatnonzero(draws > ~moduli)
        if suspects.size:
            m = moduli[suspects]
            again = suspects[draws[suspects] > ~((np.uint64(0) - m) % m)]
            if again.size:
                draws = draws.copy()
                draws[again] = self.below_each(bounds[again]).view(np.uint64)
        return (draws % moduli).view(np.int64)

    def below_many(self, bound: int, count: int) -> IntArray:
        """Return ``count`` uniform integers below one bound, by rejection.

        The same draws as :meth:`below_each`, in less time: dividing by one number is a product.

        Exact: a word above 2^64 - 1 - r is drawn again, where r = 2^64 mod ``bound``. The 2^64 - r
        words that are kept are a multiple of ``bound``, so each remainder has equally many of them.
        A power of two has r = 0: no word is above 2^64 - 1, and none is drawn again.
        """
        if bound < 1:
            raise BrokenInvariantError("nothing can be drawn below 1")
        modulus, draws = np.uint64(bound), self.words(count)
        again = np.flatnonzero(draws > np.uint64(2**64 - 1 - 2**64 % bound))
        if again.size:
            draws = draws.copy()
            draws[again] = self.below_many(bound, again.size).view(np.uint64)
        whole = draws // modulus
        whole *= modulus
        rest: WordArray = np.subtract(draws, whole, out=whole)
        return rest.view(np.int64)

    def small_below_many(self, bound: int, count: int) -> HalfWordArray:
        """Return ``count`` uniform integers below one bound, by rejection of 32-bit words.

        Other draws than :meth:`below_many`, in less time.

        Exact: let q = 2^32 // ``bound``. Of the first q * ``bound`` words, q each have a quotient
        word // q of 0, 1 .. ``bound`` - 1. The other words have a larger one and are drawn again.
        """
        if not 2 <= bound < 2**32:
            raise BrokenInvariantError("words of 32 bits need a bound of 2 or more, below 2^32")
        divisor, draws = np.uint32(2**32 // bound), np.empty(count, dtype=np.uint32)
        for start in range(0, count, _HALF_WORDS):
            some = draws[start : start + _HALF_WORDS]
            np.floor_divide(self.half_words(len(some)), divisor, out=some)
        if count and draws.max() >= bound:
            again = np.flatnonzero(draws >= bound)
            draws[again] = self.small_below_many(bound, again.size)
        return draws

    def choose(self, count: int, among: int) -> IntArray:
        """Return a uniform ``count``-subset of 0 .. ``among`` - 1, increasing."""
        if not 0 <= count <= among:
            raise BrokenInvariantError("no more can be chosen than there is")
        if 2 * count > among:
            left_out = self.choose(among - count, among)
            return np.delete(np.arange(among), left_out)
        chosen = np.empty(0, dtype=np.int64)
        while len(chosen) < count:
            missing = count - len(chosen)
            draws = self.below_many(among, missing + missing // 2 + 8)
            # Drawn one after the other, repetitions skipped: every subset is equally likely.
            ordered = np.concatenate([chosen, draws])
            _, first = np.unique(ordered, return_index=True)
            chosen = ordered[np.sort(first)][:count]
        return np.sort(chosen)

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied or pickled: the same noise twice would cancel out."""
        raise TypeError("a source of randomness cannot be copied")

    def _rekey(self, key: bytes) -> None:
        self._lock = Lock()  # a new lock: after a fork the old one may stay locked
        self._encryptor = Cipher(AES(key), CTR(bytes(16))).encryptor()
        self._buffer, self._next = b"", 0

    def _keystream(self, count: int) -> bytes:
        zeros = _ZEROS[:count] if count <= len(_ZEROS) else bytes(count)
        return self._encryptor.update(zeros)


_secure_sources: WeakSet[Randomness] = WeakSet()


def _rekey_after_fork() -> None:
    """Give a forked child its own random bits: the same noise twice would cancel out."""
    for source in _secure_sources:
        source._rekey(os.urandom(_SECRET_BYTES))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_rekey_after_fork)
