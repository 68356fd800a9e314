"""Sentences of the share page: what is open until when, and for whom the limit may fail."""

from datetime import UTC, datetime

from blender_dp.core.blender import PRESETS
from blender_dp.core.certificate.plain_words import one_in
from blender_dp.service.campaign import Campaign, State

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
OVER = frozenset({State.CLIENTS_SEALED, State.RELEASED, State.PURGED})
"""States in which a campaign takes nothing from anybody any more."""
_CLOSED = "Closed."


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


def needs_code(campaign: Campaign) -> bool:
    """Tell whether people need a code to send searches as they are, now or later."""
    is_coming = campaign.state in (State.DRAFT, State.OPT_IN_OPEN)
    return is_coming and not campaign.open_enrolment


def suggestions_time(state: State, *, has_release: bool) -> str:
    """Return when a campaign that is over has suggestions; empty if it never will."""
    if has_release:
        return "They are ready now."
    return "" if state is State.PURGED else "They come when the result is published."


def limit_fails(campaign: Campaign) -> str:
    """Return for whom the limit may fail; the other pages say the same."""
    chance = one_in(campaign.parameters.delta)
    fails = f"this limit may fail with a chance of at most {chance}."
    if PRESETS[campaign.parameters.preset].reports_have_delta:
        return f"Whatever you choose, {fails}"
    relay = " or use the relay" if campaign.relay else ""
    return f"If you opt in{relay}, {fails} For private reports it never fails."


def _open_until(end: datetime | None) -> str:
    if end is None:
        return "Open now, until the organisation closes it."
    return f"Open now, until {_date(end)} at the latest."


def _date(time: datetime) -> str:
    utc = time.astimezone(UTC)
    return f"{utc.day} {utc:%B %Y, %H:%M} UTC"
