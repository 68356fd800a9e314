"""Certificate: the exact privacy cost of one head list or result for every group.

Each group of users has an account: the promise, and the cost of each release that uses their data.
Every number follows from a head list and public parameters, by fractions that are rounded to the
unfavourable side. So anybody can compute it again: the client channel by enumeration, discovery
over all swaps, noise against sensitivity, and the sum by composition.

It cannot show that the program that ran is this one. :mod:`blender_dp.audit` attacks
the running code instead.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf
from typing import TypeVar

from blender_dp.core.errors import BrokenPromiseError

Constant = int | Fraction
_STEPS = 1 << 30
"""Resolution of the search for the tight ε: 1/2^30 of the promise."""
_FARTHEST = 64
"""The search for the tight ε ends at 64 times the promise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One release: its share of the promise, and its cost."""

    release: str
    method: str
    """Sentence that says how the two numbers were computed."""
    promised_epsilon: Fraction
    promised_delta: Fraction
    epsilon: Fraction | None
    """The least ε at the promised δ, rounded up; None if far above the promise."""
    delta: Fraction
    """The least δ at the promised ε, rounded up."""
    is_tight: bool
    """Whether the numbers are the smallest possible, up to rounding; else they are upper bounds."""
    constants: Mapping[str, Constant]
    """Exact constants from which the numbers were computed."""
    add_remove_epsilon: Fraction | None = None
    """The least ε at the promised δ if a user's data are added or removed, rounded up; None if it
    is that of a swap."""

    @property
    def epsilon_of_presence(self) -> Fraction | None:
        """The least ε if a user's data are added or removed instead of exchanged."""
        return self.epsilon if self.add_remove_epsilon is None else self.add_remove_epsilon

    @property
    def is_kept(self) -> bool:
        """Whether the release stays within its share."""
        return self.delta <= self.promised_delta


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Privacy cost of all releases for one group of users."""

    to: str
    """Group of users."""
    model: str
    """Trust model, such as local."""
    promised_epsilon: Fraction
    promised_delta: Fraction
    parts: tuple[Part, ...]
    """All releases that their data went into."""

    @property
    def epsilon(self) -> Fraction:
        """Sum of the parts' ε: basic composition."""
        return sum((part.promised_epsilon for part in self.parts), Fraction(0))

    @property
    def delta(self) -> Fraction:
        """Sum of the parts' δ at those ε."""
        return sum((part.delta for part in self.parts), Fraction(0))

    @property
    def tight_epsilon(self) -> Fraction | None:
        """Sum of the parts' tight ε at their share of δ; None if far above the promise."""
        spent = [part.epsilon for part in self.parts]
        return None if None in spent else sum(filter(None, spent), Fraction(0))

    @property
    def add_remove_epsilon(self) -> Fraction | None:
        """The same if a user's data are added or removed; None if far above the promise."""
        spent = [part.epsilon_of_presence for part in self.parts]
        return None if None in spent else sum(filter(None, spent), Fraction(0))

    @property
    def is_kept(self) -> bool:
        """Whether all parts together stay within the promise."""
        return self.epsilon <= self.promised_epsilon and self.delta <= self.promised_delta


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The accounts of every group."""

    accounts: tuple[Account, ...]

    @property
    def is_kept(self) -> bool:
        """Whether every promise is kept."""
        return all(account.is_kept for account in self.accounts)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.sentence}>"

    @property
    def sentence(self) -> str:
        """Return the verdict as a sentence."""
        broken = [account for account in self.accounts if not account.is_kept]
        if not broken:
            return "Every promise is kept."
        worst = broken[0]
        tight = worst.tight_epsilon
        needed = "far more" if tight is None else f"ε = {float(tight):.6g}"
        return (
            f"The promise to {worst.to} is broken: it was ε = {float(worst.promised_epsilon):g} "
            f"and δ = {float(worst.promised_delta):g}, but with this δ the release needs {needed}."
        )


AnyCertificate = TypeVar("AnyCertificate", bound=Certificate)


def require_kept(certificate: AnyCertificate) -> AnyCertificate:
    """Raise if a promise would be broken."""
    if not certificate.is_kept:
        raise BrokenPromiseError(certificate.sentence)
    return certificate


def least_epsilon(
    delta_at: Callable[[Fraction], Fraction],
    delta: Fraction,
    promised: Fraction,
    *,
    steps: int = _STEPS,
    near: float = inf,
) -> Fraction | None:
    """Return the least ε with δ(ε) ≤ ``delta``, rounded up; None if far above the promised one.

    Args:
        delta_at: δ as a function of ε, falling.
        delta: The bound on it.
        promised: The promised ε; the answer is a multiple of a part of it.
        steps: Number of these parts.
        near: Where the search begins, if that is below the promise; the answer is the same.
    """
    high = max(1, ceil(min(near / float(promised), 1.0) * steps))
    while delta_at(promised * high / steps) > delta:
        high *= 2
        if high > _FARTHEST * steps:
            return None
    # Most plans need nearly all of their promise, so the steps down from there begin small.
    low, stride = high - 1, 1
    while low >= 0 and delta_at(promised * low / steps) <= delta:
        high, stride = low, 2 * stride
        low = max(high - stride, -1)  # one step below 0, which may be the answer
    while high - low > 1:
        middle = (low + high) // 2
        if delta_at(promised * middle / steps) <= delta:
            high = middle
        else:
            low = middle
    return promised * high / steps
