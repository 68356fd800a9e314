"""Sentences of the share page: what is open until when, and how well people are hidden."""

import math
from datetime import UTC, datetime

from blender_dp.service.campaign import Campaign, State

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_STATE_SENTENCES = {
    State.DRAFT: "It has not begun yet. The text below may still change.",
    State.OPT_IN_OPEN: "You are invited to take part.",
    State.OPT_IN_SEALED: "The list of popular searches is being made. Private reports come next.",
    State.LIST_PUBLISHED: "The list of popular searches is made. Private reports come next.",
    State.CLIENTS_OPEN: "You are invited to take part.",
    State.CLIENTS_SEALED: "It has ended. The result is being computed.",
    State.RELEASED: "It has ended, and the result is published.",
    State.PURGED: "It was given up. What people sent is deleted.",
}
RESULT_STAYS = "It has ended, and the result is published. What people sent is deleted."
"""Said of a campaign that was purged after its release."""
_BEFORE_REPORTS = (
    *(State.DRAFT, State.OPT_IN_OPEN),
    *(State.OPT_IN_SEALED, State.LIST_PUBLISHED),
)
_CLOSED = "Closed. Nothing can be sent any more."


def state_sentence(state: State) -> str:
    """Return where a campaign stands, for people who are asked to take part."""
    return _STATE_SENTENCES[state]


def opt_in_time(campaign: Campaign) -> str:
    """Return when searches can be shared as they are."""
    if campaign.state is State.DRAFT:
        return "Not open yet."
    if campaign.state is State.OPT_IN_OPEN:
        return _open_until(campaign.rules.opt_in_until)
    return _CLOSED


def report_time(campaign: Campaign) -> str:
    """Return when private reports can be sent."""
    if campaign.state in _BEFORE_REPORTS:
        begins = campaign.rules.clients_from
        return "Not open yet." if begins is None else f"Opens on {_date(begins)} or later."
    if campaign.state is State.CLIENTS_OPEN:
        return _open_until(campaign.rules.clients_until)
    return _CLOSED


def surest_after(before: float, epsilon: float) -> str:
    """Return how sure somebody can become at most, rounded up, as a percentage.

    >>> surest_after(0.5, 4.0)
    '98.3 %'
    """
    odds = math.exp(min(epsilon, 100.0)) * before / (1 - before)
    tenths = math.ceil(1000 * odds / (1 + odds))
    return "almost 100 %" if tenths >= 1000 else f"{tenths / 10:g} %"


def delta_sentence(delta: float) -> str:
    """Return how likely it is at most that the limit fails."""
    chance = math.floor((1 + 1e-12) / delta)
    return f"This limit may fail with a chance of at most 1 in {chance:,}."


def scientific(number: float) -> str:
    """Return a number as people write it.

    >>> scientific(4.0), scientific(1e-05), scientific(2.5e-07)
    ('4', '10⁻⁵', '2.5 × 10⁻⁷')
    """
    mantissa, found, exponent = f"{number:.4g}".partition("e")
    if not found:
        return mantissa
    power = "10" + str(int(exponent)).translate(_SUPERSCRIPTS)
    return power if mantissa == "1" else f"{mantissa} × {power}"


def _open_until(end: datetime | None) -> str:
    if end is None:
        return "Open now, until the collector closes it."
    return f"Open now, until {_date(end)} at the latest."


def _date(time: datetime) -> str:
    utc = time.astimezone(UTC)
    return f"{utc.day} {utc:%B %Y, %H:%M} UTC"
