"""Texts of a registry record: what the numbers of a certificate say, in sentences."""

from fractions import Fraction
from importlib.metadata import version

from blender_dp.core.certificate.certificate import Account
from blender_dp.core.certificate.promises import RELAY_MODEL
from blender_dp.pages.disclosure.deployment import Deployment
from blender_dp.pages.disclosure.disclosed import Disclosed, at_most

TO_FILL_IN = "TO FILL IN"
"""Mark of an answer that only the organisation can give; the registry's own check refuses some."""
POST_PROCESSING = (
    "- Estimates of all groups are weighed by their variances and blended.\n"
    "- The blend is projected onto probabilities: none is below 0, and they add up to 1. The "
    "values before that are published too.\n"
    "- Standard errors, 95 % intervals and tests for differences between the groups are computed "
    "from published numbers.\n"
    "Nothing of this reads a user's data again."
)
UNIT_DETAILS = (
    "The unit is a user: all records of one user id in this collection, in whichever group the "
    "user is. Two data sets are adjacent if they differ in the data of one user. Costs are stated "
    "for both usual definitions:\n"
    "- Bounded (exchanged): the data of one user are exchanged for any other data, or for none. "
    "The number of users stays the same. The promise is stated for this definition.\n"
    "- Unbounded (added or removed): one user is added or removed.\n"
    "One person with several user ids counts as several users. A group is chosen before the data "
    "are looked at."
)


def to_fill_in(what: str) -> str:
    """Return the mark of an answer that is missing."""
    return f"{TO_FILL_IN}: {what}"


def number_of(fraction: Fraction) -> float:
    """Return a promise as a number, whole if it is whole."""
    return int(fraction) if fraction.denominator == 1 else float(fraction)


_MISSING_PLANS = to_fill_in("whether more results from the same people are planned")
_MISSING_SECURITY = to_fill_in("how raw records are protected, and who may read them")


def description(disclosed: Disclosed) -> str:
    """Return what was published, by its public numbers."""
    head_list = disclosed.certificate.head_list
    return (
        f"Estimated shares of {len(head_list.queries):,} popular queries and "
        f"{len(head_list.records()):,} popular records (a query, with a URL where records have "
        f"one) among {disclosed.people:,} users, each with a standard error and a 95 % interval."
    )


def data_domain(disclosed: Disclosed) -> str:
    """Return which data sets are protected."""
    groups = ", ".join(disclosed.sizes)
    return (
        f"All sets of {disclosed.people:,} users in groups of these sizes: {groups}. Each user has "
        "any number of records. A record is a text, the query, with a second one, the URL, where "
        "records have two levels."
    )


def unprotected_quantities(disclosed: Disclosed) -> str:
    """Return what is published without noise."""
    sizes = "\n".join(f"- {size}" for size in disclosed.sizes)
    return f"The number of users in each group, and the time of the release. Nothing else.\n{sizes}"


def parameters_details(disclosed: Disclosed) -> str:
    """Return promise and cost of every group, under both definitions of neighbours."""
    lines = [_cost(disclosed, account) for account in disclosed.accounts]
    return "\n".join(
        [
            "Every group has its own account. Costs are computed exactly and rounded up.",
            *lines,
        ]
    )


def _cost(disclosed: Disclosed, account: Account) -> str:
    people = disclosed.people_of(account)
    size = "" if people is None else f" ({people:,} people)"
    delta = at_most(account.promised_delta)
    return (
        f"- {account.to}{size}, {account.model}: promised ε = {at_most(account.promised_epsilon)}, "
        f"δ = {delta}. Cost at this δ: ε = {at_most(account.tight_epsilon)} if data are exchanged, "
        f"ε = {at_most(account.add_remove_epsilon)} if data are added or removed."
    )


def model_details(disclosed: Disclosed) -> str:
    """Return who saw raw records, in which model."""
    if disclosed.from_log:
        return (
            "One program had the raw records of all users (blender-dp run on a log), so the "
            "deployment is central. Within it, only the opt-in users' records were used as they "
            "are. The reports of all other users were randomised one by one, as on a device."
        )
    relay = (
        " A third group sends scrambled reports through a relay, which shuffles them (shuffle)."
        if _has_relay(disclosed)
        else ""
    )
    return (
        "Hybrid: opt-in users trust the curator with their records (central). All other users' "
        f"records are randomised on their own device before they are sent (local).{relay}"
    )


def actors(disclosed: Disclosed) -> str:
    """Return who may see what."""
    lines = [
        "- Opt-in users: send their records to the curator.",
        "- Clients: all other users. "
        + (
            "Their records were in the same log."
            if disclosed.from_log
            else "Only a randomised report leaves their device."
        ),
        "- Curator: the organisation that publishes the result. It sees the records of opt-in users"
        + (
            " and, in this deployment, of all users."
            if disclosed.from_log
            else " and the randomised reports of all others."
        ),
        "- Readers: everybody, with any outside information. They see the published files.",
    ]
    if _has_relay(disclosed):
        lines.insert(3, "- Relay: another organisation. It sees who takes part and encrypted "
                        "reports, which it cannot read. It shuffles them.")  # fmt: skip
    return "\n".join(lines)


def trust_assumptions(disclosed: Disclosed) -> str:
    """Return who is trusted with what."""
    lines = [
        "- Readers are not trusted: the promise holds whatever they know and compute.",
        "- The curator is trusted by the opt-in users to keep raw records secret, to run this "
        "software once, and to draw its noise at random.",
    ]
    if disclosed.from_log:
        lines.append("- All other users trust the curator in the same way: it held their records.")
    else:
        lines.append("- Clients trust nobody but their own device.")
    if _has_relay(disclosed):
        lines.append(
            "- Relay clients trust that relay and curator do not work together. If they do, the "
            "larger ε of a single report holds for them."
        )
    return "\n".join(lines)


def release_details(disclosed: Disclosed, deployment: Deployment) -> str:
    """Return what other releases would cost."""
    ledger = "" if disclosed.from_log else " Devices keep a ledger of what they spent, with limits."
    return (
        "One result, published once. Another result from the same people spends again, and the "
        f"costs add up.{ledger} {deployment.plans or _MISSING_PLANS}"
    )


def preprocessing(disclosed: Disclosed, deployment: Deployment) -> str:
    """Return what was done before noise was added."""
    parts = {part.release for account in disclosed.accounts for part in account.parts}
    paid = [one for one in ("choice of the list", "choice of the branch") if one in parts]
    chosen = (
        f" What depends on the data is a release of its own, which is paid for: {', '.join(paid)}."
        if paid
        else ""
    )
    organisation = deployment.preprocessing or to_fill_in(
        "what was done with the data before, and how ε, δ and the list's size were chosen"
    )
    return (
        "- By the software: a random part of each user's records is taken. All settings follow "
        f"from public numbers.{chosen}\n- By the organisation: {organisation}"
    )


def mechanisms(disclosed: Disclosed, deployment: Deployment) -> str:
    """Return every mechanism with its accounting, and what protects its implementation."""
    lines = [
        f"- {account.to}, {part.release}: {part.method}"
        for account in disclosed.accounts
        for part in account.parts
    ]
    mechanism = disclosed.certificate.head_list.mechanism.name
    return "\n".join(
        [
            *lines,
            f"- Reports of clients are drawn by {mechanism}.",
            f"- Software: blender-dp {version('blender-dp')}.",
            "- Floating point: noise is drawn in exact integers, from the random numbers of the "
            "operating system. Promises are checked with fractions.",
            "- Platform: lists are in byte order and reports have one size. The time that the "
            "curator's program takes is not protected.",
            f"- Protection of raw records: {deployment.security or _MISSING_SECURITY}",
        ]
    )


def composition(disclosed: Disclosed) -> str:
    """Return how costs add up."""
    sums = [
        f"- {account.to}: "
        + " + ".join(f"{at_most(part.promised_epsilon)} ({part.release})" for part in account.parts)
        for account in disclosed.accounts
    ]
    return "\n".join(
        [
            "Basic (sequential) composition within a group. Groups are disjoint, so no user pays "
            "for two of them. Shares of ε:",
            *sums,
        ]
    )


def utility(disclosed: Disclosed) -> str:
    """Return what can be said about accuracy without the raw records."""
    head_list = disclosed.certificate.head_list
    return (
        f"{len(head_list.queries):,} queries and {len(head_list.records()):,} records are listed. "
        "Every estimate is published with its standard error and a 95 % interval. Records that few "
        "users have are missing, and with them small groups of people."
    )


def _has_relay(disclosed: Disclosed) -> bool:
    return any(account.model == RELAY_MODEL for account in disclosed.accounts)
