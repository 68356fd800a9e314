"""Budget of an opt-in user in the ``sharp`` preset: the share of (ε, δ) of each release.

The paper divides the users: some find the list, others are counted, each at the full ε. Here every
opt-in user takes part in both, so the budget is divided instead. The releases are: the noisy scalar
that chooses the branch, perhaps one that chooses what is listed, the discovery values, the sums
over cells, and two scalars about how concentrated users' records are. Computing any of them a
second time spends again.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Literal

from blender_dp.core.parameters import KNOBS, Parameters, exact

Branch = Literal["laplace", "gauss"]
"""Branch of discovery: one record per user and Laplace noise, or many and Gaussian noise."""

ESTIMATION_SHARE = Fraction(15, 100)
"""η, the share of the budget for the sums over cells, unless the parameters name another."""
RELAY_ESTIMATION_SHARE = Fraction(5, 100)
"""η if relay clients, who name one cell almost exactly, make the sums nearly superfluous."""
ENOUGH_RELAY_CLIENTS = 1
"""Number of relay clients per opt-in user from which that is so: benchmarks/shares.md."""
SCALAR_SHARE = Fraction(1, 100)
"""Share of the budget for the choice of the branch, and of the rest for the two scalars."""
MOST_RECORDS = 32
"""m, the most distinct records of a user that count in the Gaussian branch."""
MOST_CANDIDATES = 3_000
"""K_max, the most records that discovery keeps: those of the largest values."""


def with_usual_share(
    parameters: Parameters, *, opt_in_users: int, relay_clients: int
) -> Parameters:
    """Return the parameters with η by the public numbers of users, unless they name one.

    It is left out where it is :data:`ESTIMATION_SHARE`.
    """
    has_share = "estimation_share" in KNOBS[parameters.preset]
    is_open = has_share and parameters.estimation_share is None
    if not is_open or relay_clients < ENOUGH_RELAY_CLIENTS * opt_in_users:
        return parameters
    return replace(parameters, estimation_share=float(RELAY_ESTIMATION_SHARE))


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
    estimation_share: Fraction = ESTIMATION_SHARE
    """η, the part of e for the sums over cells."""

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
            estimation_share=ESTIMATION_SHARE
            if parameters.estimation_share is None
            else exact(parameters.estimation_share),
        )

    @property
    def discovery_epsilon(self) -> Fraction:
        """e₁ = (1 - η - s)e, for discovery in the Laplace branch."""
        return (1 - self.estimation_share - self.scalar_share) * self.rest

    @property
    def estimation_epsilon(self) -> Fraction:
        """η·e, for the sums in the Laplace branch."""
        return self.estimation_share * self.rest

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
