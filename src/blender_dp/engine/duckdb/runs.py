"""Runs of equal values that follow one another in an array."""

import numpy as np

from blender_dp.core.head_list.cells import IntArray
from blender_dp.engine.duckdb.number_file import UInt32Array


def are_mostly_alone(values: UInt32Array | IntArray) -> bool:
    """Return whether most values differ from the one before."""
    return bool(2 * np.count_nonzero(values[1:] != values[:-1]) > len(values))


def run_starts(values: UInt32Array | IntArray) -> IntArray:
    """Return the places of values that differ from the one before."""
    differs = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return np.flatnonzero(differs)


def lengths_from(starts: IntArray, end: int) -> IntArray:
    """Return the distance from each place to the next one, or to the end."""
    lengths = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=lengths[:-1])
    lengths[-1:] = end - starts[-1:]
    return lengths
