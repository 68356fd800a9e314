"""Discovery: the candidates of CreateHeadList, and in ``sharp`` their released values."""

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import cast

import numpy as np

from blender_dp.core.curator.budget import MOST_RECORDS, Branch, Budget
from blender_dp.core.curator.plans import count_plan, weight_plan
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import HeadList

GAUSS_ADVANTAGE = 1.0
"""The Gaussian branch is taken if its threshold, for an average user, is below this share of the
Laplace threshold. At this share both list about equally many records. The Gaussian branch, which
uses all records of a user, estimates them better: benchmarks/shares.md."""
FORMER_GAUSS_ADVANTAGE = 0.77
"""The same for documents that do not name their branch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchChoice:
    """Branch of discovery that was taken, and the public numbers that decided it."""

    branch: Branch
    weight_sum: int | None
    """The noisy sum of users' weights, in lattice units; None if one record is declared."""
    average_weight: float
    """G, the total weight of an average user in the Gaussian branch, in records."""
    gauss_threshold: float
    """Threshold of a record's weight in the Gaussian branch."""
    laplace_threshold: float
    """Count that passes in the Laplace branch with probability one half."""

    @property
    def reason(self) -> str:
        """Return the reason for the branch as a sentence."""
        if self.weight_sum is None:
            return "One record per user was declared: counts with Laplace noise."
        taken = (
            "Many records per user, Gaussian noise"
            if self.branch == "gauss"
            else "One record per user, Laplace noise"
        )
        return (
            f"{taken}. With many records per user, the average user has a weight of "
            f"{self.average_weight:.2f} and the threshold is {self.gauss_threshold:.1f}. With one "
            f"record per user, the threshold is {self.laplace_threshold:.1f}."
        )


def branch_of(
    weight_sum: int | None, users: int, budget: Budget, *, is_former: bool = False
) -> BranchChoice:
    """Return the branch that follows from a released scalar, or the declared one: a public rule."""
    advantage = FORMER_GAUSS_ADVANTAGE if is_former else GAUSS_ADVANTAGE
    half = count_plan(budget).half
    average, threshold, branch = 1.0, inf, "laplace"
    if weight_sum is not None:
        average = max(sqrt(MOST_RECORDS) * weight_sum / (UNIT * users), 1.0)
        threshold = weight_plan(budget).threshold / UNIT
        branch = "gauss" if threshold / average < advantage * half else "laplace"
    return BranchChoice(
        branch=cast("Branch", branch),
        weight_sum=weight_sum,
        average_weight=average,
        gauss_threshold=threshold,
        laplace_threshold=half,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Discovery:
    """The candidates (the paper's HL_S)."""

    head_list: HeadList
    values: IntArray | None = None
    """Released value of every listed record, in the order of cells; None in ``paper``."""
    choice: BranchChoice | None = None
    known: IntArray | None = None
    """:class:`KnownFrom` of each listed record; None if nothing was known."""
    coverage_gap: int | None = None
    """The noisy number that chose between records and queries; None if that was declared."""

    def keeping(self, most_records: int) -> "Discovery":
        """Return the candidates with the largest values, at most ``most``; ties by byte order."""
        if self.values is None or len(self.values) <= most_records:
            return self
        kept = np.sort(np.argsort(-self.values, kind="stable")[:most_records])
        found = self.head_list.discovered()
        fewer = HeadList.of(
            [found[i] for i in kept],
            mechanism=self.head_list.mechanism,
            private=self.head_list.private,
            of_queries=self.head_list.is_of_queries,
        )
        known = None if self.known is None else self.known[kept]
        return replace(self, head_list=fewer, values=self.values[kept], known=known)
