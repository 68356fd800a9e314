"""Typing errors: finds entries whose beginning differs from the typed text by one error.

An error (slip) is a letter too many, a letter missing, a wrong letter, or two neighbours exchanged
(Damerau, 1964). It may be assumed to be where the typed text and the right one first differ. So
only letters that follow the correct part in some entry are tried, and no table of misspellings is
needed.
"""

from collections.abc import Iterator

from blender_dp.local_search.index import PrefixIndex, Run

FEWEST_LETTERS = 3
"""Shortest text that is corrected; shorter ones match too many entries after one slip."""


def runs_one_slip_away(index: PrefixIndex, typed: str) -> list[Run]:
    """Return the entries that start with ``typed``, folded, up to one slip."""
    if len(typed.strip()) < FEWEST_LETTERS:
        return []
    return [run for text in _corrections(index, typed) if (run := index.run(text))[0] < run[1]]


def _corrections(index: PrefixIndex, typed: str) -> Iterator[str]:
    """Yield possible corrections; stop where no entry begins with the part before the slip."""
    for at in range(len(typed)):
        before, after = typed[:at], typed[at + 1 :]
        first, last = index.run(before)
        if first == last:
            return
        yield before + after
        if after:
            yield before + after[0] + typed[at] + after[1:]
        for letter in _letters(index, at, first, last):
            yield before + letter + after
            yield before + letter + typed[at:]


def _letters(index: PrefixIndex, at: int, first: int, last: int) -> Iterator[str]:
    """Yield the different letters at one place of these entries."""
    while first < last:
        entry = index.entries[first]
        if at < len(entry):
            yield entry[at]
        first = max(first + 1, index.run(entry[: at + 1])[1])
