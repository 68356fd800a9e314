"""Search for the exchange of a user that needs the most δ, without looking at every one.

An exchange is a pair of holdings on a front, from which no other holding differs by more in both of
its numbers: the first falls along the front, the second rises. A range of holdings on either side
has a bound: its worse ends. Only the ranges with the largest bounds are divided further.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Protocol, TypeVar


class _Comparable(Protocol):
    """A number that is exact or not."""

    def __neg__(self: "_Number") -> "_Number": ...
    def __lt__(self: "_Number", other: "_Number", /) -> bool: ...


_Number = TypeVar("_Number", bound=_Comparable)


def worst_exchange(
    bound: Callable[[range, range], _Number], count: int
) -> tuple[_Number, int, int]:
    """Return the largest δ and its two places on the front.

    Args:
        bound: δ of two ranges at their worse ends; of two single holdings, their δ itself.
        count: Number of holdings on the front.
    """
    every = range(count)
    ranges = [(-bound(every, every), 0, 0, every, every)]
    while True:
        negative, _, _, before, after = heappop(ranges)
        if len(before) == len(after) == 1:
            return -negative, before[0], after[0]
        if len(before) >= len(after):
            pairs = [(part, after) for part in parts(before, every[-1])]
        else:
            pairs = [(before, part) for part in parts(after, every[-1])]
        for first, second in pairs:
            heappush(ranges, (-bound(first, second), first[0], second[0], first, second))


def parts(one: range, last: int) -> tuple[range, range]:
    """Divide a range: first the two ends of the front apart, where the worst exchanges are."""
    if one[0] == 0:
        return one[:1], one[1:]
    middle = len(one) - 1 if one[-1] == last else len(one) // 2
    return one[:middle], one[middle:]
