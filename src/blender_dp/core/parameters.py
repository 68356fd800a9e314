"""Inputs of BLENDER (Fig. 2, ``fig:server-alg``), checked once, here."""

import math
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Literal, get_args

from blender_dp.core.errors import ParameterError, is_number

Preset = Literal["sharp", "paper"]
"""Names of the presets; :mod:`blender_dp.core.blender` has their steps."""

ListOf = Literal["records", "queries", "auto"]
"""What discovery lists: records, queries without URLs, or the one that a noisy number chooses."""

KNOBS: dict[Preset, tuple[str, ...]] = {
    "sharp": ("one_record_each", "list_of", "estimation_share"),
    "paper": (
        *("head_list_user_fraction", "query_budget_fraction"),
        *("records_per_optin_user", "records_per_client", "project"),
    ),
}
"""The parameters that only one preset has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Promise to every user, and tuning parameters that trade one kind of accuracy for another.

    Only ε and δ are required. The tuning parameters of the paper have the defaults of its Fig. 11
    (``table:parameters``).
    """

    epsilon: float
    """ε, the bound on every user's privacy loss, in either group; smaller is more private."""
    delta: float
    """δ, the probability that a user's loss may exceed it, such as 1e-5."""
    head_list_size: int | None = None
    """M, the most queries that the final head list keeps; all that were found if left out."""
    preset: Preset = "sharp"
    """Variants of the five steps: sharp, or paper, the algorithm as printed."""
    one_record_each: bool = False
    """Declare that no user has more than one record; nothing is spent to find out (sharp)."""
    list_of: ListOf = "records"
    """List records, or queries without URLs; auto spends 0.005 ε to choose (sharp)."""
    estimation_share: float | None = None
    """η, the opt-in users' share of ε for the sums; by the numbers of users if left out (sharp)."""
    head_list_user_fraction: float = 0.95
    """f_O, the share of the opt-in users whose records find the head list (paper)."""
    query_budget_fraction: float = 0.85
    """f_C, the share of a client's ε and δ that is spent on the query (paper)."""
    records_per_optin_user: int = 1
    """m_O, the records per opt-in user; a missing one counts as an unlisted record (paper)."""
    records_per_client: int = 1
    """m_C, the records each client reports, on one budget; 1 did best (section 4.3; paper)."""
    project: bool = True
    """Project the released probabilities onto the simplex: none negative, a sum of one (paper)."""

    def __post_init__(self) -> None:
        # Each range is written as "not inside", so that NaN fails too.
        if not (is_number(self.epsilon) and 0 < self.epsilon < math.inf):
            raise ParameterError("epsilon", "a finite number above 0", self.epsilon)
        if not (is_number(self.delta) and 0 < self.delta < 1):
            raise ParameterError(
                "delta",
                "strictly between 0 and 1 (with 0 no record could ever enter the head list)",
                self.delta,
            )
        if self.preset not in get_args(Preset):
            raise ParameterError("preset", f"one of {', '.join(get_args(Preset))}", self.preset)
        if self.list_of not in get_args(ListOf):
            raise ParameterError("list_of", f"one of {', '.join(get_args(ListOf))}", self.list_of)
        for name in ("head_list_user_fraction", "query_budget_fraction"):
            if not (is_number(getattr(self, name)) and 0 < getattr(self, name) < 1):
                raise ParameterError(name, "strictly between 0 and 1", getattr(self, name))
        share = self.estimation_share
        if share is not None and not (is_number(share) and 0.01 <= share <= 0.9):
            raise ParameterError("estimation_share", "from 0.01 to 0.9", share)
        for name in ("records_per_optin_user", "records_per_client"):
            _require_count(name, getattr(self, name))
        if self.head_list_size is not None:
            _require_count("head_list_size", self.head_list_size)
        self._require_own_knobs()

    def _require_own_knobs(self) -> None:
        """Refuse a parameter that the preset does not have: it would have no effect."""
        owners = {name: preset for preset, names in KNOBS.items() for name in names}
        for field in fields(self):
            owner, value = owners.get(field.name, self.preset), getattr(self, field.name)
            if owner != self.preset and value != field.default:
                raise ParameterError(field.name, f"left out, unless the preset is {owner}", value)

    @property
    def laplace_scale(self) -> Fraction:
        """b_S = b_T = 2 m_O/ε (Fig. 3 line 6, Fig. 4 line 9), in counts.

        A changed user removes up to m_O counts in one place and adds as many in another.
        """
        return 2 * self.records_per_optin_user / exact(self.epsilon)

    def document(self) -> dict[str, object]:
        """Return every parameter by name, for documents.

        What is younger than the first documents is left out at its default: they stay as they are.
        """
        values = asdict(self)
        for name, default in (("list_of", "records"), ("estimation_share", None)):
            if values[name] == default:
                del values[name]
        return values


def delta_warning(delta: float, users: int) -> str | None:
    """Return why δ is large for a number of users, or None if it is not.

    δ allows a mechanism that publishes all data of one user with probability δ. This happens to one
    of n users with a probability of up to n·δ, so δ should be at most 1/(10·n).
    """
    if users < 1 or exact(delta) * 10 * users <= 1:
        return None
    return (
        f"δ = {delta:g} is large for {users:,} users. It allows that some user is exposed with a "
        f"probability of up to {min(1, delta * users):.2g}; choose at most "
        f"1/(10·users) = {1 / (10 * users):.2g}."
    )


def _require_count(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ParameterError(name, "a whole number, at least 1", value)


def exact(number: float) -> Fraction:
    """Return the number a person wrote, exactly: 0.1 is one tenth, not the nearest double.

    >>> exact(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(float(number)))
