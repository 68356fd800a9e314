"""One result as the public is told about it: certified costs, and public numbers of people."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from blender_dp.core.certificate.certificate import Account
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.core.certificate.promises import RELAY_MODEL
from blender_dp.core.errors import BlenderError, NotPrivateError

_DIGITS = 6
GROUPS = {
    "opt_in_discovery": "opt-in users whose records found the list",
    "opt_in_estimation": "opt-in users whose records were counted",
    "opt_in": "opt-in users",
    "relay_clients": "relay clients",
    "clients": "clients",
}
"""First words of a group's account, by its name in the user counts of a release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosed:
    """A certificate that is kept, with what a release states about people."""

    certificate: ListCertificate
    created: str | None = None
    """Time of the release, in ISO 8601; None for a head list without a result."""
    users: Mapping[str, int] = field(default_factory=dict)
    """Sizes of the groups, as the release states them; empty without a result."""
    from_log: bool = False
    """Whether one program had the raw records of all users, as ``blender-dp run`` has."""

    def __post_init__(self) -> None:
        if not self.certificate.head_list.private:
            rule = (
                "this was made with a seed, so nobody is promised anything; publish no label of it"
            )
            raise NotPrivateError(rule)
        if not self.certificate.is_kept:
            raise BlenderError(self.certificate.sentence)

    @property
    def accounts(self) -> list[Account]:
        """The accounts of groups that took part; all of them if the groups are not known."""
        certificate = self.certificate
        is_relayed = not self.users or "relay_clients" in self.users or certificate.has_small_batch
        return [one for one in certificate.accounts if one.model != RELAY_MODEL or is_relayed]

    @property
    def people(self) -> int:
        """Number of all users."""
        return sum(self.users.values())

    @property
    def sizes(self) -> list[str]:
        """The size of each group, in words."""
        return [
            f"{self.users[key]:,} {words}" for key, words in GROUPS.items() if key in self.users
        ]

    def people_of(self, account: Account) -> int | None:
        """Return the size of a group; None if it is not known."""
        return next(
            (self.users.get(key) for key, words in GROUPS.items() if account.to.startswith(words)),
            None,
        )


def at_most(number: Fraction | None) -> str:
    """Return a cost as a decimal that is never too small.

    >>> at_most(Fraction(1, 3)), at_most(Fraction(4)), at_most(Fraction(1, 100_000))
    ('0.333334', '4', '0.00001')
    """
    if number is None:
        return "far above the promise"
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    rounded = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    tiny = number and number < Fraction(1, 10**_DIGITS)
    return f"{rounded.normalize():e}" if tiny else f"{rounded.normalize():f}"
