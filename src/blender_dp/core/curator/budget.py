"""Budget of an opt-in user in the ``sharp`` preset: the share of (ε, δ) of each release.

The paper divides the users: some find the list, others are counted, each at the full ε. Here every
opt-in user takes part in both, so the budget is divided instead. The releases are: the noisy scalar
that chooses the branch, perhaps one that chooses what is listed, the discovery values, the sums
over cells, and two scalars about how concentrated users' records are. Computing any of them a
second time spends again.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Literal

from blender_dp.core.parameters import Parameters, exact

Branch = Literal["laplace", "gauss"]
"""Branch of discovery: one record per user and Laplace noise, or many and Gaussian noise."""

ESTIMATION_SHARE = Fraction(15, 100)
"""η, the share of the budget for the sums over cells."""
SCALAR_SHARE = Fraction(1, 100)
"""Share of the budget for the choice of the branch, and of the rest for the two scalars."""
MOST_RECORDS = 32
"""m, the most distinct records of a user that count in the Gaussian branch."""
MOST_CANDIDATES = 3_000
"""K_max, the most records that discovery keeps: those of the largest values."""


class Release(StrEnum):
    """Releases of the opt-in users' data; the value is the name in a certificate."""

    LIST = "choice of the list"
    BRANCH = "choice of the branch"
    DISCOVERY = "discovery"
    SUMS = "sums"
    SCALARS = "scalars"
    GAUSSIAN = "discovery, sums and scalars together"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """One line of the ledger."""

    release: Release
    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Budget of each release."""

    branch_epsilon: Fraction
    """ε of the scalar that chooses the branch; 0 if the campaign declares one record per user."""
    list_epsilon: Fraction
    """ε of the number that chooses between records and queries; 0 if that is declared."""
    rest: Fraction
    """e = ε minus that, for everything else."""
    scalar_share: Fraction
    """s, the part of e for the two concentration scalars; 0 if they are known to be 1."""
    delta: Fraction

    @classmethod
    def of(cls, parameters: Parameters) -> "Budget":
        """Divide the promise of ``parameters``."""
        epsilon, delta = exact(parameters.epsilon), exact(parameters.delta)
        share = Fraction(0) if parameters.one_record_each else SCALAR_SHARE
        # The choice of the list takes half of the branch's share, or as much of its own.
        of_list = SCALAR_SHARE / 2 if parameters.list_of == "auto" else Fraction(0)
        of_branch = share - of_list if share else share
        return cls(
            branch_epsilon=of_branch * epsilon,
            list_epsilon=of_list * epsilon,
            rest=(1 - of_branch - of_list) * epsilon,
            scalar_share=share,
            delta=delta,
        )

    @property
    def discovery_epsilon(self) -> Fraction:
        """e₁ = (1 - η - s)e, for discovery in the Laplace branch."""
        return (1 - ESTIMATION_SHARE - self.scalar_share) * self.rest

    @property
    def estimation_epsilon(self) -> Fraction:
        """η·e, for the sums in the Laplace branch."""
        return ESTIMATION_SHARE * self.rest

    @property
    def scalar_epsilon(self) -> Fraction:
        """s·e, for the two scalars in the Laplace branch."""
        return self.scalar_share * self.rest

    def ledger(self, branch: Branch) -> list[Spending]:
        """Return every release with its cost; the lines add up to (ε, δ)."""
        nothing = Fraction(0)
        lines = [
            (Release.LIST, self.list_epsilon, nothing),
            (Release.BRANCH, self.branch_epsilon, nothing),
        ]
        if branch == "gauss":
            lines.append((Release.GAUSSIAN, self.rest, self.delta))
        else:
            lines += [
                (Release.DISCOVERY, self.discovery_epsilon, self.delta),
                (Release.SUMS, self.estimation_epsilon, nothing),
                (Release.SCALARS, self.scalar_epsilon, nothing),
            ]
        return [
            Spending(release=release, epsilon=epsilon, delta=delta)
            for release, epsilon, delta in lines
            if epsilon > 0
        ]
